%% An echo on our side.
-module(interop_echo).
-behaviour(gen_server).
-export([init/1, handle_call/3, handle_cast/2]).

init([]) -> {ok, none}.
handle_call(Term, _, State) -> {reply, Term, State}.
handle_cast(_, State) -> {noreply, State}.
