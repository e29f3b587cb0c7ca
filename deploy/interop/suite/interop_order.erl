%% Signals between two processes stay in order.
-module(interop_order).
-export([checks/0]).
-import(interop, [is/2, target/0, at/1, up/1, fresh/0, down/2, parallel/2]).

checks() ->
    [{"100,000 messages", fun() ->
         P = up(echo),
         spawn_link(sender(P, self(), lists:seq(1, 100000))),
         ordered(P, 1, 100000)
     end},
     {"100,000 messages to each of 4", fun() ->
         parallel(4, fun(_) -> P = fresh(), spawn_link(sender(P, self(), lists:seq(1, 25000))), ordered(P, 1, 25000) end)
     end},
     {"10,000 each from 8 processes to one", fun() ->
         P = up(echo),
         parallel(8, fun(_) -> spawn_link(sender(P, self(), lists:seq(1, 10000))), ordered(P, 1, 10000) end)
     end},
     {"small and large mixed", fun() ->
         P = up(echo), Small = <<1>>, Large = binary:copy(<<2>>, 300000),
         Terms = [{I, case I rem 7 of 0 -> Large; 3 -> binary:copy(<<3>>, I * 100); _ -> Small end} || I <- lists:seq(1, 700)],
         spawn_link(sender(P, self(), Terms)),
         [receive {P, Got} -> case Got =:= T of true -> ok; false -> is(element(1, T), element(1, Got)), error(content) end end || T <- Terms]
     end},
     {"large from 4 processes while others ping", fun() ->
         P = up(echo), Large = binary:copy(<<2>>, 2 bsl 20),
         parallel(8, fun(I) when I =< 4 -> spawn_link(sender(P, self(), [{N, Large} || N <- lists:seq(1, 10)])),
                                           [receive {P, {N, Large}} -> ok end || N <- lists:seq(1, 10)];
                        (_) -> [is(N, gen_server:call(at(echo), N, 30000)) || N <- lists:seq(1, 200)]
                     end)
     end},
     {"casts and calls", fun() ->
         Start = gen_server:call(at(counter), get),
         [begin gen_server:cast(at(counter), {add, 1}), is(Start + I, gen_server:call(at(counter), get)) end || I <- lists:seq(1, 1000)]
     end},
     {"to the pid and to the name", fun() ->
         P = up(echo),
         [case I rem 2 of 0 -> P ! {self(), I}; 1 -> at(echo) ! {self(), I} end || I <- lists:seq(1, 2000)],
         ordered(P, 1, 2000)
     end},
     {"messages, then the exit", fun() ->
         [begin
             {P, M} = {fresh(), none}, is(M, none), process_flag(trap_exit, true), link(P),
             [P ! {self(), I} || I <- lists:seq(1, 200)],
             gen_server:stop(P, {end_of, P}, 5000),
             ordered(P, 1, 200),
             is({'EXIT', P, {end_of, P}}, interop:got())
         end || _ <- lists:seq(1, 20)]
     end},
     {"link, then exit by demo:exit/1", fun() ->
         process_flag(trap_exit, true),
         [begin P = spawn_link(target(), demo, exit, [{n, I}]), is({'EXIT', P, {n, I}}, interop:got()) end || I <- lists:seq(1, 500)]
     end}].

sender(P, To, Terms) -> fun() -> [P ! {To, T} || T <- Terms], unlink(To) end.

ordered(_, I, N) when I > N -> ok;
ordered(P, I, N) ->
    receive
        {P, I} -> ordered(P, I + 1, N);
        {P, Other} -> error({want, I, Other})
    end.
