%% Every kind of term, and every size at which its form changes, there and back.
-module(interop_terms).
-export([checks/0]).
-import(interop, [is/2, at/1, up/1]).

checks() ->
    [{Name, fun() -> each(Make()) end} || {Name, Make} <- terms()] ++
    [{"a message, not a call", fun() -> P = up(echo), T = {a, #{b => [c | d]}}, P ! {self(), T}, is({P, T}, interop:got()) end},
     {"to a registered name", fun() -> P = up(echo), at(echo) ! {self(), hi}, is({P, hi}, interop:got()) end},
     {"the sign of 0.0", fun() ->
         [is(<<F/float>>, begin G = gen_server:call(at(echo), F), <<G/float>> end) || F <- [0.0, -0.0]]
     end},
     {"5,000 atoms in 5,000 calls, and all again", fun() ->
         [is(A, gen_server:call(at(echo), A)) || _ <- [1, 2], A <- atoms("call", 5000)]
     end},
     {"more atoms than a cache holds, in turn from 8 processes", fun() ->
         interop:parallel(8, fun(I) ->
             rand:seed(exsss, I),
             Atoms = list_to_tuple(atoms("turn", 3000)),
             [begin
                 T = [element(rand:uniform(3000), Atoms) || _ <- lists:seq(1, rand:uniform(20))],
                 is(T, gen_server:call(at(echo), T))
             end || _ <- lists:seq(1, 1000)]
         end)
     end},
     {"20 MB from four processes at once", fun() ->
         interop:parallel(4, fun(I) -> each([binary:copy(<<I>>, 20 bsl 20)]) end)
     end}].

%% One call with all of them, and, where that fails, one by one to say which.
each(Terms) ->
    case try call({all, Terms}) catch _:_ -> failed end of
        {all, Terms} -> ok;
        _ -> [is(T, call(T)) || T <- Terms], error({only_all_together, length(Terms)})
    end.

call(T) -> gen_server:call(at(echo), T, 30000).

terms() ->
    [{"small integers", fun() -> [0, 1, 127, 128, 255, 256, -1, -128, -255, -256, 65535, 65536] end},
     {"integers around powers of 2", fun() ->
         [S * (1 bsl B) + D || B <- lists:seq(0, 130), S <- [1, -1], D <- [-1, 0, 1]]
     end},
     {"2^2000, and where a big integer's length needs 4 bytes", fun() ->
         [S * (1 bsl B) + D || B <- [2000, 2032, 2039, 2040, 2041, 2048, 65536, 1000000], S <- [1, -1], D <- [-1, 0, 1]]
     end},
     {"floats", fun() -> [1.5, -1.5, 1.0e308, -1.0e308, 5.0e-324, 2.2250738585072014e-308, 0.1, 1.0e22, 1.0, 123456789.125] end},
     {"atoms", fun() -> [a, '', true, false, nil, undefined, 'A b', 'with\nnewline', 'with\'quote', 'Elixir.Foo', '$gen_call'] end},
     {"atoms of Latin-1, Greek, Chinese, emoji", fun() -> ['äöü', 'ÿ', 'Ωμέγα', '日本語', '😀'] end},
     {"atoms of 255 characters of 1, 2, 3 and 4 bytes", fun() ->
         [list_to_atom(lists:duplicate(255, C)) || C <- [$a, $ä, 16#65e5, 16#1f600]]
     end},
     {"atoms of every length to 255", fun() ->
         [list_to_atom(lists:duplicate(N, C)) || N <- lists:seq(0, 255), C <- [$l, $ö]]
     end},
     {"lists and strings of every length to 300", fun() ->
         [lists:duplicate(N, X) || N <- lists:seq(0, 300), X <- [$a, 0, 255, 256, a, -1]]
     end},
     {"strings of 65,534 to 65,537 bytes", fun() -> [lists:duplicate(N, $s) || N <- lists:seq(65534, 65537)] ++ [lists:duplicate(1000000, 255)] end},
     {"lists of wide characters", fun() -> ["日本語", [16#10ffff, 0, 255, 256], lists:duplicate(65536, 16#65e5)] end},
     {"improper lists", fun() ->
         [[a | b], [1, 2 | 3], [$a, $b | <<>>], [[] | a], ["ab" | c], [alias | make_ref()],
          lists:foldl(fun(I, L) -> [I | L] end, tail, lists:seq(1, 70000))]
     end},
     {"lists in lists", fun() -> [[[]], [[], []], [[[[[a]]]]], ["ab", "cd", [["ef"]]], [[1, [2, [3 | 4]]]]] end},
     {"tuples of arity 0, 255, 256, 65,536", fun() -> [erlang:make_tuple(N, x) || N <- [0, 1, 254, 255, 256, 257, 65535, 65536]] end},
     {"binaries of every length to 300", fun() -> [binary:copy(<<7>>, N) || N <- lists:seq(0, 300)] end},
     {"binaries around 64 KiB", fun() -> [binary:copy(<<7>>, N) || N <- lists:seq(65520, 65550)] end},
     {"bitstrings of every length to 70 bits", fun() -> [<<5:N>> || N <- lists:seq(0, 70)] end},
     {"bitstrings, long", fun() -> [<<1:65537>>, <<1:524287>>, <<-1:8000001>>] end},
     {"maps", fun() ->
         [#{}, #{a => 1}, #{1 => a, 1.0 => b}, #{#{} => #{}}, #{[] => {}, {} => [], <<>> => "", "s" => <<>>},
          #{self() => make_ref(), fun lists:map/2 => 1, <<1:3>> => 1 bsl 100}]
     end},
     {"maps of 0 to 70 keys", fun() -> [maps:from_list([{K, K} || K <- lists:seq(1, N)]) || N <- lists:seq(0, 70)] end},
     {"a map of 10,000 keys", fun() -> [maps:from_list([{{key, K}, integer_to_binary(K)} || K <- lists:seq(1, 10000)])] end},
     {"pids, ports, references", fun() -> [self(), hd(erlang:ports()), make_ref(), whereis(init), alias([reply])] end},
     {"pids and references of the node itself", fun() ->
         [up(echo), up(counter), {up(echo), [up(demo)]}]
     end},
     {"pids, ports, references of other nodes and times", fun() ->
         Node = <<119, 12, "x@nohost.net">>,
         [binary_to_term(<<131, 88, Node/binary, 16#ffffffff:32, 16#ffffffff:32, 16#ffffffff:32>>),
          binary_to_term(<<131, 88, Node/binary, 7:32, 8:32, 9:32>>),
          binary_to_term(<<131, 120, Node/binary, 16#ffffffffffff:64, 1:32>>),
          binary_to_term(<<131, 89, Node/binary, 3:32, 1:32>>),
          binary_to_term(<<131, 90, 3:16, Node/binary, 1:32, 5:32, 6:32, 7:32>>),
          binary_to_term(<<131, 90, 5:16, Node/binary, 1:32, 5:32, 6:32, 7:32, 8:32, 9:32>>)]
     end},
     {"funs", fun() ->
         X = {free, [variable], #{}}, Y = binary:copy(<<1>>, 1000),
         [fun() -> ok end, fun(A) -> A end, fun(A, B) -> {A, B, X, Y} end, fun lists:map/2, fun erlang:node/0,
          fun nosuch:nosuch/255, [fun() -> X end || _ <- lists:seq(1, 10)]]
     end},
     {"depth 10,000, of lists, tuples, maps, and mixed", fun() ->
         Deep = fun(F) -> lists:foldl(fun(_, T) -> F(T) end, bottom, lists:seq(1, 10000)) end,
         [Deep(fun(T) -> [T] end), Deep(fun(T) -> {T} end), Deep(fun(T) -> #{k => T} end),
          Deep(fun(T) -> [{x, #{k => [T | x]}}] end)]
     end},
     {"depth 1,000, of maps as keys", fun() -> [lists:foldl(fun(_, T) -> #{T => v} end, bottom, lists:seq(1, 1000))] end},
     {"messages around the sizes of fragments", fun() -> [binary:copy(<<9>>, N) || N <- lists:seq(65300, 65700, 9) ++ [131000, 131072, 196608]] end},
     {"1 MB of everything", fun() ->
         [[{I, I * 1.5, integer_to_list(I), <<I:24>>, #{I => [a | I]}, {self(), make_ref()}, list_to_atom("at" ++ integer_to_list(I rem 300))}
           || I <- lists:seq(1, 8000)]]
     end},
     {"a binary of 20 MB", fun() -> [binary:copy(<<"0123456789">>, 2 bsl 20)] end},
     {"5,000 atoms in a term", fun() -> [atoms("one", 5000)] end},
     {"254 to 257 atoms in a term", fun() -> [atoms("lot", N) || N <- lists:seq(250, 260)] end},
     {"2,000 random terms", fun() -> rand:seed(exsss, 1), [random(5) || _ <- lists:seq(1, 2000)] end}].

atoms(Prefix, N) -> [list_to_atom(Prefix ++ "_" ++ integer_to_list(I)) || I <- lists:seq(1, N)].

random(0) -> random_leaf(rand:uniform(10));
random(Depth) ->
    Some = fun() -> [random(Depth - 1) || _ <- lists:seq(1, rand:uniform(5) - 1)] end,
    case rand:uniform(8) of
        1 -> Some();
        2 -> list_to_tuple(Some());
        3 -> maps:from_list([{random(Depth - 1), V} || V <- Some()]);
        4 -> [random(Depth - 1) | random(Depth - 1)];
        _ -> random_leaf(rand:uniform(10))
    end.

random_leaf(1) -> rand:uniform(512) - 256;
random_leaf(2) -> (rand:uniform(1 bsl 70) - (1 bsl 69)) bsl rand:uniform(200);
random_leaf(3) -> rand:normal() * math:pow(10, rand:uniform(40) - 20);
random_leaf(4) -> lists:nth(rand:uniform(5), [a, b, 'ö', '日本', 'long atom that is no word']);
random_leaf(5) -> rand:bytes(rand:uniform(40) - 1);
random_leaf(6) -> N = rand:uniform(30), <<(rand:uniform(1 bsl N) - 1):N>>;
random_leaf(7) -> binary_to_list(rand:bytes(rand:uniform(20)));
random_leaf(8) -> make_ref();
random_leaf(9) -> self();
random_leaf(10) -> [].
