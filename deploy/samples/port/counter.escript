#!/usr/bin/env escript
%%! -noinput
%% The counter once more, in Erlang: frames are {packet, 4}, terms are Erlang's own.
%% The node starts it with codec etf.
-mode(compile).

main(_) ->
    %% What is logged must not be logged into the frames.
    ok = logger:remove_handler(default),
    ok = logger:add_handler(default, logger_std_h, #{config => #{type => standard_error}}),
    Port = open_port({fd, 0, 1}, [{packet, 4}, binary, eof]),
    loop(Port, 0).

loop(Port, Total) ->
    receive
        {Port, {data, Frame}} ->
            case binary_to_term(Frame) of
                {start, _Self, _Node, Init} when is_integer(Init) -> loop(Port, Init);
                {call, Id, {add, N}, _From} -> write(Port, {reply, Id, Total + N}), loop(Port, Total + N);
                {call, Id, get, _From} -> write(Port, {reply, Id, Total}), loop(Port, Total);
                {call, Id, {echo, T}, _From} -> write(Port, {reply, Id, T}), loop(Port, Total);
                {call, Id, Other, _From} -> write(Port, {error, Id, {unknown, Other}}), loop(Port, Total);
                {info, {ping, From}} -> write(Port, {send, From, {pong, Total}}), loop(Port, Total);
                {cast, {add, N}} -> loop(Port, Total + N);
                _ -> loop(Port, Total)
            end;
        {Port, eof} ->
            halt(0)
    end.

write(Port, Term) -> port_command(Port, term_to_binary(Term)).
