// Package admin is the operator's service of a node: what runs on it, how it does,
// and how it is steered, asked from any node of the cluster.
//
// # Nouns
//
//   - The service is a process registered as actornode; [Start] starts it, with
//     what only the daemon knows in a [Config].
//   - A request is a term in an ordinary call, so that it comes over any protocol,
//     and from Erlang. The functions of this package make requests from Go.
//   - A target is a process as an operator names it: a PID, a registered name, or
//     text as [Processes] prints it.
//   - A [Stream] brings what happens as it happens: messages of processes that are
//     traced ([Trace]), dead letters ([DeadLetters]).
//
// The client needs a node of its own, or a process on one:
//
//	err := admin.Start(ctx, n, admin.Config{Version: "1.2"})                 // on the node to be seen
//
//	s, err := admin.Status(ctx, from, "go@host")                          // anywhere
//	top, err := admin.Processes(ctx, from, "go@host", admin.Query{Sort: admin.ByMailbox, Limit: 20})
//	trace, err := admin.Trace(ctx, from, "go@host", admin.TraceQuery{Targets: []any{"counter"}})
//	for e := range trace.C { … }
//
// # Requests
//
// Each is the body of a '$gen_call', as gen_server:call({actornode, 'go@host'},
// Request) makes it. The answer is {ok, Result} or {error, {Code, Text}}: Code is
// an atom to branch on, see [Error], Text a binary for people.
//
//	status                            map of [Summary]
//	nodes                             list of maps of [Peer]
//	ps, {ps, Query}                   map of [Listing]; Query is a map of [Query]
//	tree, {tree, #{limit => N}}       map of [Forest]
//	{info, Target}                    map of [Detail]
//	{send, Target, Message}           the pid, or true: it has been sent to
//	{call, Target, Body, Ms}          what the process replies
//	{spawn, M, F, Args}               the pid; what the node exports, nothing else
//	{spawn, M, F, Args, Name}         the same, registered
//	{exit, Target, Reason}            the pid that was signalled, as by exit/2; kill kills
//	{register, Name, Target}          the pid
//	{unregister, Name}                the pid that had the name
//	{connect, Node}                   true
//	{disconnect, Node}                true, or false: there was no connection
//	drain                             true, when the node has drained
//	stop                              true; then the node stops
//	log_level                         the level: debug, info, warn, error
//	{log_level, Level}                the level as it was
//	{trace, TraceQuery}               map of a stream, see below
//	{deadletters, LetterQuery}        map of a stream
//
// Maps have atoms for keys, the names of the Go fields in snake case; a key that is
// missing is its zero value, one that is unknown is ignored, on both sides: old and
// new releases understand each other. Times are microseconds since 1970, durations
// milliseconds, text binaries. A Target is a pid, an atom, or a binary: a
// registered name, <0.12.0>, <go@host.12.0>, 12.
//
// # Streams
//
// A stream is a process that sends to the pid To of its request, by default the
// caller. It is answered with #{stream => Pid, ref => Ref}; then come
//
//	{actornode, Ref, {events, [Event], Dropped}}
//	{actornode, Ref, {ended, Why}}                     the last; Why is an atom
//
// An Event is a map of [Event] or [Letter]. Dropped is how many events, since the
// stream began, nobody will see. What bounds a stream:
//
//   - window events at most are under way to the client. {more, N}, sent to the
//     stream's pid by whoever has seen N of them, makes room; infinity for a client
//     that wants to do without, and whose mailbox then holds what it does not take.
//   - buffer events wait in the stream for that; what comes then is dropped, and
//     counted.
//   - after max events the stream has ended: Why is max.
//
// The message stop ends it too (stopped), and so does the exit of To, or the loss
// of the connection to it. A trace ends when all its processes have (exited).
// A message in an event is cut to [TraceQuery].Size.
//
// # Invariants
//
//  1. The service never waits: what may take long is done by a process of its own,
//     Config.Workers of them at a time; then the answer is busy.
//  2. An answer, a stream's buffer and the number of streams are bounded.
//  3. A stream outlives neither its client nor the node, nor the client's interest.
//  4. What is asked with [Config].ReadOnly changes nothing but who is looked at.
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
// Events are lost as said above. A trace shows a message when it is put into the
// mailbox, before the process sees it, in the order of one sender's messages; the
// reply to a node.Call is no message and is not shown.
//
// By default a node that knows the cookie may ask for everything. [Config].Operators
// names those that may do more than look, [Config].Allow decides for each request.
// Who asks is the node over whose connection the request has come, not the one that the
// request names. But what a node is called is what it says in the handshake, which the
// cookie alone does not prove: cookies of single peers or TLS do. ReadOnly holds
// against everybody.
//
// What changes something or shows messages is logged, one line "operator action" each,
// with who has asked, the address, the arguments in brief and the outcome, refusals
// included. Messages and arguments of functions are not in it.
//
// # When the service ends
//
// The node starts it again, see [Start]. Requests that a worker has in hand are answered
// by the worker, streams go on; those in the mailbox are lost, and their callers' monitors
// tell them. Other nodes cannot end it but by {exit, actornode, Reason}.
package admin
