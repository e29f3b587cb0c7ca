# The part of the suite that is Elixir's: run as
#
#   elixir --name me@127.0.0.1 --cookie COOKIE elixir.exs go@127.0.0.1 [GROUP ...]
#
# and it prints what interop.erl prints. The groups are elixir, and elixir_global of a published node.
defmodule Interop.Echo do
  use GenServer
  def init(state), do: {:ok, state}
  def handle_call(term, _from, state), do: {:reply, term, state}
  def handle_info({to, term}, state), do: {:noreply, send(to, {self(), term}) && state}
end

[target | wanted] = Enum.map(System.argv(), &String.to_atom/1)
at = fn name -> {name, target} end

exits = fn call ->
  try do
    {:returned, call.()}
  catch
    :exit, reason -> reason
  end
end

# A function of its own: the compiler of OTP 25.2 fails on a check that makes a
# reference and has two receives.
received = fn message ->
  receive do ^message -> :ok after 5000 -> raise "nothing" end
end

elixir = [
  {"Node.connect, Node.ping", fn -> true = Node.connect(target); :pong = Node.ping(target) end},
  {"GenServer.call by name",
   fn ->
     n = GenServer.call(at.(:counter), :get)
     ^n = GenServer.call(at.(:counter), {:add, 5}) - 5
   end},
  {"GenServer.cast", fn ->
     n = GenServer.call(at.(:counter), :get)
     :ok = GenServer.cast(at.(:counter), {:add, 2})
     ^n = GenServer.call(at.(:counter), :get) - 2
   end},
  {"GenServer.call with strings, structs, maps, keywords, ranges",
   fn ->
     for t <- ["String ö", ~D[2024-02-29], %{:a => 1, "b" => [c: 2]}, [a: 1, b: 2], 1..10, MapSet.new([1, 2]), ~r/x/.source,
               {:ok, nil}, String.to_charlist("chars"), URI.parse("http://x/")] do
       ^t = GenServer.call(at.(:echo), t)
     end
   end},
  {"GenServer.multi_call", fn -> {[{^target, :x}], []} = GenServer.multi_call([target], :echo, :x) end},
  {"GenServer.call of nobody", fn ->
     {:noproc, _} = exits.(fn -> GenServer.call(at.(:nosuch), :x) end)
   end},
  {"GenServer.call that is too late", fn ->
     pid = Node.spawn(target, :demo, :echo, [])
     :ok = :sys.suspend(pid)
     {:timeout, _} = exits.(fn -> GenServer.call(pid, :late, 50) end)
     :ok = :sys.resume(pid)
     :next = GenServer.call(pid, :next)
     GenServer.stop(pid)
   end},
  {"GenServer.call that crashes", fn -> {:crash, _} = exits.(fn -> GenServer.call(at.(:counter), :crash) end) end},
  {"send, receive", fn ->
     send(at.(:echo), {self(), :hello})
     receive do {_, :hello} -> :ok after 5000 -> raise "nothing" end
   end},
  {"Node.spawn_link, Process.monitor, Process.exit", fn ->
     Process.flag(:trap_exit, true)
     pid = Node.spawn_link(target, :demo, :echo, [])
     ref = Process.monitor(pid)
     Process.exit(pid, :boom)
     received.({:DOWN, ref, :process, pid, :boom})
     received.({:EXIT, pid, :boom})
   end},
  {"An alias in a call", fn ->
     a = :erlang.alias() # Process.alias is there from Elixir 1.15 on
     send(at.(:echo), {:"$gen_call", {self(), [:alias | a]}, :x})
     received.({[:alias | a], :x})
   end},
  {"Supervisor.which_children, count_children, terminate and restart", fn ->
     [_, _] = Supervisor.which_children(at.(:demo))
     %{active: 2, specs: 2} = Supervisor.count_children(at.(:demo))
     :ok = Supervisor.terminate_child(at.(:demo), :counter)
     {:ok, _} = Supervisor.restart_child(at.(:demo), :counter)
   end},
  {"Supervisor.start_child", fn ->
     {:ok, pid} = Supervisor.start_child(at.(:demo), %{id: Extra.Child, start: {:demo, :echo, []}})
     :x = GenServer.call(pid, :x)
     :ok = Supervisor.terminate_child(at.(:demo), Extra.Child)
     :ok = Supervisor.delete_child(at.(:demo), Extra.Child)
   end},
  {"DynamicSupervisor.start_child", fn ->
     spec = %{id: :ignored, start: {:demo, :echo, []}, restart: :temporary}
     {:ok, a} = DynamicSupervisor.start_child(at.(:demo), spec)
     {:ok, b} = DynamicSupervisor.start_child(at.(:demo), spec)
     :x = GenServer.call(b, :x)
     2 = Enum.count(DynamicSupervisor.which_children(at.(:demo)), fn {id, _, _, _} -> id == :undefined end)
     %{active: 4, specs: 4} = DynamicSupervisor.count_children(at.(:demo))
     {:error, _} = DynamicSupervisor.start_child(at.(:demo), %{spec | start: {:demo, :nobody, []}})
     :ok = DynamicSupervisor.terminate_child(at.(:demo), a)
     {:error, :not_found} = DynamicSupervisor.terminate_child(at.(:demo), a)
     :ok = DynamicSupervisor.terminate_child(at.(:demo), b)
     %{active: 2, specs: 2} = DynamicSupervisor.count_children(at.(:demo))
   end},
  {"Task.async_stream of calls", fn ->
     calls = Task.async_stream(1..200, fn i -> GenServer.call(at.(:echo), i) end, max_concurrency: 20)
     r = Enum.map(calls, fn {:ok, i} -> i end)
     ^r = Enum.to_list(1..200)
   end},
  {":rpc, :erpc", fn ->
     3 = :rpc.call(target, :demo, :add, [1, 2])
     3 = :erpc.call(target, :demo, :add, [1, 2])
   end}
]

until = fn fact ->
  1..2000
  |> Enum.find_value(fn _ ->
    fact.() || receive do after 5 -> nil end
  end)
  |> case do
    nil -> raise "never"
    value -> value
  end
end

connect = fn -> until.(fn -> Node.connect(target) == true end) end

# Ends the connection, and waits until both sides know.
disconnect = fn ->
  true = Node.disconnect(target)
  until.(fn -> target not in Node.list() end)
end

synced = fn ->
  connect.()
  until.(fn -> target in GenServer.call(:global_name_server, :get_known) end)
  until.(fn -> node() in GenServer.call({:global_name_server, target}, :get_known) end)
end

global = fn function, args -> :erpc.call(target, :global, function, args) end

# A process of theirs, for the time of a check.
with_theirs = fn kind, check ->
  pid = Node.spawn(target, :demo, kind, [])
  try do
    check.(pid)
  after
    ref = Process.monitor(pid)
    Process.exit(pid, :kill)
    receive do {:DOWN, ^ref, _, _, _} -> :ok end
  end
end

# One that has a global name.
named = fn check ->
  synced.()
  name = {:elixir, make_ref()}
  with_theirs.(:echo, fn pid ->
    :yes = :global.register_name(name, pid)
    check.(name, pid)
  end)
  until.(fn -> :global.whereis_name(name) == :undefined end)
end

# A Task.Supervisor of theirs: its PID, and its name there.
with_tasks = fn check ->
  with_theirs.(:tasks, fn pid ->
    true = :erpc.call(target, :erlang, :register, [:tasks, pid])
    check.(pid, {:tasks, target})
  end)
  until.(fn -> :erpc.call(target, :erlang, :whereis, [:tasks]) == :undefined end)
end

down = fn ref -> receive do {:DOWN, ^ref, _, _, reason} -> reason after 5000 -> raise "no DOWN" end end

elixir_global = [
  {"Node.list", fn ->
     synced.()
     for kind <- [:visible, :connected, :known], do: true = target in Node.list(kind)
     true = target in Node.list()
     false = target in Node.list(:hidden)
     true = node() in :erpc.call(target, :erlang, :nodes, [])
   end},
  {"Node.monitor", fn ->
     synced.()
     true = Node.monitor(target, true)
     disconnect.()
     received.({:nodedown, target})
     synced.()
   end},
  {":net_kernel.monitor_nodes, as cluster libraries have it", fn ->
     synced.()
     :ok = :net_kernel.monitor_nodes(true, node_type: :visible)
     disconnect.()
     received.({:nodedown, target, [node_type: :visible]})
     connect.()
     received.({:nodeup, target, [node_type: :visible]})
     :ok = :net_kernel.monitor_nodes(false, node_type: :visible)
     synced.()
   end},
  {":global of ours", fn ->
     synced.()
     {:ok, pid} = Agent.start(fn -> 1 end)
     :yes = :global.register_name(Interop.Ours, pid)
     ^pid = global.(:whereis_name, [Interop.Ours])
     :no = :global.register_name(Interop.Ours, self())
     :ok = Agent.stop(pid)
     until.(fn -> global.(:whereis_name, [Interop.Ours]) == :undefined end)
   end},
  {":global of theirs", fn -> named.(fn name, pid ->
     ^pid = :global.whereis_name(name)
     ^pid = global.(:whereis_name, [name])
     ^pid = :global.send(name, {self(), :hello})
     received.({pid, :hello})
     :ok = global.(:unregister_name, [name])
     :undefined = :global.whereis_name(name)
   end) end},
  {":global.trans", fn ->
     synced.()
     id = {Interop.Lock, self()}
     :done = :global.trans(id, fn ->
       false = GenServer.call({:global_name_server, target}, {:set_lock, {Interop.Lock, :other}})
       :done
     end)
     :aborted = :global.trans(id, fn -> :global.trans({Interop.Lock, :other}, fn -> :done end, [target], 0) end)
   end},
  {"GenServer.call({:global, name})", fn -> named.(fn name, _ ->
     %{a: 1..2} = GenServer.call({:global, name}, %{a: 1..2})
     :ok = GenServer.cast({:global, name}, :x)
   end) end},
  {"GenServer.call({:via, :global, name})", fn -> named.(fn name, _ -> :x = GenServer.call({:via, :global, name}, :x) end) end},
  {"GenServer.call({:global, name}) of nobody", fn ->
     synced.()
     {:noproc, _} = exits.(fn -> GenServer.call({:global, {:none, make_ref()}}, :x) end)
   end},
  {"GenServer.whereis({:global, name})", fn -> named.(fn name, pid -> ^pid = GenServer.whereis({:global, name}) end) end},
  {"GenServer.start_link(name: {:global, name}), a name that is theirs", fn -> named.(fn name, pid ->
     {:error, {:already_started, ^pid}} = GenServer.start_link(Interop.Echo, nil, name: {:global, name})
     {:error, {:already_started, ^pid}} = GenServer.start_link(Interop.Echo, nil, name: {:via, :global, name})
   end) end},
  {"GenServer.start_link(name: {:global, name}), seen and called there", fn ->
     synced.()
     {:ok, pid} = GenServer.start_link(Interop.Echo, nil, name: {:global, Interop.Server})
     ^pid = global.(:whereis_name, [Interop.Server])
     ^pid = global.(:send, [Interop.Server, {self(), :hello}])
     received.({pid, :hello})
     :ok = GenServer.stop({:global, Interop.Server})
     until.(fn -> global.(:whereis_name, [Interop.Server]) == :undefined end)
   end},
  {"GenServer.stop({:global, name}) of theirs", fn -> named.(fn name, pid ->
     ref = Process.monitor(pid)
     :ok = GenServer.stop({:global, name})
     :normal = down.(ref)
   end) end},
  {"Agent and Supervisor with a global name", fn -> named.(fn name, pid ->
     {:error, {:already_started, ^pid}} = Agent.start_link(fn -> 1 end, name: {:global, name})
     {:error, {:already_started, ^pid}} = Supervisor.start_link([], strategy: :one_for_one, name: {:global, name})
     {:ok, agent} = Agent.start_link(fn -> 1 end, name: {:global, Interop.Agent})
     ^agent = global.(:whereis_name, [Interop.Agent])
     2 = Agent.get({:global, Interop.Agent}, &(&1 + 1))
     :ok = Agent.stop(agent)
     until.(fn -> global.(:whereis_name, [Interop.Agent]) == :undefined end)
   end) end},
  {"Task.Supervisor.async({name, node}, m, f, a)", fn -> with_tasks.(fn pid, name ->
     3 = Task.await(Task.Supervisor.async(name, :demo, :add, [1, 2]))
     6 = Task.await(Task.Supervisor.async(pid, :demo, :double, [3]))
   end) end},
  {"Task.Supervisor.async, 100 at once", fn -> with_tasks.(fn _, name ->
     tasks = for i <- 1..100, do: Task.Supervisor.async(name, :demo, :add, [i, i])
     sums = for i <- 1..100, do: 2 * i
     ^sums = Task.await_many(tasks)
     until.(fn -> Task.Supervisor.children(name) == [] end)
   end) end},
  {"Task.Supervisor.async of what crashes: the caller is linked", fn -> with_tasks.(fn _, name ->
     Process.flag(:trap_exit, true)
     task = Task.Supervisor.async(name, :demo, :add, [1, :x])
     {:exit, {:badarith, stack}} = Task.yield(task)
     true = is_list(stack)
     pid = task.pid
     receive do {:EXIT, ^pid, {:badarith, _}} -> :ok after 5000 -> raise "no EXIT" end
     :x = GenServer.call(at.(:echo), :x)
   end) end},
  {"Task.Supervisor.async_nolink of what crashes, and of nothing", fn -> with_tasks.(fn _, name ->
     {:exit, {:badarith, _}} = Task.yield(Task.Supervisor.async_nolink(name, :demo, :add, [1, :x]))
     {:exit, {:undef, _}} = Task.yield(Task.Supervisor.async_nolink(name, :demo, :nosuch, []))
   end) end},
  {"Task.Supervisor.async of a function of ours: it fails there", fn -> with_tasks.(fn _, name ->
     {:exit, {_, _}} = Task.yield(Task.Supervisor.async_nolink(name, fn -> :done end))
   end) end},
  {"Task.Supervisor.async_stream", fn -> with_tasks.(fn _, name ->
     doubled = for i <- 1..20, do: {:ok, 2 * i}
     ^doubled = Enum.to_list(Task.Supervisor.async_stream(name, 1..20, :demo, :double, [], max_concurrency: 4))
     [{:ok, 2}, {:exit, {:badarith, _}}] =
       Enum.to_list(Task.Supervisor.async_stream_nolink(name, [1, :x], :demo, :double, []))
   end) end},
  {"Task.Supervisor.start_child", fn -> with_tasks.(fn _, name ->
     {:ok, pid} = Task.Supervisor.start_child(name, :demo, :add, [1, 2])
     ^target = node(pid)
     true = down.(Process.monitor(pid)) in [:normal, :noproc]
   end) end},
  {"Task.Supervisor.children, terminate_child, DynamicSupervisor.count_children", fn -> with_tasks.(fn _, name ->
     {:ok, pid} = GenServer.call(name, {:start_task, [{node(), self(), self()}, :nomonitor], :temporary, nil})
     ref = Process.monitor(pid)
     [^pid] = Task.Supervisor.children(name)
     %{active: 1, specs: 1, supervisors: 0, workers: 1} = DynamicSupervisor.count_children(name)
     :ok = Task.Supervisor.terminate_child(name, pid)
     :shutdown = down.(ref)
     {:error, :not_found} = Task.Supervisor.terminate_child(name, pid)
     until.(fn -> Task.Supervisor.children(name) == [] end)
   end) end},
  {"Task.Supervisor: a task ends with its owner", fn -> with_tasks.(fn _, name ->
     me = self()
     spawn(fn -> send(me, GenServer.call(name, {:start_task, [{node(), self(), self()}, :monitor], :temporary, nil})) end)
     pid = receive do {:ok, pid} -> pid after 5000 -> raise "no task" end
     true = down.(Process.monitor(pid)) in [{:shutdown, :normal}, {:shutdown, :noproc}, :noproc]
   end) end},
  {"Task.Supervisor.async of nobody", fn ->
     {:noproc, _} = exits.(fn -> Task.Supervisor.async(at.(:nosuch), :demo, :add, [1, 2]) end)
   end},
  {"Task.Supervisor.async, and the connection is lost", fn -> with_tasks.(fn pid, name ->
     :ok = :sys.suspend(pid)
     task = Task.async(fn -> exits.(fn -> Task.Supervisor.async(name, :demo, :add, [1, 2]) end) end)
     until.(fn -> Process.info(task.pid, :monitors) != {:monitors, []} end)
     disconnect.()
     {{:nodedown, ^target}, _} = Task.await(task)
     synced.()
     :ok = :sys.resume(pid)
   end) end},
  {"libcluster, Epmd: connect_node and nodes(:connected)", fn ->
     true = :net_kernel.connect_node(target)
     true = target in :erlang.nodes(:connected)
     disconnect.()
     false = target in :erlang.nodes(:connected)
     until.(fn -> :net_kernel.connect_node(target) end)
     true = target in :erlang.nodes(:connected)
     false = :net_kernel.connect_node(:"nobody@127.0.0.1")
     synced.()
   end},
  {"Phoenix.PubSub: a broadcast reaches members of theirs", fn ->
     synced.()
     :pg.start(:pg)
     with_theirs.(:echo, fn pid ->
       :ok = :erpc.call(target, :pg, :join, [Interop.PubSub, pid])
       until.(fn -> :pg.get_members(Interop.PubSub) == [pid] end)
       :ok = :sys.suspend(pid)
       message = {:forward_to_local, "topic", %{payload: "ö", n: 1..2}, Phoenix.PubSub}
       for member <- :pg.get_members(Interop.PubSub), node(member) != node(), do: send(member, message)
       until.(fn -> :erpc.call(target, :erlang, :process_info, [pid, :messages]) == {:messages, [message]} end)
       :ok = :sys.resume(pid)
       :x = GenServer.call(pid, :x)
     end)
     until.(fn -> :pg.get_members(Interop.PubSub) == [] end)
   end},
  {"Phoenix.PubSub: a broadcast of theirs reaches members of ours", fn ->
     synced.()
     :pg.start(:pg)
     :ok = :pg.join(Interop.PubSub, self())
     [me] = until.(fn -> with [_] = l <- :erpc.call(target, :pg, :get_members, [Interop.PubSub]), do: l, else: (_ -> nil) end)
     message = {:forward_to_local, "topic", [a: 1], Phoenix.PubSub}
     :erpc.call(target, :erlang, :send, [me, message])
     received.(message)
     :ok = :pg.leave(Interop.PubSub, self())
     until.(fn -> :erpc.call(target, :pg, :get_members, [Interop.PubSub]) == [] end)
   end},
  {"Phoenix.PubSub: a scope and a name that they have not", fn ->
     synced.()
     {:ok, scope} = :pg.start_link(Phoenix.PubSub)
     :ok = :pg.join(Phoenix.PubSub, Interop.PubSub, self())
     disconnect.()
     synced.()
     true = [self()] == :pg.get_members(Phoenix.PubSub, Interop.PubSub)
     send({Interop.PubSub, target}, {:forward_to_local, "topic", :x, Phoenix.PubSub})
     :x = GenServer.call(at.(:echo), :x)
     GenServer.stop(scope)
   end},
  {"Horde, DeltaCrdt: a member that they have not", fn ->
     synced.()
     member = {Interop.Registry.Crdt, target}
     :noproc = down.(Process.monitor(member))
     send(member, {:diff, %{a: MapSet.new([1])}, [:a]})
     :ok = GenServer.cast(member, {:operation, {:add, [1, 2]}})
     {:noproc, _} = exits.(fn -> GenServer.call(member, {:set_members, [member]}) end)
     :x = GenServer.call(at.(:echo), :x)
   end},
  {"Horde, DeltaCrdt: diffs to a member of theirs", fn ->
     synced.()
     dots = MapSet.new(for i <- 1..200, do: {i, 1 - i})
     diff = {:diff, %{dots: dots, value: %{{:key, 1} => %{{self(), make_ref()} => dots}}}, [:a, {:b, 1}], :merkle, ~D[2024-02-29]}
     ^diff = GenServer.call(at.(:echo), diff)
     send(at.(:echo), {self(), diff})
     receive do {_, ^diff} -> :ok after 5000 -> raise "nothing" end
   end},
  {"Horde, DeltaCrdt: a monitored member, and the connection is lost", fn ->
     synced.()
     ref = Process.monitor(at.(:echo))
     disconnect.()
     :noconnection = down.(ref)
     synced.()
     ref = Process.monitor(at.(:echo))
     :x = GenServer.call(at.(:echo), :x)
     true = Process.demonitor(ref, [:flush, :info])
   end}
]

groups = [elixir: elixir, elixir_global: elixir_global]
checks = for {group, checks} <- groups, wanted == [] or group in wanted, {name, check} <- checks, do: {group, name, check}

failed =
  Enum.count(checks, fn {group, name, check} ->
    task = Task.async(fn ->
      try do
        check.()
        nil
      catch
        kind, reason -> Exception.format_banner(kind, reason, __STACKTRACE__)
      end
    end)
    why = case Task.yield(task, 30_000) || Task.shutdown(task, :brutal_kill) do
      {:ok, why} -> why
      other -> "still waits: #{inspect(other)}"
    end
    column = String.pad_trailing("#{group}", 10)
    case why do
      nil -> IO.puts("ok      #{column}  #{name}")
      why -> IO.puts("FAILED  #{column}  #{name} | #{why |> String.replace("\n", " ") |> String.slice(0, 400)}")
    end
    why != nil
  end)

IO.puts("done: #{failed} failed")
System.halt(if failed == 0, do: 0, else: 1)
