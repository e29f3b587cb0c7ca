// Package supervisor implements Erlang's supervisor: a process that starts other processes, its children, in order. It
// restarts them when they exit, and stops them in reverse order when it ends itself.
//
// # Nouns
//
//   - A [Spec] describes a supervisor: its [Strategy], the number of restarts that it
//     allows within a period, and its first children.
//   - A [Child] describes a child: how it is started, after which exits it is
//     restarted ([Restart]), how it is stopped, and how long restarts wait
//     ([Backoff]).
//
// A supervisor may be the child of another one. Together they form a supervision
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
// [Run] is what a main function does then: it serves until the context ends or the tree does, and stops what is left.
//
// # Semantics
//
// The semantics are those that OTP documents for its supervisor; the tests run the same
// scripts on both. The pure functions in decide.go decide what follows an exit:
//
//	restart    exit normal, shutdown, {shutdown, _}    another exit
//	Permanent  restart                                 restart
//	Transient  stopped; auto shutdown if significant   restart
//	Temporary  forgotten; auto shutdown if significant forgotten; auto shutdown if significant
//
//	strategy         also stopped, in reverse order, and started, in order
//	OneForOne        none
//	SimpleOneForOne  none
//	RestForOne       those after it
//	OneForAll        all
//
// If a restart fails, the supervisor sends itself a message to try again, so that it
// can handle other requests in between. Each try counts toward the intensity. When
// there are more than Intensity restarts within Period, the supervisor stops its
// children and exits with the reason shutdown.
//
// # Protocol
//
// From Go, the functions of this package. From Erlang, what its supervisor module
// sends in a '$gen_call': {start_child, Spec | Args}, {terminate_child, Id},
// {restart_child, Id}, {delete_child, Id}, {get_childspec, Id}, which_children,
// count_children; and system messages, see package sys. {M, F, A} in a Spec from
// Erlang is a behaviour that the node exports, see ExportBehaviour of package node/rpc.
//
// # Counters
//
// Failures are logged as supervisor reports, and counted: package metrics exports the counters.
//
// # Differences from OTP
//
//   - OTP's supervisor handles nothing while a child starts. This one handles the
//     exit of its parent: it kills the starting child and ends. An Init that never
//     returns therefore cannot delay a shutdown.
//   - Backoff is new. A child that waits for its restart is shown as restarting, as
//     in OTP between two tries.
//   - An unknown request is answered with an error; OTP's supervisor crashes.
//   - A started child cannot return an Info, as in {ok, Pid, Info}.
//   - SimpleOneForOne forgets a child whose Init returns Ignore at a restart, and
//     correctly counts a child that is terminated between two tries.
//   - An exit signal without a sender, as sent by Node.Stop, counts as the parent's.
//
// # Invariants
//
//  1. No two processes of one child live at the same time: a child is started only after the exit of its previous process
//     has been received.
//  2. Children that are running were started in the order of the list, except
//     those that were started again alone.
//  3. There are never more restarts than Intensity within Period.
//  4. The supervisor waits for one thing at a time (the type wait). It queues messages
//     that arrive meanwhile and handles them afterwards, in order.
//  5. The cost of an exit depends neither on the number of children nor on the number
//     of recent restarts.
//
// # Goroutines
//
// None: a supervisor is an Actor, which never blocks. Run starts one for Serve, and waits for it within the time of Stop.
package supervisor
