-module(interop_seq_trace).
-export([checks/0]).
-import(interop, [is/2, target/0, at/1, up/1, fresh/0, down/2]).

checks() ->
    [{"a traced message", fun() -> P = up(echo), token(), P ! {self(), x}, is({P, x}, interop:got()) end},
     {"to a name", fun() -> P = up(echo), token(), at(echo) ! {self(), x}, is({P, x}, interop:got()) end},
     {"a traced call", fun() -> token(), is(x, gen_server:call(at(echo), x)) end},
     {"a traced rpc", fun() -> token(), is(3, rpc:call(target(), demo, add, [1, 2])) end},
     {"a traced spawn", fun() -> token(), {P, M} = spawn_monitor(target(), demo, exit, [boom]), is(boom, down(M, P)) end},
     {"a traced exit/2", fun() -> P = fresh(), M = monitor(process, P), token(), exit(P, boom), is(boom, down(M, P)) end},
     {"a traced exit by a link", fun() ->
         P = fresh(), M = monitor(process, P), spawn(fun() -> link(P), token(), exit(boom) end), is(boom, down(M, P))
     end},
     {"a traced large message", fun() -> P = up(echo), B = binary:copy(<<1>>, 1 bsl 20), token(), P ! {self(), B}, is({P, B}, interop:got()) end},
     {"a label that is a term", fun() -> P = up(echo), seq_trace:set_token(label, {my, [label]}), P ! {self(), x}, is({P, x}, interop:got()) end},
     {"100 calls, traced and not", fun() ->
         [begin case I rem 2 of 0 -> token(); 1 -> seq_trace:set_token([]) end, is(I, gen_server:call(at(echo), I)) end || I <- lists:seq(1, 100)]
     end},
     {"the token comes back with the answer", fun() ->
         P = up(echo), token(), P ! {self(), x}, seq_trace:set_token([]),
         is({P, x}, interop:got()), is({label, 17}, seq_trace:get_token(label))
     end}].

token() -> seq_trace:set_token(label, 17), ok.
