%% What package erltest has an Erlang do; in the code path of all that it starts.
-module(erltest).
-export([evaluate/0, play/2, scripts/1, words/1, term/1]).

%% Evaluates what it reads, an expression a line, and prints the value after "=> ".
evaluate() ->
    ok = io:setopts([{encoding, unicode}]),
    io:format("=> ready~n"),
    loop().

loop() ->
    case io:get_line("") of
        Line when is_list(Line) -> io:format("=> ~0tp~n", [value(Line)]), loop();
        _ -> halt(0)
    end.

value(Line) ->
    try
        {ok, Tokens, _} = erl_scan:string(Line),
        {ok, Exprs} = erl_parse:parse_exprs(Tokens),
        {value, Value, _} = erl_eval:exprs(Exprs, []),
        Value
    catch C:R -> {C, R} end.

%% Has Play answer the lines of each script, prints the answers in the form of the
%% files, and ends Erlang.
play(Files, Play) ->
    ok = io:setopts([{encoding, unicode}]),
    [io:put_chars(["== ", Title, "\n", Play([string:trim(L) || L <- Lines])]) || {Title, Lines} <- scripts(Files)],
    halt(0).

%% The scripts of files: {"FILE: TITLE", Lines}, without comments and empty lines.
scripts(Files) -> lists:append([file(F) || F <- Files]).

file(File) ->
    {ok, Text} = file:read_file(File),
    Lines = string:split(unicode:characters_to_list(Text), "\n", all),
    titled(filename:basename(File, ".txt"), Lines).

titled(_, []) -> [];
titled(File, ["== " ++ Title | Lines]) ->
    {Script, Rest} = lists:splitwith(fun(L) -> L =/= "----" end, Lines),
    [{File ++ ": " ++ Title, [L || L <- Script, string:trim(L) =/= "", hd(L) =/= $#]} | titled(File, Rest)];
titled(File, [_ | Lines]) -> titled(File, Lines).

words(Text) -> string:lexemes(Text, " ").

term(Text) ->
    {ok, Tokens, _} = erl_scan:string(Text ++ "."),
    {ok, Term} = erl_parse:parse_term(Tokens),
    Term.
