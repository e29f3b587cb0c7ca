-module(interop_ping).
-export([checks/0]).
-import(interop, [is/2, target/0, at/1]).

checks() ->
    [{"net_adm:ping", fun() -> is(pong, net_adm:ping(target())) end},
     {"100 pings", fun() -> is([pong], lists:usort([net_adm:ping(target()) || _ <- lists:seq(1, 100)])) end},
     {"50 pings at once", fun() -> is([pong], lists:usort(interop:parallel(50, fun(_) -> net_adm:ping(target()) end))) end},
     {"connect_node of a connected node", fun() -> is(true, net_kernel:connect_node(target())) end},
     {"nodes(connected) shows it", fun() -> is(true, lists:member(target(), nodes(connected))) end},
     {"node(Pid) of a process there", fun() -> is(target(), node(interop:up(echo))) end},
     {"the creation is not 0", fun() -> true = is_integer(creation(interop:up(echo))), is(false, creation(interop:up(echo)) =:= 0) end},
     {"is_auth by hand, with a tag of old", fun() ->
         Ref = make_ref(),
         at(net_kernel) ! {'$gen_call', {self(), Ref}, {is_auth, node()}},
         is(yes, receive {Ref, R} -> R end)
     end}].

%% NEW_PID_EXT: 131 88 Node Id:32 Serial:32 Creation:32
creation(Pid) ->
    B = term_to_binary(Pid),
    binary:decode_unsigned(binary:part(B, byte_size(B) - 4, 4)).
