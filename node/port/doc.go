// Package port runs operating-system processes as actors: a program in any
// language, that reads frames from its stdin and writes frames to its stdout, has a
// PID, is called, linked, monitored and supervised like any process of the node.
//
// # Nouns
//
//   - A port is an Actor, made by [New] from a [Config]; its program is one
//     operating-system process, as old as it.
//   - A frame is one message between the two: bytes with their length in front. What
//     is in it is said in "Frames" below; a [Codec] says how terms are written.
//   - The keeper is a process beside the port that holds on to the program until it
//     is gone, even if the port is killed.
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
// that package supervisor/tree reads, with [Make] or once [Export] has been called:
//
//   - name: pycounter
//     start: port:start
//     args:
//   - {command: python3, args: [counter.py], ready: 10s}
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
// first element, the word, is a str; terms inside are as package wire/pack writes and
// reads them for other languages, without a cache: see "Other languages" and "Bytes"
// there. With ETF the term is a tuple whose first element is an atom, as
// term_to_binary writes it, with the version byte 131.
//
// With Plain what is written has neither extensions nor bin, as in msgpack before
// 2013: atoms (true, false and undefined apart) and binaries are str, tuples are
// arrays, all else that would need an extension is the map {"$etf": str} with the
// term in Erlang's external format, which the program can only send back. What is
// read is as with MsgPack, but that an array is always a list unless it begins with a
// mark, and three maps of one pair: {"$atom": name}, {"$tuple": array}, {"$etf": str}.
//
// In the table the fields behind the word; id is an integer of 64 bits.
//
//	to the program
//	start   self, node, init     the first frame: the port's pid, the node's name, Config.Init
//	call    id, body, caller     a call, to be answered with the id; caller is a pid, or undefined (nil)
//	cast    body                 a cast
//	info    message              any other message
//	answer  id, value            to a call of the program's
//	error   id, reason           a call of the program's has failed: noproc, timeout, an exit reason, …
//	down    id, object, reason   what the program monitors is gone; object is a pid or {name, node}
//	exit    pid, reason          an exit signal, for a program that traps; pid may be undefined
//	stop    reason               the program is to end; the end of stdin follows
//
//	from the program
//	ready                        it has started: see Config.Ready
//	reply   id, value            answers a call
//	error   id, reason           answers a call with an error: Erlang's {error, Reason}, Go's [*Error]
//	send    to, message          sends a message
//	cast    to, body             sends a cast
//	call    id, to, body         calls, for 5 s at most; the program chooses an id that is free
//	call    id, to, body, ms     calls, for so long; nil, or infinity, for ever
//	link    pid
//	unlink  pid
//	monitor id, to               the program chooses an id that is free
//	demonitor id
//	trap    bool                 whether exit signals are frames, or end the port
//	signal  pid, reason          an exit signal, as exit/2 sends it
//	exit    reason               ends the port, with that reason
//
// to is a pid, a reference that is an alias, a name (an atom or text), or a tuple or
// an array of a name and a node. Words and fields may be added: a program ignores a
// word that it does not know, and fields behind those it knows. A port does not: see
// badframe.
//
// A frame \x00\x00\x00\x11 94 a4 "call" 01 93 c0 c7 03 01 "add" 05 c0 is the call
// {add, 5} with the id 1 of a plain goroutine; \x00\x00\x00\x09 93 a5 "reply" 01 05
// is its answer. What a program prints must not get into the frames: it writes to
// stderr, whose lines are logged.
//
// # How it ends
//
// The exit reason of a port is one of these; the list is closed.
//
//	normal                        the program has exited with 0
//	{exit_status, N}              with N
//	{signal, Name}                by a signal: sigkill, sigsegv, …
//	{badframe, Text}              it has written a frame that is none, or says the impossible
//	{frame_too_large, N, Max}     it has announced a frame of N bytes
//	{stdin_stalled, Ms}           it has read nothing for Config.Stall while bytes waited
//	stdin_closed                  it has closed its stdin and not exited
//	stdout_closed                 its stdout
//	start_timeout                 it has not been ready within Config.Ready
//	{not_started, Errno | Text}   it could not be run: enoent, eacces, …
//	{bad_config, Text}            the Config is impossible
//	Reason                        of the program's own frame exit; of sys:terminate; of
//	                              the parent, or of another signal that is not trapped
//	killed
//
// The program is asked first: stdin ends, behind a frame stop. If it has not exited
// within Config.Grace, its process group gets SIGTERM, after as long again SIGKILL.
// One that is at fault is sent SIGTERM at once; if the port is killed, SIGKILL.
// Whatever the program has started and left in its process group is killed when it
// has exited. The port ends when the program has been reaped, so the next one may
// have its files and ports; only a port that is killed ends before.
//
// A program must exit when its stdin ends: nothing else reaches it if the node
// itself is killed. And it must answer each call, with an error if need be: of a
// caller on another node nobody knows whether it still waits, and when Config.Open
// calls wait, the next is answered with [ErrBusy]. More calls, monitors or links of
// its own than that are a badframe.
//
// # Invariants
//
//  1. While a program has not been reaped its keeper is there, and [node.Node.Stop]
//     waits for that.
//  2. What the program writes is handled in order, and its messages to one process
//     arrive in order; so do messages to it. The two directions never wait for each
//     other.
//  3. Memory on account of a program is bounded by its Config: Queue and one frame
//     towards it, 1 MiB of frames and one more from it (as terms, some 50 times that,
//     or 100 in a large map), Open calls, monitors and links. A length in a header
//     makes nothing be allocated.
//  4. While Queue is used up the port takes no messages: they wait in its mailbox,
//     in order. Bound it with Options.Limits, and senders feel it.
//  5. No file and no goroutine of a port is there when its keeper has ended.
//
// # Goroutines
//
//	name      started by  ends with                                 owns
//	keeper    Init        the program, and all those below          the pipes
//	writer    the keeper  the end of stdin, or the program          stdin
//	reader    the keeper  the end of stdout, a bad frame            stdout
//	stderr    the keeper  the end of stderr                         stderr
//	reaper    the keeper  the program (it holds a thread meanwhile)  the exit status
//
// After the program's exit what is still in the pipes is read, up to 1 MiB, until
// 250 ms bring nothing: somebody who has left the process group may hold them open.
//
// # What can be lost
//
// Messages that the program has not read when it ends, as with any process. A
// message that cannot be written (a Go value that is no term, or one larger than
// Config.Frame) is an error for a caller, and else logged and counted (Info.Refused);
// a message that the program sends to a name that nobody has is logged. Lines of
// stderr beyond Config.LogRate a second are counted, those beyond 4 KiB cut. A
// program that starts again knows nothing of what its predecessor has been asked:
// the callers get the exit reason.
//
// # Limits and versions
//
// A frame has at most 2 GiB, whatever Config says; terms are nested 500 deep at most
// with msgpack, 100,000 with ETF, and have 4,194,304 elements. A mailbox of the
// user's own (Options.Mailbox) must take signals when it is full, as mailbox.Forcer
// does. While a port is suspended (package sys) nothing of its program is looked at,
// its exit included. On systems without process groups there is only killing; on
// those other than Linux the rest of a group is signalled after the program has been
// reaped, when the group's number might be another's.
//
// There is no frame to register a name: that is the child specification's, which
// outlives the program. References of monitors are not shown to programs: an id of
// their own is less to keep.
package port
