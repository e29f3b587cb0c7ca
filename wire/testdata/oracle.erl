%% Answers questions about terms, so that the tests can compare their own
%% answers with Erlang's. Reads files from the directory Dir, writes others.
-module(oracle).
-export([main/1]).

main([Dir]) ->
    Terms = terms(read(Dir, "terms")),
    Release = list_to_integer(erlang:system_info(otp_release)),
    {Pretty, Plain} = case Release >= 26 of
                          true -> {"~0ktp", "~ktw"}; %% maps in key order
                          false -> {"~0tp", "~tw"}
                      end,
    write(Dir, "release", [integer_to_list(Release)]),
    write(Dir, "pretty", [io_lib:format(Pretty, [T]) || T <- Terms]),
    write(Dir, "plain", [io_lib:format(Plain, [T]) || T <- Terms]),
    Numbered = lists:zip(lists:seq(0, length(Terms) - 1), Terms),
    Sorted = lists:sort(fun({_, A}, {_, B}) -> A =< B end, Numbered),
    write(Dir, "sorted", [integer_to_list(I) || {I, _} <- Sorted]),
    write(Dir, "pairs", [pair(A, B) || {{_, A}, {_, B}} <- pairs(Sorted)]),
    Keys = lists:sort(fun(A, B) -> key(A) =< key(B) end, Numbered),
    write(Dir, "keys", [integer_to_list(I) || {I, _} <- Keys]),
    Texts = string:split(unicode:characters_to_list(read(Dir, "texts")), "\n", all),
    write(Dir, "texts.plain", [io_lib:format(Plain, [parse(T)]) || T <- Texts]),
    halt(0).

%% As the key of a map, a term is in key order.
key({_, T}) -> #{T => 0}.

pairs([A | [B | _] = Rest]) -> [{A, B} | pairs(Rest)];
pairs(_) -> [].

pair(A, B) -> io_lib:format("~w ~w", [A =:= B, A == B]).

parse(Text) ->
    case erl_scan:string(Text ++ "\n.") of
        {ok, Tokens, _} ->
            try erl_parse:parse_term(Tokens) of
                {ok, Term} -> {term, Term};
                {error, _} -> no_term
            catch
                _:_ -> no_term
            end;
        {error, _, _} -> no_term
    end.

terms(<<Size:32, Term:Size/binary, Rest/binary>>) -> [binary_to_term(Term) | terms(Rest)];
terms(<<>>) -> [].

read(Dir, Name) ->
    {ok, Bytes} = file:read_file(filename:join(Dir, Name)),
    Bytes.

write(Dir, Name, Lines) ->
    Text = unicode:characters_to_binary([[L, "\n"] || L <- Lines]),
    ok = file:write_file(filename:join(Dir, Name), Text).
