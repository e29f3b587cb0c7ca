#!/usr/bin/env python3
"""A counter that Go and Erlang call as they would one of their own:

    gen_server:call({pycounter, 'go@127.0.0.1'}, {add, 5}).
    node.Call[int](ctx, n, node.Atom("pycounter"), wire.Tuple{wire.Atom("add"), 5})
"""
from actornode_port import Atom, Port

port = Port()
total = port.init if isinstance(port.init, int) else 0


@port.on_call
def call(body, caller):
    global total
    if isinstance(body, tuple) and len(body) == 2 and body[0] == "add" and isinstance(body[1], int):
        total += body[1]
        return total
    if body == Atom("get"):
        return total
    if body == Atom("crash"):
        raise RuntimeError("told to")  # the traceback goes to the node's log; the supervisor starts another
    raise port.Error((Atom("unknown"), body))


@port.on_cast
def cast(body):
    call(body, None)


port.ready()
port.run()
