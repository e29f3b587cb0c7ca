// Package admin is the operator service of a node. From any node of the cluster it shows
// what runs on the node and how busy it is, and it controls the node.
//
// # Nouns
//
//   - The service is a process registered as actornode. [Start] starts it; its [Config]
//     holds what only the daemon knows.
//   - A request is a term in an ordinary call, so that it works over any protocol, and
//     from Erlang.
//   - A target is a process as an operator names it: a PID, a registered name, or text as
//     actornode ps prints it.
//   - A stream is a process that sends events as they happen: messages of traced processes,
//     or dead letters.
//
// A program starts the service on its node, and then the command line can be used with it as
// with the daemon: actornode status --node go@host.
//
//	err := admin.Start(ctx, n, admin.Config{Version: "1.2"})
//
// Every process of the cluster can make a request, too:
//
//	service := node.At{Name: "actornode", Node: "go@host"}
//	status, err := node.Call[wire.Tuple](ctx, from, service, wire.Atom("status"))    // {ok, Map}
//	ps, err := node.Call[wire.Tuple](ctx, from, service,
//		wire.Tuple{wire.Atom("ps"), wire.NewMap(wire.Atom("sort"), wire.Atom("mailbox"))})
//
// # Requests
//
// Each is the body of a '$gen_call', as gen_server:call({actornode, 'go@host'},
// Request) makes it. The answer is {ok, Result} or {error, {Code, Text}}: Code is
// an atom to branch on (bad_request, busy, not_allowed, not_supported, no_process, timeout …), Text
// a binary for people.
//
//	status                            map: how the node does
//	nodes                             list of maps: the nodes it is connected to
//	ps, {ps, Query}                   map: processes; Query is a map
//	waits, {waits, WaitQuery}         map: processes that wait for others, and cycles of such
//	tree, {tree, #{limit => N}}       map: applications and supervisors
//	{info, Target}                    map: all about a process
//	{profile, ProfileQuery}           map of a stream of {bytes => Binary}: a profile of the program, see below
//	{stack, Target}                   map: the Go stack of a process, or why it has none
//	{send, Target, Message}           the pid, or true: it has been sent to
//	{call, Target, Body, Ms}          what the process replies
//	{spawn, M, F, Args}               the pid; what the node exports, nothing else
//	{spawn, M, F, Args, Name}         the same, registered
//	{exit, Target, Reason}            the pid that was signalled, as by exit/2; kill kills
//	{exit, Target, Reason, Ms}        {Pid, ExitReason}, when it has exited
//	{register, Name, Target}          the pid
//	{unregister, Name}                the pid that had the name
//	{connect, Node}                   true
//	{disconnect, Node}                true, or false: there was no connection
//	drain                             true, when the node has drained
//	stop                              true; then the node stops
//	log_level                         the level: debug, info, warn, error
//	{log_level, Level}                the level as it was
//	log_levels                        the levels of processes: a list of maps with name or behaviour or both, and level
//	{log_levels, Map}                 the same, after the level of Map is set; without a level it is taken back
//	{trace, TraceQuery}               map of a stream, see below
//	{deadletters, LetterQuery}        map of a stream
//
// Maps have atoms for keys. Those of answers are the fields that the command line prints as
// JSON; those of a Query, of a TraceQuery and of a LetterQuery are:
//
//	Query        sort (pid, name, mailbox, handled, rate, memory …), reverse, limit, window, text, state,
//	             mailbox (at least so many messages), registered, by (behaviour, code, parent: groups)
//	WaitQuery    limit, cycles (only those that wait for each other), away (also those that wait for other nodes)
//	ProfileQuery kind (cpu, heap, goroutine, trace), for (of cpu and trace: how long, at most 5 minutes)
//	TraceQuery   targets, events (receive, send, signal, exit, spawn, name), children, size
//	LetterQuery  causes, size
//
// A key that is missing is its zero value, one that is unknown is ignored, on both sides: old and
// new releases understand each other. Times are microseconds since 1970, durations
// milliseconds, text binaries. A Target is a pid, an atom, or a binary: a
// registered name, <0.12.0>, <go@host.12.0>, 12.
//
// # Streams
//
// A stream is a process that sends to the pid To of its request, by default the
// caller. The answer to the request is #{stream => Pid, ref => Ref}. Then the stream sends
//
//	{actornode, Ref, {events, [Event], Dropped}}
//	{actornode, Ref, {ended, Why}}                     the last; Why is an atom
//
// An Event is a map. Dropped counts the events that were dropped
// since the stream began. These options bound a stream:
//
//   - window: at most this many events are sent and not yet acknowledged. The client
//     acknowledges N events by sending {more, N} to the stream's pid. With infinity no
//     acknowledgement is needed, and the client's mailbox holds what it has not read.
//   - buffer: at most this many events wait in the stream. Further ones are dropped and
//     counted.
//   - max: after this many events the stream ends; Why is max.
//
// The message stop ends it too (stopped), and so does the exit of To, or the loss
// of the connection to it. A trace ends when all its processes have (exited).
// A message in an event is cut to the size of the request.
//
// A profile is made first, and then sent in events of 64 KiB, of which at most 16 are on
// their way. Why is complete at its end. Its bytes are a file for go tool pprof or, of kind
// trace, for go tool trace. A trace of 64 MiB ends early. The program makes one cpu profile,
// and one trace, at a time: a second request is answered with busy.
//
// # Invariants
//
//  1. The service never waits: each request that may take long runs in a process of its
//     own. Above Config.Workers of them the answer is busy.
//  2. An answer, a stream's buffer and the number of streams are bounded.
//  3. A stream ends with its client, with the node, and when its client closes it.
//  4. With [Config].ReadOnly no request changes anything but what is being traced.
//
// # Goroutines
//
//	name      started by          ends with                  owns
//	worker    a request           its answer, or the node    nothing: a Process
//	pump      a stream            the stream                 the source of its events
//	reader    a client's Stream   Close, its end, its ctx    the client's handle
//
// # What can be lost, and who may ask
//
// Events are dropped as described above. A trace shows a message when it is put into the
// mailbox, before the process handles it; messages of one sender keep their order. The
// reply to a node.Call is not a message and is not shown.
//
// By default every node that knows the cookie may make every request. [Config].Operators
// names the nodes that may do more than look; [Config].Allow decides about each request.
// The requesting node is the one whose connection the request came over, not the one
// that the request names. A node chooses its name itself in the handshake; the cookie
// alone does not prove that name, but cookies for single peers or TLS do. ReadOnly
// applies to every node.
//
// A stack and a profile change nothing, and are made with ReadOnly, too. But they cost: for a
// stack the program stands still for some 10 µs for each goroutine, a cpu profile takes some
// percent of the CPU while it is made. So they are for Operators, need the right profile of
// package node/rights, and are logged.
//
// Each request that changes something, shows messages, or measures at a cost is logged in one line,
// "operator action", with the requesting node, its address, the shortened arguments and
// the outcome. Refused requests are logged, too. Messages and the arguments of functions
// are not logged.
//
// # When the service ends
//
// The node restarts it, see [Start]. Workers answer the requests that they have, and
// streams continue. Requests in the mailbox are lost; the monitors of their callers fire.
// Other nodes can end the service only with {exit, actornode, Reason}.
package admin
