%% What the tests have a real Erlang node do: it calls a node of Go as OTP's tools
%% do, and compares what it is told with what it tells itself.
-module(tools).
-export([start/0, shapes/2, observer/1, formats/1, appmon/1, etop/2, printer/0, holder/1, late/2, say/2, dbg/1]).

start() -> register(printer, spawn(fun printer/0)).

%% A call of a node, from here, and from itself.
call(N, M, F, A) -> rpc:call(N, M, F, A).

%% shapes makes the same calls there and here. The answers must have one shape; what
%% it returns are those that have not. There are a registered gen_server, a process
%% that is nothing of the kind, and a dead one, there.
shapes(N, [Server, ThePlain, TheDead]) ->
    Here = whereis(kernel_safe_sup),
    Plain = spawn(fun() -> receive stop -> ok end end),
    Dead = spawn(fun() -> ok end),
    M = monitor(process, Dead),
    receive {'DOWN', M, _, _, _} -> ok end,
    Us = #{server => Here, plain => Plain, dead => Dead, name => kernel_safe_sup, node => node()},
    Them = #{server => Server, plain => ThePlain, dead => TheDead, name => server, node => N},
    lists:flatmap(fun({Mod, F, A}) ->
        Ours = call(node(), Mod, F, fill(A, Us)),
        Theirs = call(N, Mod, F, fill(A, Them)),
        case fits(Theirs, Ours) of
            true -> [];
            Why -> [{Mod, F, A, Why}]
        end end, calls()).

fill(L, Who) when is_list(L) -> [fill(X, Who) || X <- L];
fill({'$', Key}, Who) -> maps:get(Key, Who);
fill(X, _) -> X.

items() -> [registered_name, current_function, current_location, current_stacktrace, initial_call, message_queue_len, messages, links,
    monitors, monitored_by, dictionary, memory, reductions, status, trap_exit, group_leader, priority, parent, backtrace, binary,
    catchlevel, error_handler, fullsweep_after, garbage_collection, garbage_collection_info, heap_size, last_calls, magic_ref,
    max_heap_size, message_queue_data, min_bin_vheap_size, min_heap_size, sequential_trace_token, stack_size, suspending,
    total_heap_size, trace].

keys() -> [process_count, process_limit, schedulers, schedulers_online, schedulers_state, scheduler_id, logical_processors,
    logical_processors_online, logical_processors_available, otp_release, version, system_architecture, system_version, wordsize,
    {wordsize, internal}, {wordsize, external}, {wordsize, other}, creation, kernel_poll, smp_support, threads, thread_pool_size,
    multi_scheduling, multi_scheduling_blockers, atom_limit, atom_count, port_limit, port_count, ets_limit, ets_count,
    dist_buf_busy_limit, dirty_cpu_schedulers, dirty_cpu_schedulers_online, dirty_io_schedulers, machine, build_type, compat_rel,
    delayed_node_table_gc, driver_version, emu_flavor, emu_type, start_time, end_time, time_correction, time_offset,
    time_warp_mode, tolerant_timeofday, fullsweep_after, min_heap_size, min_bin_vheap_size, max_heap_size, garbage_collection,
    heap_type, message_queue_data, modified_timing_level, nif_version, port_parallelism, scheduler_bind_type,
    trace_control_word, update_cpu_info, alloc_util_allocators, debug_compiled, nonsense, "nonsense", {a, b}].

kinds() -> [active_tasks, active_tasks_all, context_switches, exact_reductions, garbage_collection, io, reductions, run_queue,
    run_queue_lengths, run_queue_lengths_all, runtime, total_active_tasks, total_active_tasks_all, total_run_queue_lengths,
    total_run_queue_lengths_all, wall_clock, scheduler_wall_time, scheduler_wall_time_all, nonsense, []].

calls() ->
    erlang:system_flag(scheduler_wall_time, true),
    P = {'$', server}, Q = {'$', plain}, D = {'$', dead},
    [{erlang, process_info, [X, I]} || X <- [P, Q, D], I <- items() ++ [items(), lists:reverse(items()), [], nonsense, [nonsense], "x"]] ++
    [{erlang, process_info, [X]} || X <- [P, Q, D, nobody, "<0.1.0>"]] ++
    [{erlang, process_info, [nobody, links]}, {erlang, process_info, [nobody, nonsense]}] ++
    [{erlang, system_info, [K]} || K <- keys()] ++
    [{erlang, statistics, [K]} || K <- kinds()] ++
    [{erlang, memory, []}] ++
    [{erlang, memory, [K]} || K <- [total, processes, system, [total, ets, code], [], nonsense, [nonsense], 1]] ++
    [{erlang, nodes, [K]} || K <- [this, visible, hidden, connected, known, [this, hidden], [], nonsense]] ++
    [{erlang, F, []} || F <- [node, nodes, processes, registered, is_alive, ports, loaded, timestamp, localtime, universaltime,
        system_time, monotonic_time, self, group_leader, garbage_collect]] ++
    [{erlang, F, [U]} || F <- [system_time, monotonic_time], U <- [second, millisecond, native, 1000, 0, nonsense]] ++
    [{erlang, F, [X]} || F <- [node, is_process_alive, garbage_collect], X <- [P, Q, D, nobody]] ++
    [{erlang, whereis, [X]} || X <- [{'$', name}, nobody, rex, net_kernel, user, "x"]] ++
    [{erlang, function_exported, A} || A <- [[erlang, node, 0], [observer_backend, procs_info, 1], [rb, log_list, 0], [x, y, z]]] ++
    [{erlang, module_loaded, [X]} || X <- [erlang, nonsense, 1]] ++
    [{observer_backend, F, []} || F <- [vsn, sys_info, get_socket_list, socket_info]] ++
    [{observer_backend, get_table_list, [ets, [{sys_hidden, H}, {unread_hidden, true}]]} || H <- [true, false]] ++
    [{code, ensure_loaded, [X]} || X <- [observer_backend, nonsense]] ++
    [{code, which, [nonsense]}, {code, is_loaded, [nonsense]}, {code, all_loaded, []}] ++
    [{proc_lib, F, [X]} || F <- [translate_initial_call, initial_call], X <- [P, Q]] ++
    [{erlang, module_info, [X]} || X <- [module, attributes, exports, md5, nonsense]] ++
    [{observer_backend, module_info, [exports]}, {nonsense, module_info, [exports]}] ++
    [{sys, get_status, A} || A <- [[P], [P, 1000], [D], [D, 100], [nobody], [Q, 10]]] ++
    [{sys, get_state, [X]} || X <- [D, nobody]] ++
    [{gen_event, which_handlers, [X]} || X <- [nobody, D]] ++
    [{supervisor, which_children, [X]} || X <- [D, nobody]] ++
    [{gen_server, call, [X, hello, 10]} || X <- [D, nobody, Q]] ++
    [{ets, all, []}, {ets, info, [nonsense]}, {ets, info, [nonsense, size]}, {ets, whereis, [nonsense]}] ++
    [{nonsense, nonsense, [1, 2]}, {erlang, nonsense, []}].

%% fits says whether a term has the shape of another, or where it has not.
fits(A, A) -> true;
fits([], B) when is_list(B) -> true;
fits(A, []) when is_list(A) -> true;
fits(A, B) when is_boolean(A), is_boolean(B) -> true;
fits(A, B) when is_boolean(A), is_atom(B); is_atom(A), is_boolean(B) -> {A, B};
fits(A, B) when is_atom(A), is_atom(B) -> true;
fits(A, B) when is_integer(A), is_integer(B) -> true;
fits(A, B) when is_pid(A), is_pid(B) -> true;
fits(A, B) when is_reference(A), is_reference(B) -> true;
fits(A, B) when is_binary(A), is_binary(B) -> true;
fits({badrpc, {'EXIT', {R, A}}}, {badrpc, {'EXIT', {R, B}}}) -> trace(A, B);
fits(A, B) when is_map(A), is_map(B) ->
    case lists:sort(maps:keys(A)) =:= lists:sort(maps:keys(B)) of
        true -> all([fits(V, maps:get(K, B)) || {K, V} <- maps:to_list(A)]);
        false -> {A, B}
    end;
fits(A, B) when is_tuple(A), is_tuple(B), tuple_size(A) =:= tuple_size(B) ->
    [TA | LA] = tuple_to_list(A), [TB | LB] = tuple_to_list(B),
    case {tag(TA, LA), tag(TB, LB)} of
        {Same, Same} -> all([fits(X, Y) || {X, Y} <- lists:zip([TA | LA], [TB | LB])]);
        _ -> {A, B}
    end;
fits(A, B) when is_list(A), is_list(B) ->
    case {kind(A), kind(B)} of
        {text, text} -> true;
        {pairs, pairs} ->
            case [K || {K, _} <- A] =:= [K || {K, _} <- B] of
                true -> all([fits(X, Y) || {{_, X}, {_, Y}} <- lists:zip(A, B)]);
                false -> many(A, B)
            end;
        {K, K} -> many(A, B);
        _ -> {A, B}
    end;
fits(A, B) -> {A, B}.

%% A tuple's first element is a tag where it is an atom, that of {Module, F, Arity}
%% and of names excepted.
tag(T, [F, A]) when is_atom(T), is_atom(F), is_integer(A) -> mfa;
tag(T, [F, A]) when is_atom(T), is_atom(F), is_list(A) -> mfargs;
tag(T, [F, A, L]) when is_atom(T), is_atom(F), is_integer(A), is_list(L) -> location;
tag(T, [X]) when is_atom(T), is_atom(X) -> names;
tag(T, [X]) when is_atom(T), is_integer(X) -> count;
tag(T, [[{instance, _, _} | _]]) when is_atom(T) -> allocator;
tag(T, [[{size, _, _, _}]]) when is_atom(T) -> blocks;
tag(T, _) when is_atom(T) -> T;
tag(_, _) -> other.

kind(L) ->
    case io_lib:printable_unicode_list(L) of
        true -> text;
        false ->
            case lists:all(fun({K, _}) -> is_atom(K); (_) -> false end, L) of
                true -> pairs;
                false -> list
            end
    end.

%% Every element must look like one of the other's.
many(A, B) ->
    case [X || X <- A, not lists:any(fun(Y) -> fits(X, Y) =:= true end, B)] of
        [] -> true;
        [X | _] -> {X, 'like none of', B}
    end.

%% Of a stack trace the first function must be the same, of a call what was called.
trace([{M, F, A, _} | _], [{M, F, B, _} | _]) when length(A) =:= length(B); is_list(A), is_list(B) -> true;
trace({M, F, A}, {M, F, B}) when is_list(A), is_list(B) -> true;
trace([{M, F, A, _}], [_ | _]) when is_atom(M), is_atom(F), is_list(A) -> true; % deeper in OTP
trace(A, B) -> fits(A, B).

all(L) ->
    case [X || X <- L, X =/= true] of [] -> true; [X | _] -> X end.

%% observer has its own modules, as far as they are no windows, look at a node.
observer(N) ->
    register(observer, spawn(fun() -> receive _ -> ok end end)),
    Info = rpc:call(N, observer_backend, sys_info, []),
    Tabs = observer_sys_wx:info_fields(),
    Sys = [observer_lib:fill_info(Tab, Info) || Tab <- tuple_to_list(Tabs)],
    Missing = [K || {_, Fields} <- lists:append([[{T, L} || {T, L} <- S] ++ [{T, L} || {T, _, L} <- S] || S <- Sys]),
        {K, V} <- Fields, V =:= undefined orelse V =:= {bytes, undefined}],
    Counter = rpc:call(N, erlang, whereis, [counter]),
    idle(N, Counter),
    Fields = observer_procinfo:process_info_fields(Counter, 8),
    State = observer_procinfo:fetch_state_info(Counter),
    Plain = observer_procinfo:fetch_state_info(rpc:call(N, erlang, whereis, [net_kernel])),
    Alloc = observer_alloc_wx:alloc_info(Info),
    Me = self(),
    [idle(N, rpc:call(N, erlang, whereis, [X])) || X <- [counter, demo]],
    Backend = spawn_link(N, observer_backend, procs_info, [Me]),
    Rows = receive {procs_info, Backend, L} -> [{Name, MQ} || {etop_proc_info, P, _, _, Name, 0, {_, _, _}, MQ} <- L, is_pid(P)] after 50000 -> none end,
    Fetcher = spawn_link(N, observer_backend, fetch_stats, [Me, 20]),
    Samples = [receive S = {stats, 1, _, _, _} -> S after 50000 -> none end || _ <- [1, 2, 3]],
    [S1, S2 | _] = Samples,
    Perf = [{K, tuple_size(element(1, observer_perf_wx:collect_data(K, S2, observer_perf_wx:init_data(K, S1)))) > 0} || K <- [runq, io, memory]],
    Cpus = element(2, observer_perf_wx:info(runq, S1, Counter)),
    M = monitor(process, Fetcher),
    unlink(Fetcher),
    Fetcher ! stop,
    End = receive {'DOWN', M, _, _, Why} -> Why after 50000 -> hangs end,
    #{missing => Missing, overview => overview(Fields), state => State, plain => Plain,
      alloc => [T || {T, _, C} <- Alloc, C > 0], rows => lists:sort(Rows), perf => Perf, dirty => Cpus, fetcher => End,
      ports => observer_port_wx:get_ports({N, true}), sockets => observer_sock_wx:get_sockets({N, true}),
      sasl => (catch observer_wx:ensure_sasl_started(N)), log => (catch observer_wx:ensure_mf_h_handler_used(N)),
      rb => lists:flatten(catch observer_wx:ensure_rb_module_loaded(N))}.

%% idle waits until a process there has nothing in hand: what it has answered may
%% still be, and counts then.
idle(N, P) ->
    case rpc:call(N, erlang, process_info, [P, [status, message_queue_len]]) of
        [{status, waiting}, {message_queue_len, 0}] -> ok;
        _ -> receive after 1 -> idle(N, P) end
    end.

overview([{"Overview", L} | _]) -> [X || X = {K, _} <- L, lists:member(K, ["Initial Call", "Current Function", "Registered Name", "Status", "Priority"])].

%% appmon draws the application demo.
appmon(N) ->
    {ok, P} = appmon_info:start_link(N, self(), []),
    {ok, P} = appmon_info:start_link(N, self(), []),
    appmon_info:app_ctrl(P, N, true, []),
    Ctrl = receive {delivery, P, app_ctrl, N, C} -> [{is_pid(Pid), A, B} || {Pid, A, B} <- C] after 50000 -> none end,
    appmon_info:app(P, demo, true, [{info_type, link}]),
    Tree = tree(P),
    appmon_info:app(P, demo, false, []),
    appmon_info:app(P, demo, true, [{info_type, sup}]),
    Sup = tree(P),
    appmon_info:app(P, nosuch, true, []),
    None = receive {delivery, P, app, nosuch, R} -> R after 50000 -> none end,
    appmon_info:load(P, N, true, [{timeout, 10}]),
    Load = receive {delivery, P, load, N, {Old, New}} when is_integer(Old), New >= 0, New =< 16 -> ok after 50000 -> none end,
    appmon_info:pinfo(P, P, true, [{timeout, at_most_once}]),
    Pinfo = receive {delivery, P, pinfo, P, "Node: " ++ _} -> ok; {delivery, P, pinfo, P, X} -> X after 50000 -> none end,
    #{ctrl => Ctrl, tree => Tree, sup => Sup, none => None, load => Load, pinfo => Pinfo}.

tree(P) ->
    receive {delivery, P, app, demo, {Root, Ps, Links, More}} ->
        {length(Ps), Root =:= element(2, hd(Ps)), lists:sort([X || {_, X} <- tl(Ps)]),
         lists:sort([case L of {Root, To} -> {root, To}; _ -> L end || L <- Links]), More}
    after 50000 -> none end.

%% dbg adds a node to trace, which takes part and traces nothing.
dbg(N) ->
    {ok, _} = dbg:tracer(),
    Added = dbg:n(N),
    {ok, All} = dbg:p(all, c),
    Removed = dbg:cn(N),
    ok = dbg:stop(),
    {Added, [element(3, M) || M <- All, element(2, M) =:= N], Removed}.

%% etop has OTP's etop print a node, until it has printed all of the texts.
etop(N, Texts) ->
    Top = spawn(fun() ->
        group_leader(whereis(printer), self()),
        etop:start([{node, N}, {output, text}, {interval, 1}, {tracing, off}, {lines, 20}])
    end),
    M = monitor(process, Top),
    R = until(Texts, "", 1500),
    etop:stop(),
    receive {'DOWN', M, _, _, Why} -> {R, Why} after 50000 -> {R, hangs} end.

until(_, Seen, 0) -> {none, Seen};
until(Texts, Seen, Tries) ->
    printer ! {take, self()},
    Now = Seen ++ receive {printed, T} -> T end,
    case lists:all(fun(X) -> string:find(Now, X) =/= nomatch end, Texts) of
        true -> ok;
        false -> receive after 20 -> until(Texts, Now, Tries - 1) end
    end.

%% formats prints by a process there. It returns where that did not do as io_lib
%% says, and what it should have printed.
formats(To) ->
    {Bad, Texts} = lists:foldl(fun({F, A}, {Wrong, Right}) ->
        Want = try {ok, lists:flatten(io_lib:format(F, A))} catch _:_ -> error end,
        Got = try io:format(To, "|" ++ F ++ "|~n", A) catch error:_ -> error end,
        case {Got, Want} of
            {ok, {ok, Text}} -> {Wrong, [unicode:characters_to_binary(Text) | Right]};
            {error, error} -> {Wrong, Right};
            _ -> {[{F, A, Got, Want} | Wrong], Right}
        end end, {[], []}, forms()),
    {Bad, lists:reverse(Texts)}.

forms() ->
    B = 1 bsl 70,
    [{"plain", []}, {"~~ ~n~2n", []}, {"~w ~p ~s", [a, {b, "c"}, "d"]}, {"~w", ["text"]}, {"~p", ["text"]}, {"~p", [<<"bin">>]},
     {"~s ~ts", ["latin \351", "uni \x{442}"]}, {"~ts", [<<"\x{442}"/utf8>>]}, {"~s", [<<"\351">>]}, {"~s", [["deep", [$e, <<"r">>], "" | <<"x">>]]},
     {"~s", [atom]}, {"~ts", ['at\x{442}m']}, {"[~10s]", ["right"]}, {"[~-10s]", ["left"]}, {"[~3s]", ["toolong"]}, {"[~.3s]", ["toolong"]},
     {"[~10.3s]", ["toolong"]}, {"[~10..*s]", ["pad"]}, {"[~*s]", [7, "star"]}, {"[~*.*.*s]", [8, 3, $-, "stars"]},
     {"[~5w]", [12]}, {"[~-5w]", [12]}, {"[~2w]", [1234]}, {"[~.0p]", [x]}, {"~c~c", [$a, $b]}, {"~3c", [$x]}, {"~tc", [16#442]}, {"[~5.2c]", [$y]},
     {"~e ~f ~g", [1.5, 1.5, 1.5]}, {"~.2f ~10.3f ~.3e ~.4g", [3.14159, 2.71828, 123456.0, 0.00001234]}, {"~f", [3]}, {"~g ~g ~g ~g ~g", [1.0e10, 0.5, 9999.0, 10000.0, 0.09]}, {"~.1g ~.1g ~.2g ~.3g", [0.5, 5.0, 50.0, 500.0]}, {"~.1e", [1.0]}, {"~.0f", [1.0]}, {"[~10.2f] [~-10.2f]", [-1.5, 1.5]},
     {"~b ~B ~.16b ~.16B ~.2b", [10, -10, 255, 255, 5]}, {"~.36b", [B]}, {"~x ~X", [31, "10#", -31, "0x"]}, {"~.16x ~.16X", [31, "16#", -31, "0x"]},
     {"~.16# ~.16+ ~#", [31, 31, 31]}, {"~i~w", [skipped, shown]}, {"~0p", [[1, 2, 3]]}, {"~tp", ["\x{442}"]}, {"~lp", ["text"]},
     {"~p", [1.0]}, {"~w", [<<1, 2>>]}, {"~p ~p", ['Quoted Atom', "quo\"te"]}, {"~w", [B]},
     {"~s", [1]}, {"~b", [x]}, {"~q", [1]}, {"~w", []}, {"~w", [1, 2]}, {"~", []}, {"~s", [["\x{442}"]]}, {"~c", [x]}, {"~.1b", [1]}].

%% printer is a group leader that keeps what it is told.
printer() -> printer([]).
printer(All) ->
    receive
        {io_request, From, As, {put_chars, unicode, Chars}} -> From ! {io_reply, As, ok}, printer([unicode:characters_to_list(Chars) | All]);
        {io_request, From, As, {put_chars, unicode, M, F, A}} ->
            From ! {io_reply, As, ok}, printer([unicode:characters_to_list(apply(M, F, A)) | All]);
        {io_request, From, As, _} -> From ! {io_reply, As, {error, request}}, printer(All);
        {take, From} -> From ! {printed, lists:append(lists:reverse(All))}, printer([])
    end.

%% holder runs F with the printer as its group leader.
holder(F) ->
    Me = self(),
    {P, M} = spawn_monitor(fun() -> group_leader(whereis(printer), self()), exit({result, F()}) end),
    R = receive {'DOWN', M, process, P, Why} -> Why after 50000 -> hangs end,
    printer ! {take, Me},
    receive {printed, Text} -> {R, Text} after 50000 -> hangs end.

%% late gives a process there the printer as its group leader, then tells it to print.
late(Pid, Text) ->
    group_leader(whereis(printer), Pid),
    Pid ! {print, self(), Text},
    receive {done, Pid} -> ok after 50000 -> exit(hangs) end,
    printer ! {take, self()},
    receive {printed, T} -> T after 50000 -> hangs end.

%% say prints on behalf of a caller on another node.
say(Format, Args) -> io:format(Format, Args), io:put_chars(<<"and put\n">>), done.
