%% Answers the tests' questions about terms, one packet each, until its input ends.
-module(oracle).
-export([main/1, hello/2]).

main([]) ->
    Port = open_port({fd, 0, 1}, [binary, {packet, 4}, eof]),
    loop(Port).

loop(Port) ->
    receive
        {Port, {data, Question}} ->
            Answer = try answer(Question)
                     catch C:R -> <<1, (list_to_binary(io_lib:format("~0p:~0p", [C, R])))/binary>>
                     end,
            port_command(Port, Answer),
            loop(Port);
        {Port, eof} ->
            halt(0)
    end.

%% What term_to_binary of OTP 26 and newer makes of our bytes.
answer(<<$t, B/binary>>) -> {T, N} = binary_to_term(B, [used]), N = byte_size(B), ok(t2b(T));
%% The same with the old spelling of floats and atoms.
answer(<<$o, B/binary>>) -> ok(term_to_binary(binary_to_term(B), [{minor_version, 0}]));
answer(<<$c, B/binary>>) -> ok(term_to_binary(binary_to_term(B), [{compressed, 9}, {minor_version, 2}]));
%% Whether two are the same term.
answer(<<$=, N:32, A:N/binary, B/binary>>) ->
    case binary_to_term(A) =:= binary_to_term(B) of true -> ok(<<"true">>); false -> ok(<<"false">>) end;
%% Whether the bytes are a term at all.
answer(<<$?, B/binary>>) -> {_, N} = binary_to_term(B, [used]), ok(<<N:32>>);
answer(<<$v>>) -> ok(list_to_binary(erlang:system_info(otp_release)));
%% The applications of a fun that has been to us and back.
answer(<<$a, B/binary>>) -> F = binary_to_term(B), ok(t2b(F(20)));
%% Terms of its own.
answer(<<$s>>) -> ok(t2b([t2b(T) || T <- samples()])).

ok(B) -> <<0, B/binary>>.

t2b(T) -> term_to_binary(T, [{minor_version, 2}]).

hello(A, B) -> {A, B}.

samples() ->
    X = 22, Y = {a, "list", <<"binary">>}, Z = [1, 2 | 3],
    Fun = fun(N) -> {N + X, Y, Z} end,
    [N || I <- [0, 1, 7, 8, 15, 16, 31, 32, 53, 59, 60, 63, 64, 65, 100, 2039, 2040, 2041, 20000],
          D <- [-1, 0, 1], N <- [(1 bsl I) + D, -(1 bsl I) + D]] ++
    [0.0, 1.0, -1.5, 1.0e308, 5.0e-324, 3.141592653589793] ++
    ['', a, abc, 'ÿé', 'жπ', list_to_atom(lists:duplicate(255, $a)), list_to_atom(lists:duplicate(255, 16#10ffff)),
     list_to_atom(lists:duplicate(255, 255)), list_to_atom(lists:duplicate(128, 255))] ++
    [self(), make_ref(), alias(), hd(erlang:ports()), group_leader(), whereis(init)] ++
    [fun lists:map/2, fun ?MODULE:hello/2, fun erlang:'+'/2, Fun, fun() -> ok end, fun hello/2, fun(A) -> A(X) end, fun(A, B, C) -> {A, B, C, Fun} end] ++
    [{}, {1}, [], [[]], [1], "abc", [256], [-1], [1, 2, 3.0], [a | b], [a, b | {c}], "a" ++ [1000], Z,
     lists:duplicate(65535, 255), lists:duplicate(65536, 255), lists:seq(1, 1000)] ++
    [list_to_tuple(lists:seq(1, N)) || N <- [254, 255, 256, 257, 70000]] ++
    [<<>>, <<1>>, <<1:1>>, <<255:7>>, <<1, 2, 5:3>>, <<0:8000>>, <<0:8001>>, binary:copy(<<"abc">>, 1000)] ++
    [#{}, #{a => 1}, #{1 => a, 1.0 => b, a => c, "x" => d, <<"x">> => e, {} => f, [] => g, #{} => h, self() => i},
     maps:from_list([{N, N} || N <- lists:seq(1, 32)]), maps:from_list([{N, N} || N <- lists:seq(1, 33)]),
     maps:from_list([{{N, integer_to_list(N)}, #{N => N}} || N <- lists:seq(1, 10000)])] ++
    [lists:foldl(Wrap, a, lists:seq(1, N)) || {Wrap, N} <-
        [{fun(_, A) -> [A] end, 10000}, {fun(_, A) -> {A} end, 10000}, {fun(_, A) -> [A | A] end, 10},
         {fun(_, A) -> [b, {A} | c] end, 5000}, {fun(_, A) -> #{A => k} end, 30}, {fun(_, A) -> #{k => A} end, 10000}]].
