%% The interop suite: what a node that speaks the Erlang distribution protocol
%% must do, asked of one that runs the demo (see internal/daemon/demo) by an OTP node.
%%
%%   erl -name me@127.0.0.1 -setcookie c -pa EBIN -run interop main go@127.0.0.1 [Group ...]
%%
%% prints a line for each check:
%%
%%   ok      group  name of the check
%%   FAILED  group  name of the check | why
%%   absent  group  name of the check | what the node does not offer
%%
%% and "done" at the end, and exits with 0, or 1 if a check has FAILED. A group is a module
%% interop_<group> with checks/0: [{Name, Fun}], each run in a process of its own,
%% in which a check asserts by matching, or by is/2. A check has half a minute, and must
%% leave the connection and the demo as it has found them.
-module(interop).
-export([main/1, groups/0, run/2, attempt/2, tell/4]).
-export([is/2, caught/1, absent/1, target/0, at/1, where/1, up/1, restarted/2, fresh/0, fresh/1,
         gone/1, got/0, down/2, silent/0, until/1, reasons/0, parallel/2, reach/1, leader/0, printed/1]).

-define(PATIENCE, 30000). % ms for a check
-define(SOON, 10000).     % ms for a fact

main([Target | Groups]) ->
    Wanted = case Groups of [] -> groups(); _ -> [list_to_atom(G) || G <- Groups] end,
    logger:set_primary_config(level, none),
    case run(list_to_atom(Target), Wanted) of
        0 -> io:format("done: all is well~n"), halt(0);
        N -> io:format("done: ~w failed~n", [N]), halt(1)
    end.

groups() ->
    [ping, terms, gen_server, links, monitors, exits, spawn, rpc, erpc, order, sys, supervisor,
     aliases, seq_trace, reconnect, erlang, pg, io, visible, global].

%% Runs groups and returns how many checks have failed.
run(Target, Groups) ->
    Failed = [1 || G <- Groups, Check <- (module(G)):checks(), check(Target, G, Check) =:= failed],
    length(Failed).

module(Group) -> list_to_atom("interop_" ++ atom_to_list(Group)).

check(Target, Group, {Name, Fun}) ->
    reach(Target),
    erlang:monitor_node(Target, true),
    Said = attempt(fun() -> put(target, Target), Fun() end, ?PATIENCE),
    Lost = receive {nodedown, Target} -> not may_cut(Group) after 0 -> false end,
    erlang:monitor_node(Target, false),
    case Said of
        ok when Lost -> tell(failed, Group, Name, "the connection was lost");
        {failed, Why} when Lost -> tell(failed, Group, Name, Why ++ "; and the connection was lost");
        ok -> tell(ok, Group, Name, "");
        {What, Why} -> tell(What, Group, Name, Why)
    end.

%% Runs a check in a process of its own, for so many milliseconds: ok, {absent, What} or {failed, Why}.
attempt(Fun, Patience) ->
    {Pid, Ref} = spawn_monitor(fun() -> exit({checked, try_check(Fun)}) end),
    receive
        {'DOWN', Ref, _, _, {checked, R}} -> R;
        {'DOWN', Ref, _, _, Reason} -> {failed, "the check was killed: " ++ text(Reason)}
    after Patience ->
        {_, Stack} = process_info(Pid, current_stacktrace),
        {_, Box} = process_info(Pid, messages),
        exit(Pid, kill),
        receive {'DOWN', Ref, _, _, _} -> ok end,
        {failed, place(Stack) ++ "still waits after " ++ text(Patience) ++ " ms; its mailbox: " ++ text(Box)}
    end.

may_cut(Group) -> lists:member(Group, [reconnect, pg, visible, global]).

try_check(Fun) ->
    try Fun(), ok
    catch
        throw:{absent, What} -> {absent, What};
        error:{badmatch, V}:S -> {failed, place(S) ++ "does not match: " ++ text(V)};
        error:{want, Want, Got}:S -> {failed, place(S) ++ "want " ++ text(Want) ++ ", got " ++ text(Got)};
        C:R:S -> {failed, place(S) ++ atom_to_list(C) ++ " " ++ text(R)}
    end.

tell(What, Group, Name, Why) ->
    Word = case What of failed -> "FAILED"; _ -> atom_to_list(What) end,
    Tail = case Why of "" -> ""; _ -> " | " ++ Why end,
    io:format("~-6s  ~-10s  ~ts~ts~n", [Word, Group, Name, Tail]),
    What.

%% The line of the suite where it happened.
place(Stack) ->
    Own = [{M, proplists:get_value(line, I, 0)} || {M, _, _, I} <- Stack, M =/= ?MODULE, is_own(M)],
    case Own of
        [{M, L} | _] -> io_lib:format("~s.erl:~w: ", [M, L]);
        [] -> ""
    end.

is_own(M) -> lists:prefix("interop_", atom_to_list(M)).

text(T) ->
    S = lists:flatten(io_lib:format("~0tP", [T, 40])),
    string:slice(S, 0, 400).

%%% What checks are made of.

is(Want, Got) when Want =:= Got -> ok;
is(Want, Got) -> error({want, Want, Got}).

%% What a function returns or raises.
caught(F) -> try {returned, F()} catch C:R -> {C, R} end.

absent(What) -> throw({absent, What}).

target() -> get(target).

%% The name, there.
at(Name) -> {Name, target()}.

%% The pid that is registered there.
where(Name) -> erpc:call(target(), erlang, whereis, [Name]).

%% Waits until a fact holds.
until(Fact) -> until(Fact, erlang:monotonic_time(millisecond) + ?SOON).

until(Fact, End) ->
    case Fact() of
        false ->
            case erlang:monotonic_time(millisecond) > End of
                true -> error({never, erlang:fun_info(Fact, name)});
                false -> receive after 5 -> until(Fact, End) end
            end;
        V -> V
    end.

%% Connects, if need be.
reach(Target) -> until(fun() -> net_kernel:connect_node(Target) end).

%% Waits until a name is registered there, and returns the pid.
up(Name) -> restarted(Name, undefined).

%% Waits until another process than Old has the name there.
restarted(Name, Old) ->
    until(fun() ->
        case where(Name) of
            undefined -> false;
            Old -> false;
            Pid -> Pid
        end
    end).

%% A new echo there, which is gone at the end of the check.
fresh() -> fresh(echo).

fresh(Kind) ->
    Check = self(),
    Pid = spawn(target(), demo, Kind, []),
    spawn(fun() ->
        Ref = monitor(process, Check),
        receive {'DOWN', Ref, _, _, _} -> exit(Pid, kill) end
    end),
    Pid.

%% A process there that has ended.
gone(Pid) ->
    Ref = monitor(process, Pid),
    exit(Pid, kill),
    receive {'DOWN', Ref, process, Pid, R} when R =:= killed; R =:= noproc -> Pid end.

%% The next message, whatever it is.
got() -> receive M -> M after ?SOON -> error(nothing_has_come) end.

%% The DOWN of a monitor.
down(Ref, From) ->
    receive {'DOWN', Ref, process, From, Reason} -> Reason
    after ?SOON -> error({no_down, From, process_info(self(), messages)})
    end.

%% Nothing has come: everything that was under way from the target's echo, and
%% from what has caused its answer, is here when it answers.
silent() ->
    Echo = up(echo),
    Ref = make_ref(),
    is(Ref, gen_server:call(Echo, Ref)),
    is({messages, []}, process_info(self(), messages)).

%% Exit reasons of every kind.
reasons() ->
    [shutdown, {shutdown, x}, boom, 'a b', "text", <<"binary">>, 17, 1 bsl 200, 1.5, [], [a | b], {}, #{a => 1},
     self(), make_ref(), fun lists:map/2, fun() -> ok end, <<1:3>>, {nested, [{deep, #{}}]}, binary:copy(<<"x">>, 200000),
     noproc, noconnection, killed, normal_, undefined].

%% Runs F(1) ... F(N), each in a process of its own, and returns what they return.
parallel(N, F) ->
    T = target(),
    Refs = [spawn_monitor(fun() -> put(target, T), exit({done, F(I)}) end) || I <- lists:seq(1, N)],
    [receive {'DOWN', R, process, P, {done, V}} -> V; {'DOWN', R, process, P, Why} -> error({worker, Why}) end || {P, R} <- Refs].

%% A group leader that keeps what is printed.
leader() -> spawn_link(fun() -> leader(<<>>) end).

leader(Text) ->
    receive
        {io_request, From, As, {put_chars, Enc, Chars}} ->
            From ! {io_reply, As, ok}, leader(<<Text/binary, (unicode:characters_to_binary(Chars, Enc))/binary>>);
        {io_request, From, As, {put_chars, Enc, M, F, A}} ->
            From ! {io_reply, As, ok}, leader(<<Text/binary, (unicode:characters_to_binary(apply(M, F, A), Enc))/binary>>);
        {printed, From} -> From ! {printed, Text}, leader(Text)
    end.

printed(L) -> L ! {printed, self()}, receive {printed, T} -> T end.
