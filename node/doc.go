// Package node runs processes: lightweight actors with mailboxes, links, monitors and exit reasons, as Erlang has
// them, in one Go program or on many nodes.
//
//	n, err := node.Start(node.Config{})          // a node, which has processes
//	pid, err := n.Spawn(actor)                   // starts a process
//	err = n.Send(pid, msg)                       // puts a message into its mailbox
//	v, err := node.Call[int](ctx, n, pid, 21)    // asks it, and waits for the answer
//	r, ok := msg.(node.Request[int])             // what it gets then: r.Body is 21, and r.Reply(42) answers
//
// A whole program:
//
//	n, err := node.Start(node.Config{})
//	pid, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
//		switch m := msg.(type) {
//		case node.Request[int]:
//			return m.Reply(2 * m.Body)
//		}
//		c.Unknown(msg) // an error would end the process
//		return nil
//	}))
//	twice, err := node.Call[int](ctx, n, pid, 21)
//	err = n.Stop()
//
// There are two ways to write a process, and they look the same from outside:
//
//   - an [Actor] is a value with a Receive method that gets one message at a time. While it waits it has neither a
//     goroutine nor a stack, and costs about 240 bytes. Its handler uses the runtime through a [Context].
//   - a [ProcessFunc] is a function that calls Receive itself, on its own goroutine or, with [Options].Coroutine, as a
//     coroutine on the stages that run Actors. It uses the runtime through a [Process]. Any goroutine can get one from
//     [Node.Open].
//
// Servers (package genserver), state machines (statem), event managers (event) and active objects (active) are Actors
// with more structure; package supervisor restarts processes that fail. With [Config].Distribution all of this works
// between nodes: a [PID] names a process wherever it runs.
//
// A [Future] is a reply that has not come yet: [Async] asks without waiting, [Await] waits. A [deadletter.Letter] is a
// message that could not be delivered. Package node/trace shows what some processes get and do.
//
// The rest of this page is the fine print.
//
// # Semantics
//
// They are Erlang's, as its Reference Manual ("Processes", "Links", "Monitors") and the erts documentation describe
// them; the tests compare with a real OTP node. In particular:
//
//   - Messages from one process to another arrive in the order sent, and an exit signal or a [Down] after the messages
//     that went before it. Delivery is at most once.
//   - Exit signals, links and monitors take effect on the target at once, on the goroutine that sends them: a process
//     that is killed is dead to all others when Exit returns, even if its function still runs. Go cannot stop a
//     function, so it is counted ([observe.Stats].Lingering) until it returns; its context is cancelled, and what it
//     sends goes nowhere.
//   - The reason normal kills nobody else; kill cannot be trapped and is seen as killed; [Context.TrapExit] turns other
//     signals into [Exited] messages; linking to or monitoring a dead process gives noproc.
//   - A process has one registered name at most, and loses it on its exit.
//   - A panic, or an error not made by [ExitWith], becomes the exit reason: a [*Crash] with the stack.
//   - Messages are Go values and are not copied: neither side may change a message once it is sent.
//
// What differs from Erlang, and why: an exit signal may overtake messages that its sender sent before it and that the
// target has not received yet. Erlang's target never sees such messages either, since it is dead; but if one of them
// would have made it trap exits, Erlang might have saved it. Sending to a name that nobody has is an error
// ([ErrNoName]), as badarg is in Erlang; a message to a PID that is gone is a dead letter.
//
// # What can be lost, reordered, duplicated
//
// Nothing is duplicated or, between two processes, reordered. A message is lost when its target has exited or exits
// before it takes the message, when a bounded mailbox is full and its policy says so, and when the node stops. Lost
// messages are counted, streamed and, sampled, logged as dead letters, except those that a process had in its mailbox
// when it exited.
//
// A trace (package node/trace) loses events when its reader is slow, and counts them. It shows a message before it goes
// into the mailbox, so before the process can see it. It also shows a message that is refused then, because the mailbox
// is full or the process has just exited.
//
// # Fairness
//
// An actor handles Config.Budget messages, then the others of its stage have their turn. A handler that sends much is
// suspended now and then to let the others run; a handler that blocks or computes for long loses its stage to another
// worker, and is counted and logged with its stack.
//
// # Other nodes
//
// With Config.Distribution the node is part of a cluster. By default it is found through EPMD, speaks the native
// protocol with nodes of its kind, and the Erlang distribution protocol with all others. You can send to, link, monitor
// and call PIDs of other nodes like those of this one; [At] is a name on a node. The first use of a node connects to
// it. What goes to a peer waits in one queue, in order. When a connection is lost, every link over it breaks and every
// monitor fires with the reason noconnection, calls fail, and [NodeDown] says why. Only then can the node be connected
// again.
//
// Links follow OTP's link protocol. Connections add these rules:
//
//   - While more waits for a peer than Distribution.Limits.Queue, everyone who sends to it, links, monitors or signals
//     waits: until there is space, the connection is lost, or the process is killed. An actor gives up its stage
//     meanwhile. A call does not wait for space: it waits for its answer anyway, as long as its context allows. Exits,
//     and the answers to what the peer asks, never wait.
//   - A send to a process of this node whose mailbox is full and has the policy Block waits until there is space, the
//     receiver exits, or the sender is killed ([ErrExited]). A call waits no longer than its context or timeout.
//   - Nothing that comes from a peer waits. A full mailbox with the policy Block refuses a message from another node,
//     which becomes a dead letter. It does the same with messages of SendInterval, with replies to calls that came as
//     messages, and with what is sent with [SendOptions].NoWait.
//   - A message that cannot be sent to another node, such as one with a value of an unregistered Go type, is a dead
//     letter, and Send fails with a [wire.EncodeError], unless messages wait for the connection. A call with such a
//     request fails with one. An exit reason that is no term is sent as text.
//   - Stop writes the exit signals of its processes, for a second at most, before it closes
//     the connections: links break with shutdown or killed, not with noconnection.
//   - What was given to a connection but has not arrived when the connection is lost, is lost without a dead letter.
//     Distribution.Timing.Grace mends that between nodes of this kind. [Deliver] says what has become of a message.
//
// docs/guarantees.md says what a slow peer can do to others, and what happens at each limit;
// docs/architecture.md who writes to a connection, and when.
//
// Package node/rpc calls functions and starts processes on other nodes by name, and offers what they may call and start
// here by spawn, rpc and erpc. An unknown name is undef, as in OTP. The processes net_kernel and rex answer what OTP
// nodes need. The reader of a connection calls functions that are exported as behaviours: they must be quick.
//
// A trace token of OTP's seq_trace that comes with a message or a spawn is handed on, as in OTP: the process that took
// the message passes it on with what it sends and spawns. Exit signals do not carry it, nor do replies within this
// node.
//
// By default a node connects to the nodes that it uses. With Distribution.Mesh it connects to all that its finder lists
// ([discovery.Lister]); each pair connects once. A [discovery.Chain] combines finders: a list of known places
// ([discovery.Static]), Erlang's port mapper ([discovery.EPMD]), DNS (package node/dns), gossip (package node/gossip).
// Only the failure of a connection ends it: what a finder lists, or no longer lists, ends none. In a mesh of n nodes
// each has n-1 connections.
//
// # Services
//
// A service is a process that the node itself cannot do without. The node restarts it under its name whenever it ends,
// for whatever reason. The services are net_kernel and rex of a distributed node; and, if started, user (package
// node/otp), actornode (node/admin) and pg (node/pg, with Config.Keep).
//
//   - If a service ends too often, the node stops, and [Node.Done], [Node.Err] and [Node.Stop] say why. OTP's
//     kernel_sup ends the node with the first end of net_kernel or rex. docs/guarantees.md says when a service is
//     restarted, and what it has lost then.
//   - The name of a service is reserved as long as the node runs.
//   - A service is protected, as is each process with [Options].Protected: exit signals and group leaders from other
//     nodes are refused, and logged, once a second at most; links of theirs that break do nothing; functions that they
//     call by name do not end it or take its name; system messages that came as terms can only read it. OTP lets a
//     peer do all that to its net_kernel. Code of the program may do everything.
//
// Rights: [Access].Allow decides what peers may start or call by name, whichever way they ask. The peer is always the
// node whose connection the request came over: a process learns it with [Options].ShowPeer, by [From.Peer]. A peer
// states its own name in the handshake; TLS, or cookies of single peers, prove it.
//
// # Goroutines
//
// docs/architecture.md lists all goroutines of a node: who starts each, what ends it, what it owns. [Node.Stop] waits
// for them. Except for those of processes, nobody can end one from outside, and a panic in one ends the program.
//
// # Limits
//
// 134,217,727 processes; a name has at most 255 characters. An unbounded
// mailbox grows with what is sent to it: see [Options].Bounds.
package node
