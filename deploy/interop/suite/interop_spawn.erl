-module(interop_spawn).
-export([checks/0]).
-import(interop, [is/2, target/0, silent/0, down/2]).

checks() ->
    [{"spawn", fun() -> P = spawn(target(), demo, echo, []), is(target(), node(P)), is(x, gen_server:call(P, x)), exit(P, kill), silent() end},
     {"spawn_link", fun() ->
         process_flag(trap_exit, true),
         P = spawn_link(target(), demo, echo, []), is(x, gen_server:call(P, x)), exit(P, boom), is({'EXIT', P, boom}, interop:got()), silent()
     end},
     {"spawn_link, and we end", fun() ->
         T = target(), Me = self(),
         {W, M} = spawn_monitor(fun() -> P = spawn_link(T, demo, echo, []), Me ! {it, P}, receive die -> exit(boom) end end),
         P = receive {it, Pid} -> Pid end, N = monitor(process, P),
         W ! die, is(boom, down(M, W)), is(boom, down(N, P))
     end},
     {"spawn_monitor", fun() -> {P, M} = spawn_monitor(target(), demo, echo, []), is(x, gen_server:call(P, x)), exit(P, boom), is(boom, down(M, P)), silent() end},
     {"spawn_opt, each option", fun() ->
         process_flag(trap_exit, true),
         [case spawn_opt(target(), demo, exit, [boom], O) of
              {P, M} -> is(boom, down(M, P)), [is({'EXIT', P, boom}, receive {'EXIT', _, _} = X -> X end) || lists:member(link, O)];
              P -> [is({'EXIT', P, boom}, interop:got()) || lists:member(link, O)]
          end || O <- [[], [link], [monitor], [link, monitor], [{monitor, [{tag, 'DOWN'}]}], [{monitor, [{alias, demonitor}]}], [{priority, low}, monitor],
                       [{fullsweep_after, 10}, {min_heap_size, 1000}, {min_bin_vheap_size, 1000}, {max_heap_size, 1000000}, {message_queue_data, off_heap}, monitor]]],
         silent()
     end},
     {"a monitor with a tag", fun() ->
         {P, M} = spawn_opt(target(), demo, exit, [boom], [{monitor, [{tag, mine}]}]), is({mine, M, process, P, boom}, interop:got())
     end},
     {"spawn_request", fun() ->
         R = request([]), P = receive {spawn_reply, R, ok, Pid} -> Pid end, is(x, gen_server:call(P, x)), exit(P, kill), silent()
     end},
     {"spawn_request with link and monitor: the reply comes first", fun() ->
         process_flag(trap_exit, true),
         [begin
             R = spawn_request(target(), demo, exit, [{n, I}], [link, monitor]),
             {spawn_reply, R, ok, P} = interop:got(),
             is(lists:sort([{'EXIT', P, {n, I}}, {'DOWN', R, process, P, {n, I}}]), lists:sort([interop:got(), interop:got()]))
         end || I <- lists:seq(1, 200)],
         silent()
     end},
     {"spawn_request: reply_tag", fun() -> R = request([{reply_tag, {my, tag}}]), {{my, tag}, R, ok, _} = interop:got() end},
     {"spawn_request: reply", fun() ->
         [begin R = request([{reply, W}]), receive {spawn_reply, R, ok, _} -> ok end end || W <- [yes, success_only]],
         [request([{reply, W}]) || W <- [no, error_only]], silent()
     end},
     {"spawn_request: an option that is none", fun() ->
         [begin R = request([foo, {reply, W}]), is({spawn_reply, R, error, badopt}, interop:got()) end || W <- [yes, error_only]],
         [request([foo, {reply, W}]) || W <- [no, success_only]], silent()
     end},
     {"spawn_request_abandon", fun() ->
         Rs = [request([link, monitor]) || _ <- lists:seq(1, 100)],
         [case spawn_request_abandon(R) of true -> ok; false -> receive {spawn_reply, R, ok, P} -> unlink(P), demonitor(R, [flush]) end end || R <- Rs],
         interop:until(fun() -> {message_queue_len, 0} =:= process_info(self(), message_queue_len) end),
         silent()
     end},
     {"to no node", fun() ->
         N = 'nobody@127.0.0.1',
         R = spawn_request(N, demo, echo, [], []), is({spawn_reply, R, error, noconnection}, interop:got()),
         {P, Mon} = spawn_monitor(N, demo, echo, []), is(noconnection, down(Mon, P))
     end},
     {"unknown function: it starts, and exits with undef", fun() ->
         [begin {P, M} = spawn_monitor(target(), Mod, F, A), {undef, [{Mod, F, A, _} | _]} = down(M, P) end
          || {Mod, F, A} <- [{nosuch, f, []}, {nosuch, f, [1, x]}, {demo, nosuch, [a]}, {demo, exit, [1, 2]}]],
         silent()
     end},
     {"unknown function, spawned with link", fun() ->
         process_flag(trap_exit, true), P = spawn_link(target(), nosuch, f, [1]), {'EXIT', P, {undef, _}} = interop:got()
     end},
     {"an argument list of small integers", fun() -> {P, M} = spawn_monitor(target(), demo, exit, [7]), is(7, down(M, P)) end},
     {"an exported fun", fun() -> P = spawn(target(), fun demo:echo/0), is(x, gen_server:call(P, x)), exit(P, kill) end},
     {"erlang:apply of a function", fun() ->
         {P, M} = spawn_monitor(target(), erlang, apply, [demo, exit, [boom]]), is(boom, down(M, P))
     end},
     {"a fun that only we have: it starts, and fails", fun() ->
         X = self(), {P, M} = spawn_monitor(target(), fun() -> X ! ran end),
         case down(M, P) of {R, S} when is_list(S), R =:= undef; R =:= badfun -> ok; {{badfun, _}, _} -> ok end, silent()
     end},
     {"a function that returns at once", fun() -> {P, M} = spawn_monitor(target(), demo, add, [1, 2]), is(normal, down(M, P)) end},
     {"a function that fails", fun() -> {P, M} = spawn_monitor(target(), demo, add, [1, x]), {badarith, [_ | _]} = down(M, P) end},
     {"500 at once", fun() ->
         Ps = interop:parallel(50, fun(_) -> [spawn(target(), demo, echo, []) || _ <- lists:seq(1, 10)] end),
         [is(P, gen_server:call(P, P)) || P <- lists:append(Ps)], [exit(P, kill) || P <- lists:append(Ps)]
     end},
     {"a large argument", fun() -> A = binary:copy(<<1>>, 3 bsl 20), {P, M} = spawn_monitor(target(), demo, exit, [A]), is(A, down(M, P)) end},
     {"the group leader is ours", fun() ->
         P = spawn(target(), demo, echo, []), is(x, gen_server:call(P, x)),
         is({group_leader, group_leader()}, erpc:call(target(), erlang, process_info, [P, group_leader])), exit(P, kill)
     end}].

request(Options) -> spawn_request(target(), demo, echo, [], Options).
