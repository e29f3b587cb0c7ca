-module(demo_counter).
-behaviour(gen_server).
-export([init/1, handle_call/3, handle_cast/2]).

init([]) -> {ok, 0}.

handle_call({add, N}, _, Total) when is_integer(N) -> {reply, Total + N, Total + N};
handle_call(get, _, Total) -> {reply, Total, Total};
handle_call(crash, _, Total) -> {stop, crash, Total};
handle_call(Request, _, Total) -> {reply, {error, {unhandled_request, Request}}, Total}.

handle_cast({add, N}, Total) when is_integer(N) -> {noreply, Total + N}.
