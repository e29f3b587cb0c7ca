%% What OTP's gen_server and sys answer to the script in oracle_test.go: one
%% term a line, on standard output.
-module(oracle).
-behaviour(gen_server).
-export([main/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, handle_continue/2, terminate/2, code_change/3]).

init(State) -> {ok, State}.
handle_call(later, _, S) -> {noreply, S};
handle_call(cont, _, S) -> {reply, cont, S, {continue, go}};
handle_call({set, T}, _, S) -> {reply, S, T};
handle_call(_, _, S) -> {reply, S, S}.
handle_cast(cont, S) -> {noreply, S, {continue, go}};
handle_cast(_, S) -> {noreply, S}.
handle_info(_, S) -> {noreply, S}.
handle_continue(_, S) -> {noreply, S}.
terminate(_, _) -> ok.
code_change(bad, _, _) -> {error, bad};
code_change(_, S, _) -> {ok, S}.

main([File]) ->
    {ok, Text} = file:read_file(File),
    process_flag(trap_exit, true),
    {ok, Linked} = gen_server:start_link({local, oracle}, ?MODULE, s0, []),
    {ok, Alone} = gen_server:start(?MODULE, s0, []),
    [step(Linked, Alone, L) || L <- string:split(string:trim(binary_to_list(Text)), "\n", all)],
    halt(0).

step(Linked, Alone, Line) ->
    {Who, What} = erltest:term(Line),
    Pid = case Who of linked -> Linked; alone -> Alone end,
    io:format("~0p~n", [plain(Pid, do(Pid, What))]).

do(Pid, {system, What}) -> req(Pid, system, What);
do(Pid, {call, later}) -> gen_server:send_request(Pid, later), sys:get_state(Pid);
do(Pid, {call, What}) -> req(Pid, '$gen_call', What);
do(Pid, {cast, What}) -> gen_server:cast(Pid, What);
do(Pid, {send, What}) -> Pid ! What, ok.

req(Pid, Label, What) ->
    case gen:call(Pid, Label, What, 5000) of {ok, R} -> R end.

%% plain replaces what differs from run to run and from node to node.
plain(P, P) -> pid;
plain(_, T) when is_pid(T) -> other;
plain(_, T) when is_reference(T) -> ref;
plain(_, {'$initial_call', _}) -> '$initial_call';
plain(_, {statistics, {{{_,_,_},{_,_,_}}, {reductions, _}, In, Out}}) -> {statistics, In, Out};
plain(_, {log, [N | L]}) when is_integer(N) -> {log, length(L)};
plain(_, {start_time, _}) -> start_time;
plain(_, {current_time, _}) -> current_time;
plain(_, {reductions, _}) -> reductions;
%% The tags and who calls differ: here it is always this process with an alias.
plain(P, {'$gen_call', _, Q}) -> {'$gen_call', plain(P, Q)};
plain(P, {out, R, _, S}) -> {out, plain(P, R), plain(P, S)};
plain(P, {continue, _}) when is_pid(P) -> continue;
plain(P, {"Status", S}) -> {status_is, plain(P, S)};
plain(P, {status, Pid, M, [Dict | T]}) ->
    {status, plain(P, Pid), M, [lists:sort(plain(P, Dict)) | plain(P, T)]};
plain(_, {header, H}) -> {header, string:slice(H, 0, 26)};
plain(P, T) when is_tuple(T) -> list_to_tuple([plain(P, E) || E <- tuple_to_list(T)]);
plain(P, [H | T]) -> [plain(P, H) | plain(P, T)];
plain(_, T) -> T.
