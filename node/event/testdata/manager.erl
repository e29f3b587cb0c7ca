%% Plays the scripts of testdata/manager on a real gen_event; see script_test.go
%% for the language.
-module(manager).
-behaviour(gen_event).
-export([main/1, init/1, handle_event/2, handle_call/2, handle_info/2, terminate/2]).

main(Files) -> erltest:play(Files, fun play/1).

play(Script) ->
    ets:new(rules, [named_table, public]),
    ets:new(log, [named_table, public, ordered_set]),
    {Rules, Commands} = lists:partition(fun(L) -> string:find(L, ":") =/= nomatch end, Script),
    lists:foreach(fun rule/1, Rules),
    {ok, {Pid, Ref}} = gen_event:start_monitor(),
    put(ref, Ref),
    put(owners, []),
    lists:foreach(fun(L) -> command(Pid, erltest:words(L)), settle(Pid) end, Commands),
    exit(Pid, kill),
    [exit(P, kill) || {_, P} <- get(owners)],
    receive {'DOWN', Ref, _, _, _} -> ok end,
    Text = [T || {_, T} <- ets:tab2list(log)],
    [ets:delete(T) || T <- [rules, log]],
    Text.

rule(Line) ->
    [Key, Ops] = string:split(Line, ":"),
    ets:insert(rules, {Key, [erltest:words(O) || O <- string:split(Ops, ";", all), erltest:words(O) =/= []]}).

command(_, ["owner", P]) ->
    Pid = spawn(fun() -> owner(P) end),
    put(owners, [{P, Pid} | get(owners)]);
command(_, ["exit", P, R]) ->
    Pid = whois(P),
    Ref = monitor(process, Pid),
    exit(Pid, list_to_atom(R)),
    receive {'DOWN', Ref, _, _, _} -> ok end;
command(_, ["alive", P]) ->
    log("~s ~s", [P, is_process_alive(whois(P))]);
command(Pid, ["notify", X]) -> Pid ! {notify, list_to_atom(X)};
command(Pid, ["info", X]) -> Pid ! list_to_atom(X);
command(Pid, ["kill"]) -> exit(Pid, kill);
command(Pid, ["stop", R]) -> catch gen_event:stop(Pid, list_to_atom(R), infinity);
command(Pid, Words) ->
    Answer = try gen:call(Pid, self(), request(Words)) of
        {ok, A} -> norm(A)
    catch exit:_ -> gone
    end,
    ping(), % first what others are told
    log("~s -> ~0p", [lists:join(" ", Words), Answer]).

request(["add", N, X]) -> {add_handler, id(N), args(N, X)};
request(["addsup", N, X, P]) -> {add_sup_handler, id(N), args(N, X), whois(P)};
request(["addmodule", M]) -> {add_handler, list_to_atom(M), []};
request(["delete", N, X]) -> {delete_handler, id(N), list_to_atom(X)};
request(["swap", N, X, M, Y]) -> {swap_handler, id(N), list_to_atom(X), id(M), args(M, Y)};
request(["swapsup", N, X, M, Y, P]) -> {swap_sup_handler, id(N), list_to_atom(X), id(M), args(M, Y), whois(P)};
request(["sync", X]) -> {sync_notify, list_to_atom(X)};
request(["call", N, X]) -> {call, id(N), list_to_atom(X)};
request(["which"]) -> which_handlers;
request(["modules"]) -> get_modules;
request(["stopcall"]) -> stop.

%% "-" is the handler without an id.
id("-") -> ?MODULE;
id(N) -> {?MODULE, list_to_atom(N)}.

args(N, X) -> {list_to_atom(N), list_to_atom(X)}.

whois(P) -> proplists:get_value(P, get(owners)).

settle(Pid) ->
    [begin catch gen_event:which_handlers(Pid), ping() end || _ <- [1, 2, 3]].

ping() ->
    [begin
        Ref = monitor(process, P),
        P ! {ping, self()},
        receive pong -> ok; {'DOWN', Ref, _, _, _} -> ok end,
        demonitor(Ref, [flush])
    end || {_, P} <- get(owners)].

owner(Name) ->
    receive
        {ping, From} -> From ! pong;
        {gen_event_EXIT, H, R} -> log("~s told ~0p", [Name, {H, norm(R)}])
    end,
    owner(Name).

%% A handler. Its state is its name.
init({{N, X}, Legacy}) -> begin_(N, {X, norm(Legacy)});
init({N, X}) -> begin_(N, X).

begin_(N, X) ->
    case act(N, "init", X) of
        {refuse, R} -> {error, R};
        _ -> {ok, N}
    end.

handle_event(E, N) ->
    case act(N, "event", E) of
        {swap, A, M, Y} -> {swap_handler, A, N, id(atom_to_list(M)), {M, Y}};
        remove -> remove_handler;
        _ -> {ok, N}
    end.

handle_call(Q, N) ->
    case act(N, "call", Q) of
        {reply, V} -> {ok, V, N};
        {swap, A, M, Y} -> {swap_handler, swapping, A, N, id(atom_to_list(M)), {M, Y}};
        {remove, V} -> {remove_handler, V}
    end.

handle_info({'EXIT', P, R}, N) when is_pid(P) -> handle_info({'EXIT', R}, N);
handle_info(I, N) ->
    case act(N, "info", I) of
        {swap, A, M, Y} -> {swap_handler, A, N, id(atom_to_list(M)), {M, Y}};
        remove -> remove_handler;
        _ -> {ok, N}
    end.

terminate(A, N) ->
    case act(N, "terminate", norm(A)) of
        {answer, V} -> V;
        _ -> ok
    end.

%% What a rule says, one operation or none.
act(N, Kind, X) ->
    log("~s ~s ~0p", [N, Kind, X]),
    Key = lists:flatten(io_lib:format("~s ~s ~0p", [N, Kind, X])),
    case ets:lookup(rules, Key) of
        [] -> ok;
        [{_, []}] -> ok;
        [{_, [["crash"]]}] -> error(crash);
        [{_, [["exit", R]]}] -> exit(list_to_atom(R));
        [{_, [["remove"]]}] -> remove;
        [{_, [[Op | Args]]}] -> list_to_tuple([list_to_atom(Op) | [list_to_atom(A) || A <- Args]])
    end.

%% Without stacks, and pids by their names.
norm({'EXIT', {R, S}}) when is_list(S) -> {'EXIT', norm(R)};
norm({undef, S}) when is_list(S) -> undef;
norm(P) when is_pid(P) ->
    case lists:keyfind(P, 2, case get(owners) of undefined -> []; O -> O end) of
        {N, _} -> list_to_atom(N);
        false -> pid
    end;
norm(T) when is_tuple(T) -> list_to_tuple([norm(E) || E <- tuple_to_list(T)]);
norm(L) when is_list(L) -> [norm(E) || E <- L];
norm(X) -> X.

log(Format, Args) -> ets:insert(log, {ets:info(log, size), [io_lib:format(Format, Args), "\n"]}).
