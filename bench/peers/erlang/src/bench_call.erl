%% One client calls one gen_server: gencall. The same server answers remote_call of
%% bench_remote.
-module(bench_call).

-behaviour(gen_server).

-export([benches/0]).
-export([init/1, handle_call/3, handle_cast/2]).

benches() ->
    [{"gencall", all, [{calls, 1000000, 1}], fun gencall/1}].

gencall(#{calls := Calls}) ->
    {ok, Server} = gen_server:start_link(?MODULE, 0, []),
    Start = bench:clock(),
    Sum = call(Server, Calls, 0),
    Seconds = bench:seconds_since(Start),
    bench:check(Sum =:= Calls * (Calls + 1) div 2, "the answers do not add up"),
    #{seconds => Seconds, ops => Calls}.

call(_Server, 0, Sum) ->
    Sum;
call(Server, Left, Sum) ->
    {count, Count} = gen_server:call(Server, {add, 1}, infinity),
    call(Server, Left - 1, Sum + Count).

init(Count) ->
    {ok, Count}.

handle_call({add, Value}, _From, Count) ->
    {reply, {count, Count + Value}, Count + Value};
handle_call({order, Item, Number, Price, _Express, Key, {address, _Street, _House}}, _From, Count) ->
    {reply, {receipt, Item, Number + 1, Price * Number, Key}, Count}.

handle_cast(_Message, Count) ->
    {noreply, Count}.
