// Package supervisor is Erlang's supervisor: a process that starts others, its
// children, in order, starts them again when they exit, and stops them in the
// reverse order when it ends itself.
//
// # Nouns
//
//   - A [Spec] describes a supervisor: its [Strategy], how many restarts within
//     which time it stands, and the children it starts with.
//   - A [Child] describes a child: how it is started, after which exits it is
//     started again ([Restart]), how it is stopped, how restarts are spaced
//     ([Backoff]).
//
// A supervisor may be the child of another; what comes of that is a supervision
// tree.
//
//	sup, err := supervisor.Start(ctx, n, supervisor.Spec{
//		Strategy:  supervisor.RestForOne,
//		Intensity: 10, Period: time.Minute,
//		Children: []supervisor.Child{
//			{ID: "store", Start: func(...any) (node.Actor, error) { return stores.New(&store{}), nil },
//				Options: node.Options{Name: "store"}},
//			{ID: "front", Start: newFront, Restart: supervisor.Transient},
//		},
//	}, node.Options{Name: "top"})
//
// # Semantics
//
// Those of OTP's supervisor, whose document is the law; the tests run the same
// scripts on both. What is decided on an exit is in one pure file, decide.go:
//
//	restart    exit normal, shutdown, {shutdown, _}    another exit
//	Permanent  restart                                 restart
//	Transient  stopped; auto shutdown if significant   restart
//	Temporary  forgotten; auto shutdown if significant forgotten; auto shutdown if significant
//
//	strategy         with the child are stopped, in reverse order, and started, in order
//	OneForOne        nobody
//	SimpleOneForOne  nobody
//	RestForOne       those after it
//	OneForAll        all
//
// A restart that fails is tried again by a message of the supervisor to itself, so
// that other requests get a turn; each try counts toward the intensity. One
// restart more than Intensity within Period, and the supervisor stops its
// children and exits with the reason shutdown.
//
// # Protocol
//
// From Go, the functions of this package. From Erlang, what its supervisor module
// sends in a '$gen_call': {start_child, Spec | Args}, {terminate_child, Id},
// {restart_child, Id}, {delete_child, Id}, {get_childspec, Id}, which_children,
// count_children; and system messages, see package sys. {M, F, A} in a Spec from
// Erlang is a behaviour that the node exports, see [node.Node.ExportBehaviour].
//
// # Counters
//
// What goes wrong is logged as supervisor reports, and counted: [Restarts] and
// [Shutdowns] are the names that [node.Node.Counts] knows the counters by.
//
// # Differences from OTP
//
//   - While a child starts, OTP's supervisor hears nothing; this one ends, and
//     kills that child, when its parent says so, and starts none after that. An
//     Init that never returns cannot hold up a shutdown.
//   - Backoff is new. While a child waits for its restart it is restarting, as it
//     is in OTP between two tries.
//   - A request that it does not know is answered with an error; OTP's supervisor
//     crashes.
//   - A child that has started has nothing more to say: no Info as in {ok, Pid,
//     Info}.
//   - A child that is ignored at a restart is forgotten by SimpleOneForOne, and
//     one that is terminated between two tries is counted right.
//   - An exit signal that is nobody's, as Node.Stop sends, counts as its parent's.
//
// # Invariants
//
//  1. No two processes of one child live at the same time: a child is started
//     only after the exit of the one before it has been seen.
//  2. Children that are running were started in the order of the list, except
//     those that were started again alone.
//  3. There are never more restarts than Intensity within Period.
//  4. One thing goes on at a time (the type wait); what comes meanwhile is kept,
//     in order, and handled after it.
//  5. What an exit costs depends neither on the number of children nor on that of
//     recent restarts.
//
// # Goroutines
//
// None: a supervisor is an Actor, which never blocks.
package supervisor
