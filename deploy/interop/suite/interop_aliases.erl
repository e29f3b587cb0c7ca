-module(interop_aliases).
-export([checks/0]).
-import(interop, [is/2, at/1, fresh/0, silent/0]).

checks() ->
    [{"a reply to an alias", fun() -> A = alias(), ask(A, x), is({[alias | A], x}, interop:got()) end},
     {"again and again", fun() -> A = alias(), [begin ask(A, I), is({[alias | A], I}, interop:got()) end || I <- lists:seq(1, 100)] end},
     {"unalias: nothing comes", fun() -> A = alias(), unalias(A), ask(A, x), silent() end},
     {"unalias while a reply is under way", fun() ->
         [begin A = alias(), ask(A, x), unalias(A), receive {[alias | A], x} -> ok after 0 -> ok end end || _ <- lists:seq(1, 500)],
         silent()
     end},
     {"alias([reply]): only the first", fun() -> A = alias([reply]), ask(A, 1), ask(A, 2), is({[alias | A], 1}, interop:got()), silent() end},
     {"alias of a monitor, demonitored", fun() ->
         P = fresh(), A = monitor(process, P, [{alias, demonitor}]), demonitor(A), ask(A, x), silent()
     end},
     {"alias of a monitor, gone with the DOWN", fun() ->
         P = fresh(), A = monitor(process, P, [{alias, demonitor}]), exit(P, boom), boom = interop:down(A, P), ask(A, x), silent()
     end},
     {"alias of a process that has ended", fun() ->
         {W, M} = spawn_monitor(fun() -> exit({alias, alias()}) end), {alias, A} = interop:down(M, W), ask(A, x), silent()
     end},
     {"a large reply to an alias", fun() -> A = alias(), B = binary:copy(<<1>>, 1 bsl 20), ask(A, B), is({[alias | A], B}, interop:got()) end},
     {"a message to an alias over there", fun() ->
         % sent to itself by the node's own echo, by the tag of a call that is there
         A = alias(), at(echo) ! {'$gen_call', {fresh(), [alias | A]}, x}, is({[alias | A], x}, interop:got())
     end}] ++
    [{"a priority alias", fun() -> A = erlang:alias([priority]), ask(A, x), is({[alias | A], x}, interop:got()) end}
     || list_to_integer(erlang:system_info(otp_release)) >= 28].

ask(Alias, Term) -> at(echo) ! {'$gen_call', {self(), [alias | Alias]}, Term}.
