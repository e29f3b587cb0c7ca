%% What Elixir's Task.Supervisor is to callers of another node, without Elixir.
-module(demo_tasks).
-behaviour(gen_server).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, run/1]).

init([]) ->
    process_flag(trap_exit, true),
    {ok, []}.

handle_call({start_task, Args, _Restart, _Shutdown}, _, Running) ->
    Pid = spawn_link(?MODULE, run, [Args]),
    {reply, {ok, Pid}, [Pid | Running]};
handle_call(which_children, _, Running) ->
    {reply, [{undefined, P, worker, ['Elixir.Task.Supervised']} || P <- lists:reverse(Running)], Running};
handle_call(count_children, _, Running) ->
    N = length(Running),
    {reply, [{specs, N}, {active, N}, {supervisors, 0}, {workers, N}], Running};
handle_call({terminate_child, Pid}, _, Running) ->
    case lists:member(Pid, Running) of
        true -> exit(Pid, shutdown), {reply, ok, lists:delete(Pid, Running)};
        false -> {reply, {error, not_found}, Running}
    end.

handle_cast(_, Running) -> {noreply, Running}.

handle_info({'EXIT', Pid, _}, Running) -> {noreply, lists:delete(Pid, Running)}.

%% The process of a task.
run([{_, _, Owner}, monitor]) -> answer(Owner, monitor(process, Owner), 5000);
run([{_, _, Owner}, nomonitor]) -> answer(Owner, none, infinity);
run([{_, _, _}, _Callers, {M, F, A}]) -> apply(M, F, A).

answer(Owner, Ref, Patience) ->
    receive
        {Owner, Tag, ReplyTo, _Callers, {M, F, A}} -> ReplyTo ! {Tag, apply(M, F, A)};
        {'DOWN', Ref, _, _, Reason} -> exit({shutdown, Reason})
    after Patience -> exit(timeout)
    end.
