%% The demo of actornode (see internal/daemon/demo) as an OTP node offers it: what the
%% suite is checked against before it judges anybody.
-module(demo).
-behaviour(supervisor).
-export([main/0, init/1, counter/0, echo/0, tasks/0, exit/1, add/2, double/1]).

%% Starts the tree and says so; ends when stdin does.
main() ->
    {ok, _} = pg:start_link(),
    {ok, _} = supervisor:start_link({local, demo}, ?MODULE, []),
    io:format("~s is up~n", [node()]),
    eof = io:get_line(""),
    halt().

init([]) ->
    Child = fun(Name) -> #{id => Name, start => {demo, Name, []}} end,
    {ok, {#{strategy => one_for_one, intensity => 100, period => 1}, [Child(counter), Child(echo)]}}.

counter() -> server(demo_counter, counter).
echo() -> server(demo_echo, echo).
tasks() -> server(demo_tasks, tasks).

%% A child if a supervisor calls, registered if nobody has the name yet;
%% otherwise the process itself becomes the server.
server(Module, Name) ->
    case get('$initial_call') of
        {supervisor, _, _} ->
            case whereis(Name) of
                undefined -> gen_server:start_link({local, Name}, Module, [], []);
                _ -> gen_server:start_link(Module, [], [])
            end;
        _ ->
            put('$ancestors', [self()]),
            put('$initial_call', {Module, init, 1}),
            {ok, State} = Module:init([]),
            gen_server:enter_loop(Module, [], State)
    end.

exit(Reason) -> erlang:exit(Reason).

add(A, B) -> A + B.

double(N) -> 2 * N.
