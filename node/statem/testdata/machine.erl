%% Plays the scripts of testdata/machine on a real gen_statem; see script_test.go
%% for the language.
-module(machine).
-behaviour(gen_statem).
-export([main/1, init/1, callback_mode/0, handle_event/4, terminate/3]).

main(Files) -> erltest:play(Files, fun play/1).

play(Script) ->
    ets:new(rules, [named_table, public]),
    ets:new(log, [named_table, public, ordered_set]),
    {Rules, Commands} = lists:partition(fun(L) -> string:find(L, ":") =/= nomatch end, Script),
    lists:foreach(fun rule/1, Rules),
    Verbs = [list_to_atom(hd(erltest:words(L))) || L <- Commands],
    {ok, {Pid, Ref}} = gen_statem:start_monitor(?MODULE, {self(), lists:member(enter, Verbs)}, []),
    settle(Pid),
    lists:foreach(fun(L) -> command(Pid, erltest:words(L)) end, Commands),
    case catch sys:get_state(Pid) of
        {'EXIT', _} ->
            receive {'DOWN', Ref, _, _, Reason} -> log("exit ~s", [reason(Reason)]) end;
        State ->
            log("in ~0p", [State]),
            exit(Pid, kill),
            receive {'DOWN', Ref, _, _, _} -> ok end
    end,
    Text = [T || {_, T} <- ets:tab2list(log)],
    [ets:delete(T) || T <- [rules, log]],
    Text.

rule(Line) ->
    [Key, Ops] = string:split(Line, ":"),
    Old = case ets:lookup(rules, Key) of [{_, L}] -> L; [] -> [] end,
    ets:insert(rules, {Key, Old ++ [[erltest:words(O) || O <- string:split(Ops, ";", all), erltest:words(O) =/= []]]}).

command(_, ["enter"]) -> ok;
command(Pid, ["wait", Ms]) ->
    receive never -> ok after list_to_integer(Ms) -> settle(Pid) end;
command(Pid, ["do" | Events]) ->
    catch sys:suspend(Pid),
    lists:foreach(fun(E) ->
        case erltest:words(E) of
            ["call", X] -> Pid ! {'$gen_call', {self(), list_to_atom(X)}, list_to_atom(X)};
            ["cast", X] -> gen_statem:cast(Pid, list_to_atom(X));
            ["info", X] -> Pid ! list_to_atom(X);
            ["wait", Ms] -> receive never -> ok after list_to_integer(Ms) -> ok end
        end
    end, string:split(lists:append(lists:join(" ", Events)), ",", all)),
    catch sys:resume(Pid),
    settle(Pid).

settle(Pid) ->
    catch sys:get_state(Pid),
    replies().

replies() ->
    receive
        {Tag, Reply} when is_atom(Tag), Tag =/= 'EXIT' -> log("~p <- ~0p", [Tag, Reply]), replies()
    after 0 -> ok end.

%% The machine. Its data is the number of events that it has been given.
init({Driver, Enter}) ->
    put(driver, Driver),
    put(enter, Enter),
    case look("init") of
        [] -> {ok, a, 0};
        Ops ->
            {T, Actions} = lists:foldl(fun(O, Acc) -> op(O, none, Acc) end, {{next, a}, []}, Ops),
            {next, S} = T,
            {ok, S, 0, lists:reverse(Actions)}
    end.

callback_mode() ->
    case get(enter) of
        true -> [handle_event_function, state_enter];
        false -> handle_event_function
    end.

terminate(Reason, State, _) ->
    log("terminate ~s in ~s", [reason(Reason), State]).

handle_event(Type, Content, State, Data) ->
    {Kind, From} = case Type of
        {call, F} -> {"call", F};
        {timeout, N} -> {"timeout/" ++ atom_to_list(N), none};
        _ -> {atom_to_list(Type), none}
    end,
    log("~s ~s ~0p", [State, Kind, Content]),
    Key = lists:flatten(io_lib:format("~s ~s ~0p", [State, Kind, Content])),
    {T, R} = lists:foldl(fun(O, Acc) -> op(O, From, Acc) end, {keep, []}, look(Key)),
    Actions = lists:reverse(R),
    case T of
        keep -> {keep_state, Data + 1, Actions};
        {next, S} -> {next_state, S, Data + 1, Actions};
        repeat -> {repeat_state, Data + 1, Actions};
        {stop, Reason} ->
            case [A || A <- Actions, element(1, A) =:= reply] of
                [] -> {stop, Reason, Data + 1};
                Replies -> {stop_and_reply, Reason, Replies, Data + 1}
            end
    end.

%% Several rules for one event come one after the other; the last stays.
look(Key) ->
    case ets:lookup(rules, Key) of
        [] -> [];
        [{_, [Ops]}] -> Ops;
        [{_, [Ops | More]}] -> ets:insert(rules, {Key, More}), Ops
    end.

op(["next", S], _, {_, A}) -> {{next, list_to_atom(S)}, A};
op(["repeat"], _, {_, A}) -> {repeat, A};
op(["stop", R], _, {_, A}) -> {{stop, list_to_atom(R)}, A};
op(["crash"], _, _) -> error(crash);
op(["exit", R], _, _) -> exit(list_to_atom(R));
op(["postpone"], _, {T, A}) -> {T, [postpone | A]};
op(["save"], _, Acc) -> Acc;
op(["reply", V], From, {T, A}) -> {T, [{reply, From, list_to_atom(V)} | A]};
op(["answer", X, V], _, {T, A}) -> {T, [{reply, {get(driver), list_to_atom(X)}, list_to_atom(V)} | A]};
op(["internal", X], _, {T, A}) -> {T, [{next_event, internal, list_to_atom(X)} | A]};
op(["insert", K, X], _, {T, A}) -> {T, [{next_event, type(K), list_to_atom(X)} | A]};
op(["set", K, D, X], _, {T, A}) -> {T, [{type(K), time(D), list_to_atom(X)} | A]};
op(["update", K, X], _, {T, A}) -> {T, [{type(K), update, list_to_atom(X)} | A]};
op(["cancel", K], _, {T, A}) -> {T, [{type(K), cancel} | A]}.

type("timeout/" ++ N) -> {timeout, list_to_atom(N)};
type(K) -> list_to_atom(K).

time("infinity") -> infinity;
time(D) -> list_to_integer(D).

reason({R, Stack}) when is_list(Stack) -> reason(R);
reason(T) when is_tuple(T) -> "bad";
reason(R) -> io_lib:format("~0p", [R]).

log(Format, Args) -> ets:insert(log, {ets:info(log, size), [io_lib:format(Format, Args), "\n"]}).
