"""The tools: a program that serves one request at a time. Several of it run.

A request is (tool, text, milliseconds that it may take, pid or None, number of the call); the reply is (answer, tokens).
What a tool says on the way goes to the pid, if there is one.
"""
import os
import time

from actornode_port import Atom, Port

port = Port()  # from here on print goes to the log of the node


def upper(text, say):
    """Answers word by word, as a model does."""
    words = [word.upper() for word in text.split()]
    for word in words:
        say(word)
    return " ".join(words), len(words)


def count(text, say):
    return str(len(text.split())), 1


def fail(text, say):
    raise ValueError("no answer for " + text)  # fails its call; the program goes on


def crash(text, say):
    os._exit(3)  # ends the program, which is started again


def loop(text, say):
    while True:  # until it is killed
        time.sleep(1)


TOOLS = {f.__name__: f for f in (upper, count, fail, crash, loop)}


@port.on_call
def call(body, caller):
    name, text, left, to, number = body
    tool = TOOLS.get(name.decode())
    if tool is None:
        raise port.Error(Atom("no_such_tool"))

    def say(piece):
        if to is not None:
            port.send(to, (Atom("piece"), number, piece))

    try:
        return tool(text.decode(), say)
    except Exception as e:
        raise port.Error(str(e))


port.ready()
port.run()
