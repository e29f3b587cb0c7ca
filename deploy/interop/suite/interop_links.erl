-module(interop_links).
-export([checks/0]).
-import(interop, [is/2, target/0, fresh/0, gone/1, silent/0, down/2]).

checks() ->
    [{"the exit of a linked process there", fun() ->
         trap(),
         [begin P = fresh(), link(P), exit(P, R), is({'EXIT', P, R}, got()) end || R <- [boom, shutdown, {shutdown, x}, "text"]],
         silent()
     end},
     {"kill arrives as killed", fun() -> trap(), P = fresh(), link(P), exit(P, kill), is({'EXIT', P, killed}, got()) end},
     {"normal, by gen_server:stop", fun() -> trap(), P = fresh(), link(P), gen_server:stop(P), is({'EXIT', P, normal}, got()) end},
     {"it ends who does not trap exits", fun() ->
         P = fresh(), T = self(),
         {W, Ref} = spawn_monitor(fun() -> link(P), T ! {linked, self()}, receive never -> ok end end),
         receive {linked, W} -> ok end, % its links have P before P is told
         exit(P, boom),
         is(boom, down(Ref, W))
     end},
     {"link to a dead process", fun() ->
         trap(), P = gone(fresh()), link(P), is({'EXIT', P, noproc}, got()),
         Ref = make_ref(), {W, M} = spawn_monitor(fun() -> link(P), receive Ref -> ok end end),
         is(noproc, down(M, W)),
         silent()
     end},
     {"our exit ends the process there, with our reason", fun() ->
         [begin P = fresh(), M = monitor(process, P), ends(P, R), is(R, down(M, P)) end || R <- [boom, shutdown, {a, [b]}, "text", kill]]
     end},
     {"our normal exit leaves it alone", fun() -> P = fresh(), ends(P, normal), is(x, gen_server:call(P, x)) end},
     {"unlink: nothing comes", fun() ->
         trap(), P = fresh(), link(P), unlink(P), M = monitor(process, P), exit(P, boom), is(boom, down(M, P)), silent()
     end},
     {"unlink: our exit leaves it alone", fun() ->
         P = fresh(),
         {W, M} = spawn_monitor(fun() -> link(P), unlink(P), exit(boom) end),
         is(boom, down(M, W)),
         is(x, gen_server:call(P, x))
     end},
     {"two links are one", fun() ->
         trap(), P = fresh(), link(P), link(P), unlink(P), M = monitor(process, P), exit(P, boom), is(boom, down(M, P)), silent(),
         Q = fresh(), link(Q), link(Q), exit(Q, boom), is({'EXIT', Q, boom}, got()), silent()
     end},
     {"unlink of what was never linked", fun() -> P = fresh(), unlink(P), unlink(P), unlink(gone(fresh())), is(x, gen_server:call(P, x)), silent() end},
     {"link, unlink, link", fun() -> trap(), P = fresh(), link(P), unlink(P), link(P), exit(P, boom), is({'EXIT', P, boom}, got()), silent() end},
     {"10,000 links and unlinks of one process, then linked", fun() ->
         trap(), P = fresh(),
         [begin link(P), unlink(P) end || _ <- lists:seq(1, 10000)],
         link(P), exit(P, boom), is({'EXIT', P, boom}, got()), silent()
     end},
     {"10,000 links and unlinks of one process, then not", fun() ->
         trap(), P = fresh(),
         [begin link(P), unlink(P) end || _ <- lists:seq(1, 10000)],
         M = monitor(process, P), exit(P, boom), is(boom, down(M, P)), silent()
     end},
     {"unlink while it exits: at most one EXIT, none after unlink", fun() ->
         trap(),
         [begin
             P = fresh(), link(P), exit(P, boom), unlink(P),
             receive {'EXIT', P, R} -> is(boom, R) after 0 -> ok end,
             is(noproc, down(monitor(process, P), P)),
             receive {'EXIT', P, _} = Late -> error({late, Late}) after 0 -> ok end
         end || _ <- lists:seq(1, 300)]
     end},
     {"link while it exits: exactly one EXIT", fun() ->
         trap(),
         [begin
             P = fresh(), exit(P, boom), link(P),
             {'EXIT', P, R} = got(), true = lists:member(R, [boom, noproc]),
             is(noproc, down(monitor(process, P), P)),
             receive {'EXIT', P, _} = Late -> error({second, Late}) after 0 -> ok end
         end || _ <- lists:seq(1, 300)]
     end},
     {"500 processes linked to one that ends", fun() ->
         P = fresh(), T = self(),
         Ws = [spawn_monitor(fun() -> process_flag(trap_exit, true), link(P), T ! {linked, self()}, receive {'EXIT', P, R} -> exit({saw, R}) end end)
               || _ <- lists:seq(1, 500)],
         [receive {linked, W} -> ok end || {W, _} <- Ws],
         exit(P, boom),
         is([{saw, boom}], lists:usort([down(M, W) || {W, M} <- Ws])),
         silent()
     end},
     {"one process linked to 500 that end", fun() ->
         trap(),
         Ps = [fresh() || _ <- lists:seq(1, 500)],
         [link(P) || P <- Ps], [exit(P, {boom, P}) || P <- Ps],
         [receive {'EXIT', P, R} -> is({boom, P}, R) end || P <- Ps],
         silent()
     end},
     {"one that ends with 500 linked there", fun() ->
         Ps = [fresh() || _ <- lists:seq(1, 500)],
         Ms = [{monitor(process, P), P} || P <- Ps],
         spawn(fun() -> [link(P) || P <- Ps], exit(boom) end),
         is([boom], lists:usort([down(M, P) || {M, P} <- Ms])),
         silent()
     end},
     {"storms of link and unlink: who is linked at the end hears, and nobody else", fun() ->
         P = fresh(), T = self(),
         Ws = [spawn_monitor(fun() -> storm(P, T, I) end) || I <- lists:seq(1, 50)],
         [receive {ready, W} -> ok end || {W, _} <- Ws],
         exit(P, boom),
         is(noproc, down(monitor(process, gone(P)), P)),
         [W ! tell || {W, _} <- Ws],
         [is(ok, down(M, W)) || {W, M} <- Ws]
     end},
     {"links() of the process there", fun() ->
         trap(), P = fresh(), link(P),
         {links, L} = erpc:call(target(), erlang, process_info, [P, links]),
         is(true, lists:member(self(), L)),
         unlink(P),
         {links, K} = erpc:call(target(), erlang, process_info, [P, links]),
         is(false, lists:member(self(), K))
     end},
     {"a reason of 1 MB, both ways", fun() ->
         trap(), P = fresh(), link(P), R = binary:copy(<<"r">>, 1 bsl 20), exit(P, R), is({'EXIT', P, R}, got()),
         Q = fresh(), M = monitor(process, Q), ends(Q, R), is(R, down(M, Q))
     end}].

trap() -> process_flag(trap_exit, true).

got() -> receive {'EXIT', _, _} = M -> M end.

%% A process here that is linked to P ends.
ends(P, Reason) ->
    {W, M} = spawn_monitor(fun() -> link(P), exit(Reason) end),
    is(Reason, down(M, W)).

storm(P, Check, Seed) ->
    process_flag(trap_exit, true),
    rand:seed(exsss, Seed),
    [case rand:uniform(2) of 1 -> link(P); 2 -> unlink(P) end || _ <- lists:seq(1, 500)],
    Linked = rand:uniform(2) =:= 1,
    case Linked of true -> link(P); false -> unlink(P) end,
    Check ! {ready, self()},
    receive tell -> ok end,
    is(noproc, down(monitor(process, P), P)),
    receive
        {'EXIT', P, R} -> is({true, boom}, {Linked, R})
    after 0 -> is(false, Linked)
    end,
    is({messages, []}, process_info(self(), messages)),
    exit(ok).
