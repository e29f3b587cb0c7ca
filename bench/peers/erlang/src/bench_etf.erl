%% The external term format, one process: etf_encode, etf_decode.
-module(bench_etf).

-export([benches/0]).

benches() ->
    Params = [{term, tuple, [tuple, list]}, {times, 1000000, 1}],
    [{"etf_encode", one, Params, fun encode/1},
     {"etf_decode", one, Params, fun decode/1}].

%% A small message, or a list of 10,000 integers.
term(list) ->
    lists:seq(1, 10000);
term(tuple) ->
    {update, account, 42, 1000000, list_to_binary(lists:seq(1, 64))}.

encode(#{term := Which, times := Times}) ->
    Term = term(Which),
    {Bytes, Seconds, Cpu} = timed(fun() -> encode(Term, Times, 0) end),
    Bin = term_to_binary(Term),
    bench:check(Bytes =:= Times * byte_size(Bin) andalso binary_to_term(Bin) =:= Term, "the bytes are not those of the term"),
    #{seconds => Seconds, ops => Times, extra => [{cpu_ns_per_op, Cpu * 1.0e9 / Times}, {bytes_per_term, byte_size(Bin)}]}.

encode(_Term, 0, Bytes) ->
    Bytes;
encode(Term, Left, Bytes) ->
    encode(Term, Left - 1, Bytes + byte_size(term_to_binary(Term))).

decode(#{term := Which, times := Times}) ->
    Term = term(Which),
    Bin = term_to_binary(Term),
    {Last, Seconds, Cpu} = timed(fun() -> decode(Bin, Times, none) end),
    bench:check(Last =:= Term, "the term that comes out is not the one that went in"),
    #{seconds => Seconds, ops => Times, extra => [{cpu_ns_per_op, Cpu * 1.0e9 / Times}, {bytes_per_term, byte_size(Bin)}]}.

decode(_Bin, 0, Last) ->
    Last;
decode(Bin, Left, _Last) ->
    decode(Bin, Left - 1, binary_to_term(Bin)).

%% The result, the seconds on the clock, and those of processor time. Both have in them
%% what the collection of the process's garbage takes.
timed(Fun) ->
    Before = bench:cpu_seconds(),
    Start = bench:clock(),
    Result = Fun(),
    Seconds = bench:seconds_since(Start),
    {Result, Seconds, bench:cpu_seconds() - Before}.
