%% Functions of the module erlang, by rpc.
-module(interop_erlang).
-export([checks/0]).
-import(interop, [is/2, target/0, up/1, fresh/0, gone/1]).

checks() ->
    [{"node", fun() -> is(target(), ask(node, [])) end},
     {"nodes", fun() -> true = is_list(ask(nodes, [])), true = lists:member(node(), ask(nodes, [])) orelse lists:member(node(), ask(nodes, [connected])) end},
     {"nodes/1", fun() -> true = lists:member(node(), ask(nodes, [connected])), [true = is_list(ask(nodes, [T])) || T <- [hidden, visible, known, this]], is([target()], ask(nodes, [this])) end},
     {"processes", fun() -> L = ask(processes, []), true = lists:all(fun is_pid/1, L), [true = lists:member(up(N), L) || N <- [demo, counter, echo]] end},
     {"registered", fun() -> L = ask(registered, []), true = lists:all(fun is_atom/1, L), [] = [demo, counter, echo, net_kernel, rex] -- L end},
     {"whereis", fun() -> is(undefined, ask(whereis, [nosuch])), true = is_pid(ask(whereis, [counter])) end},
     {"whereis of no atom", fun() -> {error, {exception, badarg, _}} = caught(whereis, [7]) end},
     {"is_process_alive", fun() -> is(true, ask(is_process_alive, [up(echo)])), is(false, ask(is_process_alive, [gone(fresh())])) end},
     {"is_process_alive of a process elsewhere", fun() -> {error, {exception, badarg, _}} = caught(is_process_alive, [self()]) end},
     {"process_info/1", fun() ->
         L = ask(process_info, [up(echo)]),
         Keys = [registered_name, current_function, initial_call, status, message_queue_len, links, dictionary, trap_exit, error_handler, priority,
                 group_leader, total_heap_size, heap_size, stack_size, reductions, garbage_collection, suspending],
         is([], Keys -- [K || {K, _} <- L]),
         is({registered_name, echo}, lists:keyfind(registered_name, 1, L)), is(false, lists:keyfind(registered_name, 1, ask(process_info, [fresh()]))),
         is(undefined, ask(process_info, [gone(fresh())]))
     end},
     {"process_info/2, each item", fun() ->
         P = up(echo),
         is([], [I || I <- items(), case caught(process_info, [P, I]) of {ok, {I, _}} -> false; _ -> true end]),
         is(items(), [K || {K, _} <- ask(process_info, [P, items()])])
     end},
     {"process_info/2, what it says", fun() ->
         P = up(echo),
         is({registered_name, echo}, ask(process_info, [P, registered_name])), is([], ask(process_info, [fresh(), registered_name])),
         is([{registered_name, []}], ask(process_info, [fresh(), [registered_name]])), is([], ask(process_info, [P, []])),
         {links, L} = ask(process_info, [P, links]), true = lists:member(up(demo), L),
         is({trap_exit, true}, ask(process_info, [up(demo), trap_exit])), is({trap_exit, false}, ask(process_info, [P, trap_exit])),
         {dictionary, D} = ask(process_info, [P, dictionary]), {_, {_, init, 1}} = lists:keyfind('$initial_call', 1, D),
         is(undefined, ask(process_info, [gone(fresh()), links]))
     end},
     {"process_info/2 of what is not", fun() ->
         P = up(echo),
         {error, {exception, badarg, _}} = caught(process_info, [P, nosuch]), {error, {exception, badarg, _}} = caught(process_info, [self()])
     end},
     {"$ancestors in the dictionary", fun() ->
         {dictionary, D} = ask(process_info, [up(echo), dictionary]), {_, [Parent | _]} = lists:keyfind('$ancestors', 1, D), true = lists:member(Parent, [demo, up(demo)])
     end},
     {"message_queue_len, messages of a suspended process", fun() ->
         P = fresh(), ok = sys:suspend(P), [P ! {m, I} || I <- [1, 2, 3]], sys:get_state(P),
         is({message_queue_len, 3}, ask(process_info, [P, message_queue_len])), is({messages, [{m, 1}, {m, 2}, {m, 3}]}, ask(process_info, [P, messages]))
     end},
     {"memory/0", fun() ->
         L = ask(memory, []), true = lists:all(fun({K, V}) -> is_atom(K) andalso is_integer(V) andalso V >= 0 end, L),
         is([], [total, processes, processes_used, system, atom, atom_used, binary, code, ets] -- [K || {K, _} <- L])
     end},
     {"memory/1", fun() -> true = is_integer(ask(memory, [total])), [{total, _}, {ets, _}] = ask(memory, [[total, ets]]) end},
     {"system_info: integers", fun() ->
         is([], [I || I <- [process_count, process_limit, schedulers, schedulers_online, wordsize, creation, atom_count, atom_limit, port_count,
                            port_limit, ets_limit, logical_processors, dist_buf_busy_limit, thread_pool_size], not is_integer(system_info(I))])
     end},
     {"system_info: strings", fun() ->
         is([], [I || I <- [otp_release, version, system_architecture, system_version], not io_lib:printable_list(system_info(I))])
     end},
     {"system_info: others", fun() ->
         L = [{smp_support, true}, {threads, true}, {multi_scheduling, enabled}, {{wordsize, external}, 8}, {{wordsize, internal}, 8}],
         is(L, [{I, system_info(I)} || {I, _} <- L])
     end},
     {"system_info of what is not", fun() ->
         {error, {exception, badarg, _}} = caught(system_info, [nosuch])
     end},
     {"statistics", fun() ->
         is([], [I || I <- [run_queue, total_run_queue_lengths, total_active_tasks], case caught(statistics, [I]) of {ok, N} -> not is_integer(N); _ -> true end]),
         is([], [I || I <- [wall_clock, runtime, reductions, exact_reductions, context_switches],
                      case caught(statistics, [I]) of {ok, {A, B}} -> not (is_integer(A) andalso is_integer(B)); _ -> true end]),
         {{input, _}, {output, _}} = ask(statistics, [io]), {_, _, _} = ask(statistics, [garbage_collection]),
         {error, {exception, badarg, _}} = caught(statistics, [nosuch])
     end},
     {"time", fun() -> is([], [F || F <- [system_time, monotonic_time, unique_integer], case caught(F, []) of {ok, I} -> not is_integer(I); _ -> true end]), true = is_integer(ask(system_time, [millisecond])), {_, _, _} = ask(timestamp, []) end},
     {"send", fun() -> is(hi, ask(send, [self(), hi])), is(hi, interop:got()) end},
     {"register, unregister", fun() ->
         P = fresh(),
         true = ask(register, [interop_name, P]), is(P, ask(whereis, [interop_name])), {error, {exception, badarg, _}} = caught(register, [interop_name, P]),
         true = ask(unregister, [interop_name]), is(undefined, ask(whereis, [interop_name]))
     end},
     {"ports, system_flag and the like: an answer, or undef", fun() ->
         [case caught(F, A) of {error, {exception, undef, _}} -> ok; {ok, _} -> ok; {error, {exception, badarg, _}} -> ok end
          || {F, A} <- [{ports, []}, {garbage_collect, [up(echo)]}, {function_exported, [demo, add, 2]}, {get_cookie, []}, {is_alive, []}, {process_display, [up(echo), backtrace]}]]
     end}].

ask(F, Args) -> erpc:call(target(), erlang, F, Args).

caught(F, Args) -> try {ok, ask(F, Args)} catch C:R -> {C, R} end.

system_info(I) -> case caught(system_info, [I]) of {ok, V} -> V; _ -> none end.

items() ->
    [current_function, initial_call, status, message_queue_len, links, monitors, monitored_by, dictionary, trap_exit, priority, group_leader,
     total_heap_size, heap_size, stack_size, memory, reductions, registered_name, messages, current_stacktrace, current_location, error_handler,
     garbage_collection, suspending, catchlevel, message_queue_data, parent].
