// Package keyed runs processes on demand, found by key, on one node: a session for each user, a cart for each visitor. A
// process is started at its first use, and ends when it has been idle for a time, or when there are too many.
//
//	carts, err := keyed.Start(ctx, n, keyed.Kind[string]{
//		Name: "carts", Idle: 10 * time.Minute, Max: 50_000,
//		New: func(user string) (node.Actor, error) { return newCart(user), nil },
//	})
//	total, err := keyed.Call[int](ctx, n, carts, "ann", Add{Cents: 250})
//
// # Nouns
//
//   - A [Kind] says how the processes of a group are made, and when they end.
//   - A [Group] is these processes. [Call], [Ask], [Send] and [Group.Use] use the process of a key.
//   - The group's process starts and ends them all. It is shown as a supervisor. [Start] starts it; below a supervisor, use [New]
//     and [Group.Child]. An exit signal without a sender, or of its parent, ends it: n.Exit(node.Atom("carts"), node.Shutdown).
//
// # Idle
//
// A process is idle while no use of it is in progress, its mailbox is empty, no handler of it runs, it has answered all
// calls, and each answer has come that it has asked for by node.SendRequest, Future.SendTo or futures.Then. An active
// object is not idle while an activation waits, but a state machine that has postponed what was sent to it is. A blocking
// process is idle while it waits in a receive without a timeout. A timer does not keep a process, nor does a future of
// futures.Send.
//
// Only uses through the group are counted. A message to a PID that was kept, or to a name or an alias of the process, is
// no use: the process may end before it handles the message.
//
// A process that ends for idleness gets the exit signal shutdown of its parent. If it traps exits it can save its state: a
// server of package genserver in its Terminate.
//
// # Failures
//
// A process that fails, by a crash or because it does not start, is started again at its next use, or at once with
// Kind.Restart. From the second failure in a row on that takes a back-off, during which uses fail with a [*FailingError]. An
// exit with the reason normal, shutdown or {shutdown, _} is no failure. Crashes are logged as those of a supervisor's
// children. No log, name or error of the package holds a key.
//
// # Invariants
//
//  1. At most one process of a key runs: the next is started when the last has exited and its code has returned, Terminate
//     and a handler that was running when it was killed included. So a handler that never returns keeps its key blocked.
//  2. What is sent in a use is handled, unless the process ends for another reason than Idle, Max or Memory.
//  3. Processes that start, run, or have ended with code that still runs are Max together at most.
//  4. A key is started once for all that wait for it. The end of a context ends the wait, but not the start.
//  5. An entry is closed from its creation until its process has started, and again from the decision to end it, or the
//     notice that it is gone. Only an entry without uses is closed for idleness, and it is opened again if its process is not
//     idle. A process gets no signal before its entry is closed.
//  6. Only the group's process changes the table and the entries; a process belongs to one entry. Each restarted group's process
//     ends the processes of the last, and their keys wait for that.
//
// A use in progress is counted in a word of the entry: it enters by adding one, and asks the group's process if it finds
// the entry closed. The end for idleness closes by a compare-and-swap from no use. A use also sets a mark there, and a timer
// of a quarter of Idle takes it: so no use reads the clock.
//
// # Goroutines
//
// None. The group's process is an Actor, which waits for nothing.
//
// # Limits
//
// A process costs about 150 bytes more than an Actor with a link, its key of 16 bytes included. A key has at most [MaxKey]
// bytes. Processes that fail have a place among Max until they are forgotten, a while after their back-off. New runs in
// the group's process, so starts wait for each other's New, but not for each other's Init. A group is used by callers of
// its own node only. A blocking process that ends itself by an exit signal may still run deferred functions when the next one
// of its key starts.
package keyed
