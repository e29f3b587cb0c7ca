%% Input and output: what is printed there by processes of ours, and here by theirs.
-module(interop_io).
-export([checks/0]).
-import(interop, [is/2, absent/1, target/0, leader/0, printed/1, where/1, fresh/0]).

checks() ->
    [{"group_leader/2 of a process there", fun() ->
         P = fresh(), L = leader(), true = group_leader(L, P), is(x, gen_server:call(P, x)),
         is({group_leader, L}, erpc:call(target(), erlang, process_info, [P, group_leader]))
     end},
     {"the group leader of a call is the caller's", fun() ->
         L = leader(), group_leader(L, self()), is(L, erpc:call(target(), erlang, group_leader, []))
     end},
     {"io:format by rpc prints here", fun() ->
         L = leader(), group_leader(L, self()),
         case rpc:call(target(), io, format, ["~p ~ts~n", [{a, 1}, "ö"]]) of
             {badrpc, {'EXIT', {undef, _}}} -> absent("io:format/2");
             R -> is(ok, R), is(<<"{a,1} ö\n"/utf8>>, printed(L))
         end
     end},
     {"put_chars to user there", fun() -> ok = io:put_chars(user(), ""), ok = io:put_chars(user(), "interop: ö\n") end},
     {"io:format to user there", fun() -> ok = io:format(user(), "interop: ~p~n", [{x, 1}]) end},
     {"a request that no device knows", fun() -> {error, {bad_request, _}} = bad(io:request(user(), {what, 1})) end},
     {"getopts of user there", fun() -> true = is_list(io:getopts(user())) end}].

user() -> case where(user) of undefined -> absent("there is no process named user"); P -> P end.

bad({error, request}) -> {error, {bad_request, request}};
bad({error, {request, _} = R}) -> {error, {bad_request, R}};
bad(Other) -> Other.
