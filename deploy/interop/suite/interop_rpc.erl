-module(interop_rpc).
-export([checks/0]).
-import(interop, [is/2, target/0, at/1, up/1, fresh/0, silent/0]).

-define(NOBODY, 'nobody@127.0.0.1').

checks() ->
    [{"call", fun() -> is(3, rpc:call(target(), demo, add, [1, 2])), is(target(), rpc:call(target(), erlang, node, [])) end},
     {"call with a time limit", fun() -> is(3, rpc:call(target(), demo, add, [1, 2], 5000)) end},
     {"a call that is too late", fun() -> is({badrpc, timeout}, rpc:call(target(), timer, sleep, [300], 50)), silent() end},
     {"unknown function", fun() -> {badrpc, {'EXIT', {undef, [{nosuch, f, [1], _} | _]}}} = rpc:call(target(), nosuch, f, [1]) end},
     {"unknown function of a known module", fun() -> {badrpc, {'EXIT', {undef, [{demo, add, [1], _} | _]}}} = rpc:call(target(), demo, add, [1]) end},
     {"class error, with a stack", fun() -> {badrpc, {'EXIT', {badarith, [_ | _]}}} = rpc:call(target(), demo, add, [1, x]) end},
     {"class error, by erlang:error", fun() -> {badrpc, {'EXIT', {{my, reason}, [_ | _]}}} = rpc:call(target(), erlang, error, [{my, reason}]) end},
     {"class exit", fun() -> is({badrpc, {'EXIT', {my, reason}}}, rpc:call(target(), erlang, exit, [{my, reason}])) end},
     {"class throw", fun() -> is({my, ball}, rpc:call(target(), erlang, throw, [{my, ball}])) end},
     {"no node", fun() -> is({badrpc, nodedown}, rpc:call(?NOBODY, erlang, node, [])) end},
     {"multicall", fun() ->
         {R, Bad} = rpc:multicall([node(), target(), ?NOBODY], erlang, node, []),
         is(lists:sort([node(), target()]), lists:sort(R)), is([?NOBODY], Bad)
     end},
     {"multicall of what fails", fun() -> {[{badrpc, {'EXIT', {undef, _}}}], []} = rpc:multicall([target()], nosuch, f, [], 5000) end},
     {"cast", fun() ->
         true = rpc:cast(target(), erlang, send, [self(), cast]), is(cast, interop:got()),
         true = rpc:cast(target(), nosuch, f, []), silent()
     end},
     {"async_call, yield, nb_yield", fun() ->
         is(3, rpc:yield(rpc:async_call(target(), demo, add, [1, 2]))),
         K = rpc:async_call(target(), demo, add, [2, 2]),
         is({value, 4}, rpc:nb_yield(K, 5000))
     end},
     {"block_call", fun() -> is(3, rpc:block_call(target(), demo, add, [1, 2])), is(3, rpc:block_call(target(), demo, add, [1, 2], 5000)) end},
     {"block_call of what fails", fun() ->
         {badrpc, {'EXIT', {undef, _}}} = rpc:block_call(target(), nosuch, f, []),
         {badrpc, {'EXIT', {badarith, _}}} = rpc:block_call(target(), demo, add, [x, 1]),
         is({badrpc, {'EXIT', out}}, rpc:block_call(target(), erlang, exit, [out])),
         is(ball, rpc:block_call(target(), erlang, throw, [ball]))
     end},
     {"abcast", fun() -> P = up(echo), abcast = rpc:abcast([target()], echo, {self(), x}), is({P, x}, interop:got()) end},
     {"sbcast", fun() ->
         P = up(echo), is({[target()], []}, rpc:sbcast([target()], echo, {self(), x})), is({P, x}, interop:got()),
         is({[], [target()]}, rpc:sbcast([target()], nosuch, x)), silent()
     end},
     {"eval_everywhere", fun() -> abcast = rpc:eval_everywhere([target()], erlang, send, [self(), here]), is(here, interop:got()) end},
     {"pinfo", fun() -> P = fresh(), is({registered_name, echo}, rpc:pinfo(up(echo), registered_name)), [_ | _] = rpc:pinfo(P) end},
     {"to rex by hand, as C nodes do", fun() ->
         at(rex) ! {self(), {call, demo, add, [1, 2], group_leader()}}, is({rex, 3}, interop:got()),
         is(3, gen_server:call(at(rex), {call, demo, add, [1, 2], group_leader()}))
     end},
     {"features_request", fun() -> at(rex) ! {self(), features_request}, {features_reply, N, L} = interop:got(), is(target(), N), true = lists:member(erpc, L) end},
     {"1,000 calls from 20 processes", fun() ->
         interop:parallel(20, fun(I) -> [is(I + J, rpc:call(target(), demo, add, [I, J])) || J <- lists:seq(1, 50)] end)
     end},
     {"arguments of all shapes", fun() ->
         [is(A + B, rpc:call(target(), demo, add, [A, B])) || {A, B} <- [{1, 2}, {255, 255}, {256, 0}, {-1, 1}, {1 bsl 40, 5}]]
     end}].
