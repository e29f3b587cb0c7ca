%% Between two nodes, each an OS process of its own: remote_latency,
%% remote_throughput, remote_bulk, remote_spawn, remote_call and remote_cpu.
%%
%% This node is started by the run script with a name, a cookie and a port mapper
%% (epmd) of the run's own; the other one inherits all of them from the
%% environment. The two are joined by the distribution protocol alone; what
%% controls the other node, and ends it with this one, are its stdin and stdout.
%%
%% Both run on one scheduler, which on two cores is faster in all three.
-module(bench_remote).

-export([benches/0]).
-export([receiver/4, newcomer/2, host/1, cpu/0]).

benches() ->
    Proto = {proto, erlang, [erlang]},
    [{"remote_latency", one, [{roundtrips, 20000, 1}, Proto], fun latency/1},
     {"remote_throughput", one, [{messages, 1000000, 1}, {size, 64, 8}, {senders, 1, 1}, Proto], fun throughput/1},
     {"remote_bulk", one, [{mib, 256, 1}, {messages, 1, 1}, Proto], fun bulk/1},
     {"remote_spawn", one, [{spawns, 20000, 1}, {callers, 1, 1}, Proto], fun spawns/1},
     {"remote_call", one, [{calls, 20000, 1}, {callers, 1, 1}, Proto], fun calls/1},
     {"remote_cpu", one, [{roundtrips, 3000, 1}, {rate, 1000, 1}, {spin, default, [default, on, off]}, Proto], fun cpu/1}].

%%% The other node.

%% Runs Fun with the name of the other node. Its modules are loaded and it is
%% connected, so that nothing of that is timed.
with_far(Fun) ->
    {ok, Peer, Far} = peer:start_link(#{name => "far", host => "127.0.0.1", longnames => true,
                                        connection => standard_io,
                                        args => ["-boot", "no_dot_erlang" | paths()]}),
    Online = erlang:system_info(schedulers_online),
    peer:call(Peer, erlang, system_flag, [schedulers_online, Online]),
    ok = peer:call(Peer, code, ensure_modules_loaded, [[?MODULE, bench, bench_traffic, bench_call, gen_server, gen, proc_lib, binary, re, file]]),
    bench:check(net_kernel:connect_node(Far), "the nodes cannot connect"),
    Result = Fun(Far),
    peer:stop(Peer),
    Result.

paths() ->
    ["-pa", filename:dirname(code:which(?MODULE))].

%%% remote_latency: one ball, each way a message of its own.

latency(#{roundtrips := Roundtrips}) ->
    with_far(fun(Far) ->
        Main = self(),
        Pong = spawn_link(Far, bench_traffic, pong, []),
        Ping = spawn_link(fun() ->
            receive serve -> Main ! {returned, bench_traffic:ping(Pong, Roundtrips, 0)} end
        end),
        Start = bench:clock(),
        Ping ! serve,
        receive
            {returned, Count} ->
                Seconds = bench:seconds_since(Start),
                bench:check(Count =:= Roundtrips, "a ball was lost"),
                unlink(Pong),
                #{seconds => Seconds, ops => Roundtrips}
        end
    end).

%%% remote_throughput: binaries one way, and one answer at the end.

%% As in the mailbox bench the receiver goes first whenever it has mail, messages
%% stay off its heap until it takes them, and its heap is large for its little
%% live data.
throughput(#{messages := Messages, size := Size, senders := Senders}) ->
    with_far(fun(Far) ->
        Main = self(),
        Options = [link, {priority, high}, {message_queue_data, off_heap}, {min_heap_size, 100000}],
        Receiver = spawn_opt(Far, ?MODULE, receiver, [Main, Messages, 0, 0], Options),
        Pad = <<0:((Size - 8) * 8)>>,
        Pids = [spawn_link(fun() ->
            receive release -> send_numbers(Receiver, Pad, First, Senders, Messages) end
        end) || First <- lists:seq(1, Senders)],
        Before = sent(Far),
        Start = bench:clock(),
        [Pid ! release || Pid <- Pids],
        receive
            {sum, Sum, Bytes, PeakMiB} ->
                Seconds = bench:seconds_since(Start),
                bench:check(Sum =:= Messages * (Messages + 1) div 2 andalso Bytes =:= Messages * Size,
                            "the binaries do not add up"),
                #{seconds => Seconds, ops => Messages,
                  extra => [{wire_bytes_per_msg, (sent(Far) - Before) / Messages},
                            {far_peak_rss_mib, PeakMiB}]}
        end
    end).

%% A sender sends every Step-th number up to the last.
send_numbers(_Receiver, _Pad, Number, _Step, Last) when Number > Last ->
    ok;
send_numbers(Receiver, Pad, Number, Step, Last) ->
    Receiver ! <<Number:64, Pad/binary>>,
    send_numbers(Receiver, Pad, Number + Step, Step, Last).

receiver(Main, 0, Sum, Bytes) ->
    Main ! {sum, Sum, Bytes, bench:peak_rss_mib()};
receiver(Main, Left, Sum, Bytes) ->
    receive
        <<Number:64, _/binary>> = Message ->
            receiver(Main, Left - 1, Sum + Number, Bytes + byte_size(Message))
    end.

%%% remote_bulk: balls to and fro while large binaries pass.

bulk(#{mib := MiB, messages := Messages}) ->
    with_far(fun(Far) ->
        Size = MiB bsl 20,
        Binary = binary:copy(<<0:(1024 * 8)>>, MiB * 1024),
        Host = spawn_link(Far, ?MODULE, host, [self()]),
        rally(Host, 1000, 0, []),
        Sender = spawn_link(fun() -> receive release -> [Host ! Binary || _ <- lists:seq(1, Messages)] end end),
        Start = bench:clock(),
        Sender ! release,
        {Times, Sizes} = rally(Host, 1 bsl 50, Messages, []),
        Seconds = bench:seconds_since(Start),
        bench:check(Sizes =:= lists:duplicate(Messages, Size), "a binary has come with another length"),
        unlink(Host),
        Sorted = list_to_tuple(lists:sort(Times)),
        N = tuple_size(Sorted),
        At = fun(Q) -> element(max(1, round(Q * N)), Sorted) / 1.0e9 end,
        #{seconds => Seconds, ops => Messages,
          extra => [{pings, N}, {ping_p50_s, At(0.5)}, {ping_p99_s, At(0.99)}, {ping_max_s, At(1)}]}
    end).

host(Main) ->
    receive
        Binary when is_binary(Binary) -> Main ! {size, byte_size(Binary)};
        {ball, From, Number} -> From ! {ball, self(), Number}
    end,
    host(Main).

%% Plays Balls balls, or until so many sizes have come.
rally(Host, Balls, Sizes, Times) -> rally(Host, Balls, Sizes, Times, []).

rally(_Host, 0, _, Times, Seen) ->
    {Times, Seen};
rally(Host, Balls, Sizes, Times, Seen) ->
    Served = erlang:monotonic_time(nanosecond),
    Host ! {ball, self(), Balls},
    Now = returned(Host, Balls, []),
    Time = erlang:monotonic_time(nanosecond) - Served,
    case Now ++ Seen of
        All when Sizes > 0, length(All) >= Sizes -> {[Time | Times], All};
        All -> rally(Host, Balls - 1, Sizes, [Time | Times], All)
    end.

returned(Host, Number, Seen) ->
    receive
        {ball, Host, Number} -> Seen;
        {size, Size} -> returned(Host, Number, [Size | Seen])
    end.

%% What has gone to a node, in bytes.
sent(Node) ->
    {Node, Port} = lists:keyfind(Node, 1, erlang:system_info(dist_ctrl)),
    {ok, [{send_oct, Bytes}]} = inet:getstat(Port, [send_oct]),
    Bytes.

%%% remote_spawn: by each caller one after the other, each answered.

spawns(#{spawns := Spawns, callers := Callers}) ->
    with_far(fun(Far) ->
        Main = self(),
        Receiver = spawn_opt(Far, ?MODULE, receiver, [Main, Spawns, 0, 0], [link, {priority, high}]),
        Rest = [spawn_link(fun() ->
            receive release -> Main ! {pids, spawn_all(Far, Receiver, First, Callers, Spawns)} end
        end) || First <- lists:seq(2, Callers)],
        Start = bench:clock(),
        [Pid ! release || Pid <- Rest],
        Mine = spawn_all(Far, Receiver, 1, Callers, Spawns),
        Pids = lists:append([Mine | [receive {pids, Theirs} -> Theirs end || _ <- Rest]]),
        receive
            {sum, Sum, _, _} ->
                Seconds = bench:seconds_since(Start),
                bench:check(Sum =:= Spawns * (Spawns + 1) div 2, "the numbers of the processes do not add up"),
                bench:check(length(lists:usort(Pids)) =:= Spawns, "two processes are the same"),
                #{seconds => Seconds, ops => Spawns}
        end
    end).

spawn_all(_Far, _Receiver, Number, _Step, Spawns) when Number > Spawns ->
    [];
spawn_all(Far, Receiver, Number, Step, Spawns) ->
    Pid = spawn(Far, ?MODULE, newcomer, [Receiver, Number]),
    [Pid | spawn_all(Far, Receiver, Number + Step, Step, Spawns)].

newcomer(Receiver, Number) ->
    Receiver ! <<Number:64>>.

%%% remote_call: gen_server:call with a tuple of six fields, answered with a tuple.

calls(#{calls := Calls, callers := Callers}) ->
    with_far(fun(Far) ->
        Main = self(),
        {ok, Server} = erpc:call(Far, gen_server, start, [bench_call, 0, []]),
        Pids = [spawn_link(fun() ->
            receive release -> Main ! {total, call_all(Server, First, Callers, Calls, 0)} end
        end) || First <- lists:seq(1, Callers)],
        Start = bench:clock(),
        [Pid ! release || Pid <- Pids],
        Total = lists:sum([receive {total, Each} -> Each end || _ <- Pids]),
        Seconds = bench:seconds_since(Start),
        bench:check(Total =:= Calls * (Calls + 1) div 2 + Calls, "the receipts do not add up"),
        #{seconds => Seconds, ops => Calls}
    end).

%% A caller's orders have every Step-th number up to the last.
call_all(_Server, Number, _Step, Last, Total) when Number > Last ->
    Total;
call_all(Server, Number, Step, Last, Total) ->
    Key = <<Number:64, 0:64>>,
    Order = {order, <<"three-inch nails">>, Number, 0.25, Number rem 2 =:= 0, Key, {address, <<"Long Acre">>, 14}},
    Price = 0.25 * Number,
    {receipt, <<"three-inch nails">>, Count, Price, Key} = gen_server:call(Server, Order, infinity),
    call_all(Server, Number + Step, Step, Last, Total + Count).

%%% remote_cpu: as remote_latency, so many a second; the figure is the processor time of
%%% both ends. A process sleeps for whole milliseconds, so that more than a thousand a
%%% second come in groups, each ball of which waits for the one before.

cpu(#{roundtrips := Roundtrips, rate := Rate}) ->
    with_far(fun(Far) ->
        Main = self(),
        Pong = spawn_link(Far, bench_traffic, pong, []),
        FarBefore = erpc:call(Far, ?MODULE, cpu, []),
        Before = cpu(),
        Began = bench:clock(),
        Ping = spawn_link(fun() ->
            Main ! {returned, paced(Pong, Began, 1000000000 / Rate, 1, Roundtrips, 0)}
        end),
        receive
            {returned, Trips} ->
                Elapsed = bench:seconds_since(Began),
                Near = cpu() - Before,
                FarSpent = erpc:call(Far, ?MODULE, cpu, []) - FarBefore,
                unlink(Ping),
                unlink(Pong),
                #{seconds => (Near + FarSpent) / 1.0e9, ops => Roundtrips,
                  extra => [{rate, Roundtrips / Elapsed}, {far_ns_per_op, FarSpent / Roundtrips},
                            {roundtrip_s, Trips / 1.0e9 / Roundtrips}]}
        end
    end).

paced(_Pong, _Began, _Every, Number, Roundtrips, Trips) when Number > Roundtrips ->
    Trips;
paced(Pong, Began, Every, Number, Roundtrips, Trips) ->
    case Began + round(Number * Every) - bench:clock() of
        Wait when Wait > 0 -> receive after (Wait + 999999) div 1000000 -> ok end;
        _ -> ok
    end,
    Served = bench:clock(),
    Pong ! {ball, self(), Number},
    receive {ball, Pong, Number} -> ok end,
    paced(Pong, Began, Every, Number + 1, Roundtrips, Trips + bench:clock() - Served).

%% The processor time of this node in nanoseconds, of all threads that there are; not of
%% those that have ended, of which an emulator has none.
cpu() ->
    {ok, Threads} = file:list_dir("/proc/self/task"),
    lists:sum([thread_cpu(Thread) || Thread <- Threads]).

thread_cpu(Thread) ->
    {ok, Stat} = file:read_file(["/proc/self/task/", Thread, "/schedstat"]),
    [Spent | _] = string:lexemes(Stat, " "),
    binary_to_integer(Spent).
