%% Applies what the lines of a file say, {Module, Function, Args}, and prints what comes of it.
-module(basic).
-export([main/1]).

main([File]) ->
    {ok, Lines} = file:consult(File),
    [io:format("~w~n", [result(L)]) || L <- Lines].

result({M, F, A}) ->
    try {value, apply(M, F, A)} catch C:R -> {C, R} end.
