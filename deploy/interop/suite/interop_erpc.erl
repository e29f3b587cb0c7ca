-module(interop_erpc).
-export([checks/0]).
-import(interop, [is/2, caught/1, target/0, silent/0]).

-define(NOBODY, 'nobody@127.0.0.1').

checks() ->
    [{"call", fun() -> is(3, erpc:call(target(), demo, add, [1, 2])), is(3, erpc:call(target(), demo, add, [1, 2], 5000)) end},
     {"call of an exported fun", fun() -> is(target(), erpc:call(target(), fun erlang:node/0)) end},
     {"too late", fun() -> is({error, {erpc, timeout}}, caught(fun() -> erpc:call(target(), timer, sleep, [300], 50) end)), silent() end},
     {"unknown function", fun() -> {error, {exception, undef, [{nosuch, f, [1], _} | _]}} = caught(fun() -> erpc:call(target(), nosuch, f, [1]) end) end},
     {"class error, with a stack", fun() -> {error, {exception, badarith, [{_, _, _, _} | _]}} = caught(fun() -> erpc:call(target(), demo, add, [1, x]) end) end},
     {"class error, by erlang:error", fun() -> {error, {exception, {my, reason}, [_ | _]}} = caught(fun() -> erpc:call(target(), erlang, error, [{my, reason}]) end) end},
     {"class exit", fun() -> is({exit, {exception, out}}, caught(fun() -> erpc:call(target(), erlang, exit, [out]) end)) end},
     {"class throw", fun() -> is({throw, ball}, caught(fun() -> erpc:call(target(), erlang, throw, [ball]) end)) end},
     {"no node", fun() -> is({error, {erpc, noconnection}}, caught(fun() -> erpc:call(?NOBODY, erlang, node, []) end)) end},
     {"an improper list of arguments", fun() -> {error, {exception, badarg, _}} = caught(fun() -> erpc:call(target(), demo, add, [1 | 2]) end) end},
     {"cast", fun() -> ok = erpc:cast(target(), erlang, send, [self(), cast]), is(cast, interop:got()), ok = erpc:cast(target(), nosuch, f, []), silent() end},
     {"multicall", fun() ->
         is([{ok, node()}, {ok, target()}, {error, {erpc, noconnection}}], erpc:multicall([node(), target(), ?NOBODY], erlang, node, [])),
         [{error, {exception, undef, _}}] = erpc:multicall([target()], nosuch, f, [], 5000)
     end},
     {"multicall, too late", fun() -> is([{error, {erpc, timeout}}], erpc:multicall([target()], timer, sleep, [300], 50)), silent() end},
     {"multicast", fun() -> ok = erpc:multicast([target(), target()], erlang, send, [self(), m]), is([m, m], [interop:got() || _ <- [1, 2]]) end},
     {"send_request, receive_response, wait_response, check_response", fun() ->
         R = fun() -> erpc:send_request(target(), demo, add, [1, 2]) end,
         is(3, erpc:receive_response(R())), is(3, erpc:receive_response(R(), 5000)), is({response, 3}, erpc:wait_response(R(), 5000)),
         K = R(), {response, 3} = receive M -> erpc:check_response(M, K) end,
         {error, {exception, undef, _}} = caught(fun() -> erpc:receive_response(erpc:send_request(target(), nosuch, f, [])) end),
         silent()
     end},
     {"100 requests, collected", fun() ->
         C = lists:foldl(fun(I, C) -> erpc:send_request(target(), demo, add, [I, I], I, C) end, erpc:reqids_new(), lists:seq(1, 100)),
         is([{I, 2 * I} || I <- lists:seq(1, 100)], lists:sort(collect(C)))
     end},
     {"2,000 calls from 40 processes", fun() ->
         interop:parallel(40, fun(I) -> [is(I + J, erpc:call(target(), demo, add, [I, J])) || J <- lists:seq(1, 50)] end)
     end},
     {"many that are too late", fun() ->
         interop:parallel(100, fun(_) -> {error, {erpc, timeout}} = caught(fun() -> erpc:call(target(), timer, sleep, [200], 10) end) end), silent()
     end},
     {"a reason of every kind", fun() ->
         [is({exit, {exception, R}}, caught(fun() -> erpc:call(target(), erlang, exit, [R]) end)) || R <- interop:reasons()]
     end}].

collect(C) ->
    case erpc:receive_response(C, 5000, true) of
        no_request -> [];
        {R, L, C1} -> [{L, R} | collect(C1)]
    end.
