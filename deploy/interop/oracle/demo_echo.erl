-module(demo_echo).
-behaviour(gen_server).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).

init([]) -> {ok, undefined}.

handle_call(Term, _, State) -> {reply, Term, State}.

handle_cast(_, State) -> {noreply, State}.

handle_info({From, Term}, State) when is_pid(From) -> From ! {self(), Term}, {noreply, State};
handle_info(_, State) -> {noreply, State}.
