// Package port runs operating-system processes as actors. A program in any language
// that reads frames from stdin and writes frames to stdout gets a PID; processes can
// call, link, monitor and supervise it like any process of the node.
//
// # Nouns
//
//   - A port is an Actor, made by [New] from a [Config]. Its program is one
//     operating-system process, which starts and ends with the port.
//   - A frame is one message between the two: bytes after their length. "Frames" below
//     has the contents; a [Codec] determines how terms are written.
//   - The runner is a second process that supervises the program until it is gone, even
//     if the port is killed.
//
// A program in Python as the child of a supervisor (see deploy/samples/port for the
// program and what it imports):
//
//	supervisor.Child{
//		ID: "pycounter",
//		Start: func(...any) (node.Actor, error) {
//			return port.New(port.Config{Command: "python3", Args: []string{"counter.py"}, Ready: 10 * time.Second}), nil
//		},
//		Options: node.Options{Name: "pycounter"},
//	}
//
//	sum, err := node.Call[int](ctx, n, node.Atom("pycounter"), wire.Tuple{wire.Atom("add"), 5})
//
// and from Erlang, gen_server:call({pycounter, 'go@127.0.0.1'}, {add, 5}). In a file
// that package supervisor/tree reads, with [Make] or once [Allow] has been called:
//
//	children:
//	  - name: pycounter
//	    start: port:start
//	    args:
//	      - {command: python3, args: [counter.py], ready: 10s}
//
// # Frames
//
// On stdin and on stdout, back to back:
//
//	bytes  4                  n
//	       length n, 32 bits  one term
//	       big-endian, not 0
//
// which is Erlang's {packet, 4}. With the codec MsgPack the term is an array whose
// first element, the word, is a str; terms inside are as package internal/wire/pack writes and
// reads them for other languages, without a cache: see "Other languages" and "Bytes"
// there. With ETF the term is a tuple whose first element is an atom, as
// term_to_binary writes it, with the version byte 131.
//
// With MsgPack and Plain, Go's nil and nil pointers are nil, as the atom undefined is: None in Python. A nil that the program
// writes is undefined, which package node reads as a nil pointer. Lists without elements are empty arrays, nil slices of Go as
// well. With ETF, nil is [], as for Erlang.
//
// With Plain the port writes neither extensions nor bin, as in msgpack before
// 2013: atoms (true, false and undefined apart) and binaries are str, tuples are
// arrays, and all else that would need an extension is the map {"$etf": str} with the
// term in Erlang's external format, which the program can only send back. The port
// reads as with MsgPack, except that an array is always a list unless it begins with a
// mark, and reads three maps of one pair: {"$atom": name}, {"$tuple": array}, {"$etf": str}.
//
// The table has the fields that follow the word; id is an integer of 64 bits.
//
//	to the program
//	start   self, node, init     the first frame: the port's pid, the node's name, Config.Init
//	call    id, body, caller     a call, to be answered with the id; caller is a pid, or undefined (nil)
//	cast    body                 a cast
//	info    message              any other message
//	answer  id, value            to a call of the program's
//	error   id, reason           a call by the program has failed: noproc, timeout, an exit reason, …
//	down    id, object, reason   what the program monitors is gone; object is a pid or {name, node}
//	exit    pid, reason          an exit signal, for a program that traps; pid may be undefined
//	stop    reason               the program must end; the end of stdin follows
//	trace   traceparent          the trace of the next call, cast or info; undefined (nil): of none. See "Traces"
//
//	from the program
//	ready                        it has started: see Config.Ready
//	reply   id, value            answers a call
//	error   id, reason           answers a call with an error: Erlang's {error, Reason}, Go's [*Error]
//	send    to, message          sends a message
//	cast    to, body             sends a cast
//	call    id, to, body         calls, for 5 s at most; the program chooses a free id
//	call    id, to, body, ms     calls, for so long; nil, or infinity, for ever
//	link    pid
//	unlink  pid
//	monitor id, to               the program chooses a free id
//	demonitor id
//	trap    bool                 whether exit signals are frames, or end the port
//	signal  pid, reason          an exit signal, as exit/2 sends it
//	exit    reason               ends the port, with that reason
//	trace   traceparent          the trace of the next send, cast or call; nil: of none
//
// to is a pid, a reference that is an alias, a name (an atom or text), or a tuple or
// an array of a name and a node. Later versions may add words and fields: a program
// must ignore a word that it does not know, and fields after those that it knows. A
// port ignores neither; see badframe.
//
// A frame \x00\x00\x00\x11 94 a4 "call" 01 93 c0 c7 03 01 "add" 05 c0 is the call
// {add, 5} with the id 1 of a plain goroutine; \x00\x00\x00\x09 93 a5 "reply" 01 05
// is its answer. A program must not print to stdout, which is for frames only. It can
// print to stderr; the port logs those lines.
//
// # Traces
//
// A message whose trace token has a W3C traceparent as its label (see packages seqtrace and otel) comes after a frame trace. A
// program that knows this word continues the trace by a frame trace, with that traceparent or one of a span of its own, before
// what it sends; it must write none before it has got one. A message without a trace has no frame trace before it.
//
// # How it ends
//
// The exit reason of a port is one of these; the list is closed.
//
//	normal                        the program has exited with 0
//	{exit_status, N}              with N
//	{signal, Name}                by a signal: sigkill, sigsegv, …
//	{badframe, Text}              it has written an invalid frame, or one that is impossible
//	{frame_too_large, N, Max}     it has announced a frame of N bytes
//	{stdin_stalled, Ms}           it has read nothing for Config.Stall while bytes waited
//	stdin_closed                  it has closed its stdin without exiting
//	stdout_closed                 its stdout
//	start_timeout                 it has not been ready within Config.Ready
//	{not_started, Errno | Text}   it could not be run: enoent, eacces, …
//	{bad_config, Text}            the Config is impossible
//	Reason                        of the program's own frame exit; of sys:terminate; of
//	                              the parent, or of another signal that is not trapped
//	killed
//
// To end a program, the port first sends the frame stop and closes stdin. If the program
// has not exited within Config.Grace, its process group gets SIGTERM, and after the same
// time again SIGKILL. After a fault of the program it gets SIGTERM at once; if the port
// is killed, SIGKILL. When the program has exited, what it started in its process group
// is killed. The port ends after the program has been reaped, so that the next program
// can use the same files and network ports. Only a killed port ends earlier.
//
// A program must exit when its stdin ends: it gets no other sign if the node itself is
// killed. It must answer each call, with an error if it has no result: nobody knows
// whether a caller on another node still waits. When Config.Open calls wait, the next
// call is answered with [ErrBusy]. If the program has more calls, monitors or links than
// that open itself, the port ends with badframe.
//
// # Invariants
//
//  1. The runner lives until the program has been reaped, and [node.Node.Stop] waits
//     for it.
//  2. What the program writes is handled in order, and its messages to one process
//     arrive in order; so do messages to it. The two directions never wait for each
//     other.
//  3. Config bounds the memory that a program can use: Queue and one frame towards it,
//     1 MiB of frames and one more from it (as terms about 50 times that, or 100 times
//     in a large map), Open calls, monitors and links. A length in a header allocates
//     nothing by itself.
//  4. While Queue is used up the port takes no messages: they wait in its mailbox, in
//     order. Bound the mailbox with Options.Bounds to make senders wait.
//  5. When the runner has ended, no file and no goroutine of the port remains.
//
// # Goroutines
//
//	name      started by  ends with                                 owns
//	runner    Init        the program, and all those below          the pipes
//	writer    the runner  the end of stdin, or the program          stdin
//	reader    the runner  the end of stdout, a bad frame            stdout
//	stderr    the runner  the end of stderr                         stderr
//	reaper    the runner  the program (it holds a thread meanwhile)  the exit status
//
// After the program's exit the port reads what is left in the pipes, up to 1 MiB, until
// nothing arrives for 250 ms: a process that left the process group may hold them open.
//
// # What can be lost
//
// Messages that the program has not read when it ends are lost, as with any process. A
// message may be impossible to write: a Go value that is not a term, or a message larger
// than Config.Frame. A caller then gets an error; other messages are logged and counted
// (Info.Refused). A message that the program sends to an unregistered name is logged.
// Of the lines of stderr above Config.LogRate a second all but the last are only counted,
// and lines longer than 4 KiB are cut. A restarted program does not know the calls to its
// predecessor: their callers get the exit reason.
//
// # Limits and versions
//
// A frame has at most 2 GiB, whatever Config says. Terms have at most 500 levels with
// msgpack and 100,000 with ETF, and at most 4,194,304 elements. A mailbox of your own
// (Options.Mailbox) must accept signals when it is full, as mailbox.Forcer does. While a
// port is suspended (package sys) it handles nothing from its program, not even its
// exit. Systems without process groups can only kill the program. On systems other than
// Linux the rest of a process group is signalled after the program has been reaped, when
// the number of the group could already belong to another one.
//
// A program cannot register a name by a frame: names belong to the child specification,
// which outlives the program. Monitors of a program have ids that it chooses itself, not
// references.
package port
