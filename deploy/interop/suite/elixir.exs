# The part of the suite that is Elixir's: run as
#
#   elixir --name me@127.0.0.1 --cookie COOKIE elixir.exs go@127.0.0.1
#
# and it prints what interop.erl prints.
target = System.argv() |> hd() |> String.to_atom()
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

checks = [
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
     for t <- ["String ö", ~D[2024-02-29], %{:a => 1, "b" => [c: 2]}, [a: 1, b: 2], 1..10, MapSet.new([1, 2]), ~r/x/.source, {:ok, nil}, String.to_charlist("chars"), URI.parse("http://x/")] do
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
  {"Task.async_stream of calls", fn ->
     r = 1..200 |> Task.async_stream(fn i -> GenServer.call(at.(:echo), i) end, max_concurrency: 20) |> Enum.map(fn {:ok, i} -> i end)
     ^r = Enum.to_list(1..200)
   end},
  {":rpc, :erpc", fn ->
     3 = :rpc.call(target, :demo, :add, [1, 2])
     3 = :erpc.call(target, :demo, :add, [1, 2])
   end}
]

failed =
  Enum.count(checks, fn {name, check} ->
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
    case why do
      nil -> IO.puts("ok      elixir      #{name}")
      why -> IO.puts("FAILED  elixir      #{name} | #{why |> String.replace("\n", " ") |> String.slice(0, 400)}")
    end
    why != nil
  end)

IO.puts("done: #{failed} failed")
System.halt(if failed == 0, do: 0, else: 1)
