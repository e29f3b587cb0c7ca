%% Plays the scripts of testdata/supervision on OTP's own supervisor. They say
%% what is asked of supervisors and what befalls their children, and what comes
%% of it. A line is a command; each has its full effect before the next.
%%
%% Definitions:
%%
%%   sup S KEY=TERM...             a supervisor with these flags; its children
%%       CHILD                     stand below, indented, in start order
%%   NAME KEY=TERM... WORD...      a CHILD with the id NAME (or id=TERM) and the
%%                                 keys of a child specification, unless absent:
%%                                 restart, shutdown, significant, type, modules
%%       -id -start start=TERM     without these, or with another start
%%       starts=OUTCOME|OUTCOME    what its start function does each time, the
%%                                 last from then on: ok, or ok:TERM for
%%                                 {ok,Pid,TERM}; ignore; error:TERM; bad:TERM
%%                                 returns TERM; exit:TERM and crash:TERM end the
%%                                 function itself so; stop:TERM is a process
%%                                 that ends so before it is ready, reported as
%%                                 {error,TERM}; hold:OUTCOME waits for release
%%       traps                     traps exits and obeys its supervisor, or
%%       ends=ignore               does not, or
%%       ends=deaf                 does not even notice, or
%%       ends=exit:TERM            ends with another reason, or
%%       ends=hold:TERM            does so when released
%%       sup=T                     the child is the supervisor T
%%   raw TERM                      a CHILD that is no specification
%%
%% The flags are strategy, intensity, period, auto_shutdown, all optional; or
%% flags=TERM for them all, or init=TERM for all that init/1 returns.
%%
%% Commands; processes are called as their child is, then NAME2, NAME3...:
%%
%%   start S                       a process called root starts S, linked
%%   start_child S CHILD           or S [ARGS] if it is simple_one_for_one
%%   terminate_child S ID          and restart_child, delete_child, get_childspec;
%%                                 the ID @A is the pid of process A
%%   which S, count S              which_children, count_children
%%   check KEY=TERM...             check_childspecs of the CHILDren below; the
%%                                 one key is auto_shutdown
%%   call S TERM                   and cast, send: what no supervisor knows
%%   exit A TERM                   A calls exit(TERM)
%%   signal A TERM                 root calls exit(A, TERM)
%%   stray A TERM                  so does a process that A knows nothing of
%%   unlink A                      A calls unlink of its supervisor
%%   release A                     a held start function or process goes on
%%   pass MS                       the clock goes on
%%   unordered COMMAND             what comes of it is sorted, for its order is
%%                                 that of processes that run at the same time
%%
%% In the answer stands, below each command but a definition, what it did, in
%% this order: "started A [ARGS]", or "start A: OUTCOME" if there is no process,
%% "told A REASON" if a trapping A has an exit signal from its supervisor,
%% "down A REASON", "holding A", "-> RESULT", "COMMAND -> RESULT" of a command
%% before it. Supervisors that have ended follow, by name: "ended S REASON".
%%
%% A start function is mfa there, the callback module mod; an exit reason is
%% without its stack, {error,{What,Child}} without the child's record, a list of
%% specifications in an error is their ids; a map is in key order; and so is
%% which_children of simple_one_for_one.
%%
%% To be run with one scheduler (+S 1:1), so that a message that is sent has
%% arrived. The scripts of all files run at once.
-module(supervision).
-behaviour(supervisor).
-export([main/1, init/1, start/2, start/3, start/4]).

main(Files) ->
    Runs = [{Title, spawn_monitor(fun() -> exit({played, play(blocks(Lines))}) end)} || {Title, Lines} <- erltest:scripts(Files)],
    lists:foreach(fun({Title, {_, Ref}}) ->
        Result = receive
            {'DOWN', Ref, process, _, {played, Text}} -> Text;
            {'DOWN', Ref, process, _, Crash} -> io_lib:format("!! ~p~n", [Crash])
        end,
        io:put_chars(["== ", Title, "\n", Result])
    end, Runs),
    halt().

%% A script as [{line, indented lines below it}].
blocks([]) -> [];
blocks([Line | Lines]) ->
    {Below, Rest} = lists:splitwith(fun([C | _]) -> C =:= $\s end, Lines),
    [{string:trim(Line, trailing), [string:trim(B) || B <- Below]} | blocks(Rest)].

%% The process that plays a script gets all events, in the order in which they
%% happen. Its dictionary: line, the command; trace, what came of it; ends, of
%% supervisors; watched, pid => puppet, sup or root, of all alive; reported,
%% pid => reason; asked, [{request, command or ping}]; held, name => {waiter,
%% blocked supervisors}; starting, whether root is; awaited, pids that are yet to
%% answer a ping.
%%
%% The table, which all others of the script read too: {pid, name} => pid,
%% {name, pid} => name, {def, name} => supervisor, {parent, sup} => sup, and
%% counters.
play(Script) ->
    T = ets:new(script, [public]),
    lists:foreach(fun({Key, Value}) -> put(Key, Value) end,
        [{table, T}, {trace, []}, {ends, []}, {watched, #{}}, {reported, #{}}, {asked, []}, {held, #{}}, {awaited, []}, {starting, false}]),
    Me = self(),
    Root = spawn(fun() -> process_flag(trap_exit, true), root({Me, T}) end),
    name(T, "root", Root),
    watch(root, Root),
    Text = lists:map(fun step/1, Script),
    [exit(Pid, kill) || Pid <- maps:keys(get(watched))],
    Text.

step({"sup " ++ Text, Below}) ->
    [Name | Keys] = erltest:words(Text),
    ets:insert(get(table), {{def, Name}, {maps:from_list([key(K) || K <- Keys]), [spec(B) || B <- Below]}}),
    [];
step({"unordered " ++ Line, Below}) ->
    {Trace, Ends} = run(Line, Below),
    answer("unordered " ++ Line, lists:sort(Trace) ++ Ends);
step({Line, Below}) ->
    {Trace, Ends} = run(Line, Below),
    answer(Line, Trace ++ Ends).

answer(Line, Effects) -> [Line, "\n", [["  ", E, "\n"] || E <- Effects]].

run(Line, Below) ->
    put(line, Line),
    [Verb | Rest] = string:split(Line, " "),
    [What | More] = string:split(lists:append(Rest), " "),
    command(Verb, What, lists:append(More), Below),
    settle(0),
    {lists:reverse(put(trace, [])), lists:sort(put(ends, []))}.

command("start", Sup, "", []) ->
    put(starting, true),
    pid("root") ! {start, Sup, get(line)};
command("start_child", Sup, "[" ++ _ = Args, []) -> ask(Sup, {start_child, erltest:term(Args)});
command("start_child", Sup, Child, []) -> ask(Sup, {start_child, spec(Child)});
command("which", Sup, "", []) -> ask(Sup, which_children);
command("count", Sup, "", []) -> ask(Sup, count_children);
command("check", "", "", Below) ->
    result(supervisor:check_childspecs([spec(B) || B <- Below]));
command("check", Key, "", Below) ->
    {auto_shutdown, Auto} = key(Key),
    result(supervisor:check_childspecs([spec(B) || B <- Below], Auto));
command("call", Sup, Term, []) -> ask(Sup, erltest:term(Term));
command("cast", Sup, Term, []) -> gen_server:cast(pid(Sup), erltest:term(Term));
command("send", Sup, Term, []) -> pid(Sup) ! erltest:term(Term);
command("exit", Who, Reason, []) -> pid(Who) ! {exit, erltest:term(Reason)};
command("signal", Who, Reason, []) -> pid("root") ! {signal, pid(Who), erltest:term(Reason)};
command("stray", Who, Reason, []) ->
    Pid = pid(Who),
    {_, Ref} = spawn_monitor(fun() -> exit(Pid, erltest:term(Reason)) end),
    receive {'DOWN', Ref, process, _, normal} -> ok end;
command("unlink", Who, "", []) -> pid(Who) ! unlink;
command("release", Who, "", []) ->
    {{Waiter, _}, Held} = maps:take(Who, get(held)),
    put(held, Held),
    Waiter ! {release, Who};
command("pass", Ms, "", []) ->
    erlang:send_after(list_to_integer(Ms), self(), passed),
    passing();
command(Verb, Sup, Id, []) ->
    true = lists:member(Verb, ["terminate_child", "restart_child", "delete_child", "get_childspec"]),
    ask(Sup, {list_to_atom(Verb), case Id of "@" ++ Who -> pid(Who); _ -> erltest:term(Id) end}).

passing() -> receive passed -> ok; M -> event(M), passing() end.

ask(Sup, Request) -> asked(get(line), pid(Sup), Request).

asked(For, Pid, Request) -> put(asked, get(asked) ++ [{gen_server:send_request(Pid, Request), For}]).

result(Result) -> trace(["-> ", show(Result)]).

%% Waits until nothing is under way: until everybody who is alive, and not held
%% up, has answered several rounds of pings in which nothing happened.
settle(4) -> ok;
settle(Quiet) ->
    Before = {get(trace), get(ends)},
    put(awaited, maps:keys(get(watched)) -- blocked()),
    lists:foreach(fun(Pid) ->
        case maps:get(Pid, get(watched)) of
            sup -> asked({ping, Pid}, Pid, count_children);
            _ -> Pid ! {ping, self()}
        end
    end, get(awaited)),
    await(),
    case {get(trace), get(ends)} of
        Before -> settle(Quiet + 1);
        _ -> settle(0)
    end.

await() ->
    case get(awaited) -- blocked() of
        [] -> ok;
        Who -> receive M -> event(M), await() after 30000 -> exit({no_answer, get(line), shown(Who), get(trace)}) end
    end.

blocked() ->
    Held = lists:append([Sups || {_, Sups} <- maps:values(get(held))]),
    case get(starting) of
        true -> Held;
        false -> Held -- [pid("root") || _ <- Held]
    end.

event({watch, Kind, Pid, Text, From}) ->
    watch(Kind, Pid),
    [trace(Text) || Text =/= ""],
    From ! {watched, Pid};
event({trace, Text}) -> trace(Text);
event({down, Pid, Reason}) ->
    put(reported, (get(reported))#{Pid => Reason}),
    trace(["down ", show(Pid), " ", show(Reason)]);
event({held, Who, Sup, Waiter}) ->
    put(held, (get(held))#{Who => {Waiter, ancestry(Sup)}}),
    trace(["holding ", Who]);
event({pong, Pid}) -> answered(Pid);
event({result, Line, Result}) ->
    put(starting, false),
    replied(Line, Result);
event({'DOWN', _, process, Pid, Reason} = M) ->
    case maps:take(Pid, get(watched)) of
        {puppet, Others} ->
            put(watched, Others),
            unheld(Pid),
            answered(Pid),
            case get(reported) of
                #{Pid := Reason} -> ok;
                _ -> trace(["down ", show(Pid), " ", show(Reason)])
            end;
        {sup, Others} ->
            put(watched, Others),
            unheld(Pid),
            answered(Pid),
            put(ends, [lists:flatten(["ended ", show(Pid), " ", show(Reason)]) | get(ends)]),
            reply(M, get(asked));
        error ->
            reply(M, get(asked))
    end;
event(M) -> reply(M, get(asked)).

reply(_, []) -> ok;
reply(M, [{Id, For} = Asked | More]) ->
    case gen_server:check_response(M, Id) of
        no_reply -> reply(M, More);
        Response ->
            put(asked, get(asked) -- [Asked]),
            case {For, Response} of
                {{ping, Pid}, _} -> answered(Pid);
                {Line, {reply, Result}} -> replied(Line, Result);
                {Line, {error, {Reason, _}}} -> replied(Line, {'EXIT', Reason})
            end
    end.

replied(Line, Result) ->
    trace([[[Line, " "] || Line =/= get(line)], "-> ", show(Result)]).

unheld(Pid) -> put(held, maps:filter(fun(_, {Waiter, _}) -> Waiter =/= Pid end, get(held))).

answered(Pid) -> put(awaited, lists:delete(Pid, get(awaited))).

trace(Text) -> put(trace, [lists:flatten(Text) | get(trace)]).

watch(Kind, Pid) ->
    monitor(process, Pid),
    put(watched, (get(watched))#{Pid => Kind}).

ancestry(Sup) ->
    case ets:lookup(get(table), {parent, Sup}) of
        [{_, Parent}] -> [Sup | ancestry(Parent)];
        [] -> [Sup]
    end.

%% The process that starts supervisors.

root({Script, _} = Ctx) ->
    receive
        {ping, From} -> From ! {pong, self()};
        {signal, Pid, Reason} -> exit(Pid, Reason);
        {start, Sup, Line} -> Script ! {result, Line, supervisor:start_link(?MODULE, {Ctx, Sup, self()})};
        {'EXIT', _, _} -> ok
    end,
    root(Ctx).

%% The callback of supervisors.

init({{_, T} = Ctx, Name, Parent}) ->
    ets:insert(T, {{parent, self()}, Parent}),
    instance(Ctx, Name, self(), sup, fun(_) -> "" end),
    [{_, {Keys, Children}}] = ets:lookup(T, {def, Name}),
    case Keys of
        #{init := Return} -> Return;
        #{flags := Flags} -> {ok, {Flags, Children}};
        _ -> {ok, {Keys, Children}}
    end.

%% Children.

%% Answers the child specification of a line.
spec("raw " ++ Term) -> erltest:term(Term);
spec(Text) ->
    [Name | Words] = erltest:words(Text),
    {Spec, Def} = lists:foldl(fun word/2,
        {#{id => list_to_atom(Name), start => mfa}, #{name => Name, starts => ["ok"], ends => dies}}, Words),
    case Spec of
        #{start := mfa} -> Spec#{start := {?MODULE, start, [{self(), get(table)}, Def]}};
        _ -> Spec
    end.

word("-" ++ Key, {Spec, Def}) -> {maps:remove(list_to_atom(Key), Spec), Def};
word("traps", {Spec, Def}) -> {Spec, Def#{ends := obeys}};
word("ends=ignore", {Spec, Def}) -> {Spec, Def#{ends := ignores}};
word("ends=deaf", {Spec, Def}) -> {Spec, Def#{ends := deaf}};
word("ends=exit:" ++ R, {Spec, Def}) -> {Spec, Def#{ends := {exits, erltest:term(R)}}};
word("ends=hold:" ++ R, {Spec, Def}) -> {Spec, Def#{ends := {holds, erltest:term(R)}}};
word("starts=" ++ O, {Spec, Def}) -> {Spec, Def#{starts := string:split(O, "|", all)}};
word("sup=" ++ Sup, {Spec, Def}) -> {Spec, Def#{sup => Sup}};
word(Word, {Spec, Def}) -> {Key, Value} = key(Word), {Spec#{Key => Value}, Def}.

start(Ctx, Def) -> outcome(turn(Ctx, Def), Ctx, Def, []).
start(Ctx, Def, A) -> outcome(turn(Ctx, Def), Ctx, Def, [A]).
start(Ctx, Def, A, B) -> outcome(turn(Ctx, Def), Ctx, Def, [A, B]).

turn({_, T}, #{name := Name, starts := Starts}) ->
    N = ets:update_counter(T, {turn, Name}, 1, {turn, 0}),
    lists:nth(min(N, length(Starts)), Starts).

outcome("hold:" ++ Outcome, {Script, _} = Ctx, #{name := Name} = Def, Args) ->
    Script ! {held, Name, self(), self()},
    receive {release, Name} -> outcome(Outcome, Ctx, Def, Args) end;
outcome("ok", {Script, T} = Ctx, #{sup := Sup, name := Name}, []) ->
    case supervisor:start_link(?MODULE, {Ctx, Sup, self()}) of
        {ok, Pid} -> Script ! {trace, ["started ", name(T, Pid)]}, {ok, Pid};
        Other -> Script ! {trace, ["start ", Name, ": ", show(T, Other)]}, Other
    end;
outcome("ok", Ctx, Def, Args) -> {ok, puppet(Ctx, Def, Args)};
outcome("ok:" ++ Info, Ctx, Def, Args) -> {ok, puppet(Ctx, Def, Args), erltest:term(Info)};
outcome(Outcome, {Script, _}, #{name := Name}, Args) ->
    Script ! {trace, ["start ", Name, [[" ", show(Args)] || Args =/= []], ": ", Outcome]},
    case string:split(Outcome, ":") of
        ["ignore"] -> ignore;
        ["error", R] -> {error, erltest:term(R)};
        ["bad", R] -> erltest:term(R);
        ["exit", R] -> exit(erltest:term(R));
        ["crash", R] -> erlang:error(erltest:term(R));
        ["stop", R] ->
            {_, Ref} = spawn_opt(fun() -> exit(erltest:term(R)) end, [link, monitor]),
            receive {'DOWN', Ref, process, _, Reason} -> {error, Reason} end
    end.

puppet({Script, _} = Ctx, #{name := Name, ends := Ends}, Args) ->
    Sup = self(),
    Pid = spawn_link(fun() ->
        process_flag(trap_exit, Ends =/= dies),
        Sup ! {self(), ready},
        puppet(#{script => Script, sup => Sup, ends => Ends, table => element(2, Ctx)})
    end),
    receive {Pid, ready} -> ok end,
    instance(Ctx, Name, Pid, puppet, fun(N) -> ["started ", N, [[" ", show(Args)] || Args =/= []]] end),
    Pid.

puppet(#{script := Script, sup := Sup, ends := Ends, table := T} = P) ->
    receive
        {ping, From} -> From ! {pong, self()}, puppet(P);
        {exit, Reason} -> down(Script, Reason);
        unlink -> unlink(Sup), puppet(P);
        {'EXIT', Sup, Reason} when Ends =/= deaf ->
            Script ! {trace, ["told ", name(T, self()), " ", show(T, Reason)]},
            case Ends of
                obeys -> down(Script, Reason);
                ignores -> puppet(P);
                {exits, Other} -> down(Script, Other);
                {holds, Other} ->
                    Script ! {held, name(T, self()), Sup, self()},
                    puppet(P#{ends := ignores, last => Other})
            end;
        {release, _} -> down(Script, maps:get(last, P));
        {'EXIT', _, _} -> puppet(P)
    end.

down(Script, Reason) ->
    Script ! {down, self(), Reason},
    exit(Reason).

%% Gives a process its name, and has the script watch it from now on.
instance({Script, T}, Name, Pid, Kind, Text) ->
    Instance = case ets:update_counter(T, {instance, Name}, 1, {instance, 0}) of
        1 -> Name;
        N -> Name ++ integer_to_list(N)
    end,
    name(T, Instance, Pid),
    Script ! {watch, Kind, Pid, Text(Instance), self()},
    receive {watched, Pid} -> ok end.

name(T, Name, Pid) -> ets:insert(T, [{{pid, Name}, Pid}, {{name, Pid}, Name}]).
name(T, Pid) -> ets:lookup_element(T, {name, Pid}, 2).
pid(Name) -> pid(get(table), Name).
pid(T, Name) -> ets:lookup_element(T, {pid, Name}, 2).

%% Text.

key(Word) ->
    [Key, Term] = string:split(Word, "="),
    {list_to_atom(Key), erltest:term(Term)}.

show(Term) -> show(get(table), Term).

show(T, Term) -> text(shown(T, Term)).

text(Map) when is_map(Map) ->
    ["#{", lists:join(",", [[text(K), " => ", text(V)] || {K, V} <- lists:sort(maps:to_list(Map))]), "}"];
text(Tuple) when is_tuple(Tuple) -> ["{", lists:join(",", [text(E) || E <- tuple_to_list(Tuple)]), "}"];
text([H | _] = List) when is_map(H); is_tuple(H) -> ["[", lists:join(",", [text(E) || E <- List]), "]"];
text(Term) -> io_lib:format("~0tp", [Term]).

shown(Term) -> shown(get(table), Term).

shown(T, Pid) when is_pid(Pid) ->
    case ets:lookup(T, {name, Pid}) of
        [{_, Name}] -> list_to_atom(Name);
        [] -> Pid
    end;
shown(_, ?MODULE) -> mod;
shown(_, {?MODULE, start, _}) -> mfa;
shown(T, {error, {What, Child}}) when element(1, Child) =:= child -> {error, shown(T, What)};
shown(T, {bad_start_spec, Specs}) -> {bad_start_spec, [Id || #{id := Id} <- shown(T, Specs)]};
shown(T, [{undefined, _, _, _} | _] = Which) -> lists:sort([shown_each(T, W) || W <- Which]);
shown(T, {Reason, {gen_server, call, _}}) -> shown(T, Reason);
shown(T, {Reason, [{M, F, _, L} | _]}) when is_atom(M), is_atom(F), is_list(L) -> shown(T, Reason);
shown(T, Tuple) when is_tuple(Tuple) -> shown_each(T, Tuple);
shown(T, [H | Tail]) -> [shown(T, H) | shown(T, Tail)];
shown(T, Map) when is_map(Map) -> maps:map(fun(_, V) -> shown(T, V) end, Map);
shown(_, Term) -> Term.

shown_each(T, Tuple) -> list_to_tuple([shown(T, E) || E <- tuple_to_list(Tuple)]).
