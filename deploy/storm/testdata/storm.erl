%% What an OTP node of the storm does: processes that register names and lock resources, and what the node knows.
-module(storm).
-export([start/0, register/4, unregister/2, lock/3, unlock/1, finish/1, release/0, look/0, join/1, drop/1]).

start() ->
    Self = self(),
    spawn(fun() ->
                  storm = ets:new(storm, [named_table, public, {write_concurrency, true}]),
                  Self ! created,
                  receive never -> ok end
          end),
    receive created -> ok end.

%% A client is a process that the table storm has as {Id, Pid, Answer, Conflict}; and {{lock, Id}, Lock, Nodes} while it has
%% locked.
client(Id, Fun) ->
    Pid = spawn(fun() -> receive go -> Fun(), wait(Id) end end),
    ets:insert(storm, {Id, Pid, "", false}),
    Pid ! go,
    Pid.

wait(Id) ->
    receive
        {global_name_conflict, _} -> ets:update_element(storm, Id, {4, true}), wait(Id);
        {global_name_conflict, _, _} -> ets:update_element(storm, Id, {4, true}), wait(Id);
        {unlock, Lock, Nodes} ->
            global:del_lock(Lock, Nodes),
            ets:update_element(storm, Id, {3, "unlocked"}),
            wait(Id)
    end.

answer(Id, Answer) -> ets:update_element(storm, Id, {3, lists:flatten(io_lib:format("~p", [Answer]))}).

%% Has a new process get a name: How is new or again, Method exit, notify or all.
register(Id, Name, How, Method) ->
    M = case Method of
            exit -> fun global:random_exit_name/3;
            notify -> fun global:random_notify_name/3;
            all -> fun global:notify_all_name/3
        end,
    Pid = client(Id, fun() -> ok end),
    spawn(fun() ->
                  answer(Id, case How of
                                 new -> global:register_name(Name, Pid, M);
                                 again -> global:re_register_name(Name, Pid, M)
                             end)
          end),
    pid(Pid).

unregister(Id, Name) ->
    pid(client(Id, fun() -> global:unregister_name(Name), answer(Id, yes) end)).

%% Has a new process lock a resource on all nodes that are visible now, and keep it.
lock(Id, Resource, Retries) ->
    pid(client(Id, fun() ->
                           Lock = {Resource, self()},
                           Nodes = [node() | nodes()],
                           Got = global:set_lock(Lock, Nodes, Retries),
                           [ets:insert(storm, {{lock, Id}, Lock, Nodes}) || Got],
                           answer(Id, Got)
                   end)).

unlock(Id) ->
    case ets:take(storm, {lock, Id}) of
        [{_, Lock, Nodes}] -> [{_, Pid, _, _}] = ets:lookup(storm, Id), Pid ! {unlock, Lock, Nodes}, ok;
        [] -> none
    end.

%% Unlocks all that is locked.
release() -> [unlock(Id) || [Id] <- ets:match(storm, {{lock, '$1'}, '_', '_'})], ok.

finish(Id) -> [{_, Pid, _, _}] = ets:lookup(storm, Id), exit(Pid, kill), ok.

join(Node) -> spawn(fun() -> net_kernel:connect_node(Node) end), ok.

drop(Node) -> erlang:disconnect_node(Node), ok.

pid(Pid) ->
    Size = byte_size(term_to_binary(Pid)) - 12,
    <<_:Size/binary, Id:32, Serial:32, Creation:32>> = term_to_binary(Pid),
    lists:flatten(io_lib:format("~s/~b/~b", [node(Pid), Creation, Serial bsl 32 bor Id])).

%% What this node knows, as JSON.
look() ->
    {dictionary, D} = process_info(whereis(global_name_server), dictionary),
    Info = global:info(),
    Known = lists:sort(gen_server:call(global_name_server, get_known)),
    Synced = lists:usort(gen_server:call(global_name_server, get_synced)),
    Pending = lists:usort([N || {pending, N} <- maps:keys(element(3, Info))] ++ [N || {N, _, _} <- element(5, Info)]
                          ++ [N || {{sync_tag_his, N}, _} <- D]),
    Syncers = element(6, Info),
    Busy = case {Pending, Syncers} of
               {[], []} -> "";
               _ -> io_lib:format("pending ~0p, syncers ~0p", [Pending, Syncers])
           end,
    Names = [[quoted(atom_to_list(N)), ":", quoted(pid(P))]
             || {N, P, _, _} <- ets:tab2list(global_names), P =:= global:whereis_name(N)],
    Shown = lists:sort(global:registered_names()),
    Locks = [[quoted(io_lib:format("~0p", [R])), ":", list([pid(P) || {P, _} <- Ps])]
             || {R, _, Ps} <- ets:tab2list(global_locks)],
    Clients = [[quoted(integer_to_list(Id)), ":", object([["\"answer\":", quoted(A)], ["\"conflict\":", atom_to_list(C)],
                                                          ["\"alive\":", atom_to_list(is_process_alive(P))]])]
               || {Id, P, A, C} <- ets:tab2list(storm), is_integer(Id)],
    lists:flatten(object([["\"nodes\":", atoms(lists:sort(nodes()))], ["\"known\":", atoms(Known)],
                          ["\"synced\":", atoms(Synced)], ["\"busy\":", quoted(Busy)], ["\"names\":", object(Names)],
                          ["\"shown\":", atoms(Shown)], ["\"locks\":", object(Locks)], ["\"clients\":", object(Clients)]])).

object(L) -> ["{", lists:join(",", L), "}"].
list(L) -> ["[", lists:join(",", [quoted(E) || E <- L]), "]"].
atoms(L) -> list([atom_to_list(A) || A <- L]).
quoted(S) -> ["\"", [C || C <- lists:flatten(S), C =/= $", C =/= $\\], "\""].
