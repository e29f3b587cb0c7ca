"""Programs in Python as actors of an actornode.

    from actornode_port import Port, Atom

    port = Port()

    @port.on_call
    def call(body, caller):
        return (Atom("ok"), body)      # or: raise port.Error(reason)

    port.run()

A handler whose message belongs to a trace of OpenTelemetry finds its traceparent in
port.trace. What it sends and calls belongs to that trace, or to the span whose
traceparent it puts there.

How terms look here (see docs/protocols.md of actornode): integers, floats, True,
False and lists are themselves, None is the atom undefined and Go's nil (an empty
list, and a nil slice, are []), a binary is bytes (str is written as one), an atom is an Atom, a tuple a tuple, a map a dict; a list in a
key of a dict is a List. Pids and references are an Ext, funs and improper lists a
Marked: keep it, compare it, send it back. A map in a key of a map is more than a
dict can hold, and of the keys 1, 1.0 and True it holds one.

Needs nothing but Python 3.8; takes the package msgpack where it is installed.
"""
import collections
import os
import struct
import sys

try:
    import msgpack
except ImportError:
    msgpack = None

ATOM, INTEGER, MARK = 1, 7, 9
Ext = collections.namedtuple("Ext", "code data")


class Atom(str):
    """An Erlang atom."""

    __slots__ = ()

    def __repr__(self):
        return "Atom(%s)" % str.__repr__(self)


class List(tuple):
    """A list where Python wants a tuple: in a key of a dict. It equals no tuple."""

    __slots__ = ()

    def __eq__(self, other):
        return isinstance(other, List) and tuple.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash((List, tuple.__hash__(self)))


class Marked(tuple):
    """What is written as an array with a mark in front: the mark and the elements."""

    __slots__ = ()


_LIST = Ext(MARK, b"\0")  # the mark of a list that begins with None


def _key(o):
    """o, as it can be a key of a dict."""
    if isinstance(o, list):
        return List(_key(e) for e in o)
    return type(o)(_key(e) for e in o) if type(o) in (tuple, Marked) else o


def _array(l):
    """What an array stands for, by its first element."""
    if not l or l[0] is not None and not (isinstance(l[0], Ext) and l[0].code == MARK):
        return l
    if l[0] is None:
        return tuple(l[1:])
    return l[1:] if l[0] == _LIST else Marked(l)


def _elements(o):
    """The array that stands for a list, a tuple, a List or a Marked."""
    if type(o) is tuple:
        return (None, *o)
    return (_LIST, *o) if not isinstance(o, Marked) and o and o[0] is None else o


def _to_ext(o):
    """The extension that stands for o."""
    if isinstance(o, Atom):
        return ATOM, o.encode()
    if isinstance(o, int):
        n = abs(o)
        return INTEGER, bytes([o < 0]) + n.to_bytes((n.bit_length() + 7) // 8, "big")
    if isinstance(o, Ext):
        return o
    raise TypeError("no term: %r" % (o,))


def _from_ext(code, data):
    data = bytes(data)
    if code == ATOM:
        return Atom(data.decode())
    if code == INTEGER:
        n = int.from_bytes(data[1:], "big")
        return -n if data[0] else n
    return Ext(code, data)


def _small(n):
    return -(1 << 63) <= n < 1 << 64


if msgpack:

    def packb(o):
        # strict_types leaves what is not exactly one of msgpack's own types to default.
        return msgpack.packb(_own(o), default=_default, strict_types=True)

    def _default(o):
        if isinstance(o, (tuple, list)) and not isinstance(o, Ext):
            return [_own(e) for e in _elements(o)]
        return msgpack.ExtType(*_to_ext(o))

    def _own(o):
        """o, where msgpack would write it otherwise than we."""
        if type(o) is str:
            return o.encode()
        if type(o) is list:
            return [_own(e) for e in _elements(o)]
        if type(o) is dict:
            return {_own(k): _own(v) for k, v in o.items()}
        return msgpack.ExtType(*_to_ext(o)) if type(o) is int and not _small(o) else o

    def unpackb(b):
        pairs = lambda l: {_key(k): v for k, v in l}
        return msgpack.unpackb(b, raw=True, strict_map_key=False, ext_hook=_from_ext, list_hook=_array, object_pairs_hook=pairs)

else:

    def packb(o):
        out = bytearray()
        _pack(o, out)
        return bytes(out)

    def _head(out, n, fix, fixmax, codes):
        """The header of something with a length: one byte, or a code and the length."""
        if n <= fixmax:
            out.append(fix | n)
            return
        for code, fmt, limit in codes:
            if n < limit:
                out += bytes([code]) + struct.pack(fmt, n)
                return
        raise ValueError("too long")

    _B, _H, _I = (">B", 1 << 8), (">H", 1 << 16), (">I", 1 << 32)

    def _pack(o, out):
        if o is None or o is True or o is False:
            out.append({None: 0xC0, False: 0xC2, True: 0xC3}[o])
        elif isinstance(o, int) and not _small(o):
            _pack_ext(_to_ext(o), out)
        elif isinstance(o, int):
            if -32 <= o < 128:
                out += struct.pack("b", o) if o < 0 else bytes([o])
            elif o >= 0:
                out += b"\xcf" + struct.pack(">Q", o)
            else:
                out += b"\xd3" + struct.pack(">q", o)
        elif isinstance(o, float):
            out += b"\xcb" + struct.pack(">d", o)
        elif isinstance(o, (bytes, bytearray)) or type(o) is str:
            b = o.encode() if type(o) is str else o
            _head(out, len(b), 0, -1, [(0xC4, *_B), (0xC5, *_H), (0xC6, *_I)])
            out += b
        elif isinstance(o, (list, tuple)) and not isinstance(o, Ext):
            o = _elements(o)
            _head(out, len(o), 0x90, 15, [(0xDC, *_H), (0xDD, *_I)])
            for e in o:
                _pack(e, out)
        elif isinstance(o, dict):
            _head(out, len(o), 0x80, 15, [(0xDE, *_H), (0xDF, *_I)])
            for k, v in o.items():
                _pack(k, out)
                _pack(v, out)
        else:
            _pack_ext(_to_ext(o), out)

    def _pack_ext(ext, out):
        code, data = ext
        n = len(data)
        if n in (1, 2, 4, 8, 16):
            out += bytes([0xD4 + n.bit_length() - 1, code])
        else:
            _head(out, n, 0, -1, [(0xC7, *_B), (0xC8, *_H), (0xC9, *_I)])
            out.append(code)
        out += data

    def unpackb(b):
        o, at = _unpack(b, 0)
        if at != len(b):
            raise ValueError("bytes behind the term")
        return o

    _fixed = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
    _sized = {0xC4: ">B", 0xC5: ">H", 0xC6: ">I", 0xC7: ">B", 0xC8: ">H", 0xC9: ">I", 0xD9: ">B", 0xDA: ">H", 0xDB: ">I",
              0xDC: ">H", 0xDD: ">I", 0xDE: ">H", 0xDF: ">I"}

    def _unpack(b, at):
        c = b[at]
        at += 1
        if c < 0x80:
            return c, at
        if c >= 0xE0:
            return c - 256, at
        if c in (0xC0, 0xC2, 0xC3):
            return {0xC0: None, 0xC2: False, 0xC3: True}[c], at
        if c in _fixed:
            return struct.unpack_from(_fixed[c], b, at)[0], at + struct.calcsize(_fixed[c])
        n = 0
        if c in _sized:
            n, at = struct.unpack_from(_sized[c], b, at)[0], at + struct.calcsize(_sized[c])
        if c < 0x90 or c in (0xDE, 0xDF):
            d = {}
            for _ in range(c & 15 if c < 0x90 else n):
                k, at = _unpack(b, at)
                d[_key(k)], at = _unpack(b, at)
            return d, at
        if c < 0xA0 or c in (0xDC, 0xDD):
            l = []
            for _ in range(c & 15 if c < 0xA0 else n):
                e, at = _unpack(b, at)
                l.append(e)
            return _array(l), at
        ext = 0xC7 <= c <= 0xC9 or 0xD4 <= c <= 0xD8
        if not ext and not (c < 0xC0 or c in _sized):
            raise ValueError("byte 0x%x" % c)
        if 0xD4 <= c <= 0xD8:
            n = 1 << (c - 0xD4)
        elif c < 0xC0:
            n = c & 31
        code = 0
        if ext:
            code, at = struct.unpack_from("b", b, at)[0], at + 1
        data = bytes(b[at : at + n])
        if len(data) < n:
            raise ValueError("cut")
        return _from_ext(code, data) if ext else data, at + n


class Port:
    """The node, as a program sees it."""

    class Error(Exception):
        """What a call is answered with in place of a reply: {error, Reason}."""

        def __init__(self, reason):
            super().__init__(reason)
            self.reason = reason

    LATER = object()  # returned from on_call: the answer is reply(port.call_id, value), later

    def __init__(self):
        # What prints must not print into the frames.
        self._in = os.fdopen(os.dup(0), "rb")
        self._out = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        self.me = self.node = self.init = self.call_id = None
        self._on = {}
        self._kept = collections.deque()  # frames that came while a call waited
        self._last = 0
        self.trace = None  # while a handler runs: the W3C traceparent that its message came with, a str, or None
        self._next = None  # of the next message
        self._step(self._read())  # start

    def on_call(self, f):
        """f(body, caller) answers a call: its result is the reply."""
        return self._handle("call", f)

    def on_cast(self, f):
        """f(body) is told of a cast."""
        return self._handle("cast", f)

    def on_info(self, f):
        """f(message) is told of any other message."""
        return self._handle("info", f)

    def on_down(self, f):
        """f(id, object, reason) is told that what monitor(id, object) watches is gone."""
        return self._handle("down", f)

    def on_exit(self, f):
        """f(pid, reason) is told of exit signals, which end the program else."""
        self._write("trap", True)
        return self._handle("exit", f)

    def on_stop(self, f):
        """f(reason) is told that the program is to end."""
        return self._handle("stop", f)

    def _handle(self, word, f):
        self._on[word] = f
        return f

    def ready(self):
        """The program has started: for those whose config has ready."""
        self._write("ready")

    def reply(self, id, value):
        self._write("reply", id, value)

    def send(self, to, message):
        """to is a pid, a name, or (name, node)."""
        self._traced("send", to, message)

    def cast(self, to, body):
        self._traced("cast", to, body)

    def call(self, to, body, timeout=5.0):
        """Calls another process and returns its reply. Raises Error."""
        self._last += 1
        id = self._last
        self._traced("call", id, to, body, None if timeout is None else int(timeout * 1000))
        while True:
            f = self._read()
            if f is None:
                raise EOFError("the node has closed our stdin")
            if f[0] == b"answer" and f[1] == id:
                return f[2]
            if f[0] == b"error" and f[1] == id:
                raise self.Error(f[2])
            self._kept.append(f)

    def link(self, pid):
        self._write("link", pid)

    def monitor(self, id, to):
        self._write("monitor", id, to)

    def signal(self, pid, reason):
        self._write("signal", pid, reason)

    def exit(self, reason):
        """Ends this actor with an exit reason; run returns soon after."""
        self._write("exit", reason)

    def run(self):
        """Handles what comes until there is no more."""
        while True:
            f = self._kept.popleft() if self._kept else self._read()
            if f is None:
                return
            self._step(f)

    def _step(self, f):
        word, args = f[0].decode(), f[1:]
        if word == "trace":
            self._next = args[0] if args[0] is None else args[0].decode()
            return
        if word in ("call", "cast", "info"):
            self.trace, self._next = self._next, None
        try:
            self._do(word, args)
        finally:
            self.trace = None

    def _do(self, word, args):
        if word == "start":
            self.me, self.node, self.init = args[:3]
        elif word == "call":
            self.call_id, body, caller = args[:3]
            try:
                if "call" not in self._on:
                    raise self.Error(Atom("undef"))
                value = self._on["call"](body, caller)
            except self.Error as e:
                self._write("error", args[0], e.reason)
            else:
                if value is not self.LATER:
                    self._write("reply", args[0], value)
        elif word in self._on:
            self._on[word](*args)

    def _read(self):
        head = self._in.read(4)
        if len(head) < 4:
            return None
        (n,) = struct.unpack(">I", head)
        body = self._in.read(n)
        return unpackb(body) if len(body) == n else None

    def _traced(self, word, *fields):
        """Writes a frame that belongs to the trace of the handler, or to the one that it has put into trace."""
        if self.trace is not None:
            self._write("trace", self.trace)
        self._write(word, *fields)

    def _write(self, word, *fields):
        b = packb([word, *fields])
        self._out.write(struct.pack(">I", len(b)) + b)
        self._out.flush()
