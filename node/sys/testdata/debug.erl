%% Asks a gen_server of OTP what the lines of a file say, and prints its answers.
-module(debug).
-behaviour(gen_server).
-export([main/1, init/1, handle_call/3, handle_cast/2, handle_info/2, code_change/3]).

main([File]) ->
    {ok, Lines} = file:consult(File),
    {ok, P} = gen_server:start(?MODULE, none, []),
    [io:format("~w~n", [shown(answer(P, L))]) || L <- Lines].

answer(P, {send, X}) -> P ! X, sent;
answer(P, get_state) -> sys:get_state(P);
answer(P, suspend) -> sys:suspend(P);
answer(P, resume) -> sys:resume(P);
answer(P, {change_code, M, Old, Extra}) -> sys:change_code(P, M, Old, Extra);
answer(P, status) -> {status, P, {module, gen_server}, [_, State, _, Debug, _]} = sys:get_status(P), [State, [element(1, D) || D <- Debug]];
answer(P, What) -> {ok, R} = gen:call(P, system, What), R.

%% What differs from run to run is left out.
shown({ok, [{start_time, _} | _] = L}) -> {ok, [case K of messages_in -> T; messages_out -> T; _ -> K end || {K, _} = T <- L]};
shown(R) -> R.

init(State) -> {ok, State}.
handle_call(_, _, State) -> {reply, State, State}.
handle_cast(_, State) -> {noreply, State}.
handle_info(Msg, _) -> {noreply, Msg}.
code_change(_Old, _, bad) -> not_this;
code_change(_Old, State, _) -> {ok, State}.
