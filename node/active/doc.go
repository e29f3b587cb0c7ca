// Package active provides active objects: Go values whose methods are called by messages, one at a time, and
// can be suspended in the middle until a future is completed or a condition holds.
//
// An object is a Go value and a message is one of its methods:
//
//	type Account struct{ balance int }
//
//	func (a *Account) Withdraw(c *active.Context, n int) (int, error) {
//		c.Until(func() bool { return a.balance >= n })
//		a.balance -= n
//		return a.balance, nil
//	}
//
//	account, err := active.Start(n, &Account{}, node.Options{})
//	future := active.Go(n, account, (*Account).Withdraw, 20) // a *node.Future[int]
//
// A method without an argument is called with [Do], as is a function literal with any. The compiler checks the receiver,
// the argument and the result. The papers on ABS use these names:
//
//	Fut<Int> f = a!m(x)   f := active.Go(c, a, (*A).M, x)
//	await f?              v, err := active.Await(c, f)
//	await b               c.Until(func() bool { return b }), or UntilWithin
//	await duration        c.Sleep(d)
//	suspend               c.Suspend()
//	f.get                 v, err := active.Block(c, f)
//	x = a.m(x)            v, err := active.Call(c, a, (*A).M, x)
//	new local C()         o, err := active.In(c, member, &C{})
//	this                  active.Self[*C](c)
//
// Objects of other nodes are called in the same way, if their methods are exported: see [Export].
//
// Nouns:
//
//   - An [Addr] is the address of an object: a value like a PID.
//   - An activation is one call of a method, from its start to its return. Its [Context] is what the
//     method acts through.
//   - A group is the objects that share one thread of control: a first object, and those made [In] its group. It
//     is one process: links, monitors, names, exits and supervision are the group's. A first object alone is a
//     group, too.
//
// # What an activation does while it waits
//
// Await, Until, Sleep and Suspend suspend only the activation. The group takes its next message, and begins and
// resumes other activations. This one goes on, on its own stack, when its turn comes: activations run in the
// order in which they became ready. So the state of the object may have changed when one of them returns, and only
// then. Block, and whatever else blocks, such as node.Call, blocks the group, which gives up its
// stage meanwhile, as every Actor does.
//
// Call to an object of the same group runs the method at once, on the same stack; it may be suspended.
//
// Messages in the mailbox get their turn, too. Suspend lets the calls begin that have arrived before. If methods keep
// the group busy in another way, by awaiting methods of their own group, the mailbox gets its turn after [node.Config]
// Budget of them, 256 at most, or as soon as they have taken half a millisecond.
//
// # What a condition may depend on
//
// A condition, the argument of Until, may depend on the state of the group's objects, on [Context.Pending] of its own
// method, and on what does not change. The state changes only in steps: in a step one activation runs from its start, or
// from where it was resumed, until it waits again or returns. So a condition that does not hold is evaluated again when a
// step is over, and not before. If it depends on anything else, such as a clock or another goroutine's variable, a change
// of that does not cause an evaluation. An activation goes on right after its condition was found to hold: it still holds.
//
// The group cannot know which conditions a step has changed. Evaluating all of them after each step would take time
// quadratic in the number of waiting activations. Therefore:
//
//   - While at most 16 activations wait for conditions, all of them are evaluated after each step, in the order of waiting,
//     and the first whose condition holds goes on.
//   - With more, some are evaluated after each step: for the object that has run, the longest waiting activation at each
//     place of the program that calls Until; and 8 of all, in turn. So an activation whose condition keeps holding
//     goes on after at most an eighth as many steps as activations wait. Of those with the same condition, the longest
//     waiting comes first.
//   - When the group has nothing else to do, the others are evaluated, too: 256 at once, and the rest when no step
//     has come for 200 ns for each of them. Messages, and other processes on the stage, come first.
//
// So the cost of a step does not depend on how many wait, and every condition that holds is found.
//
// # Invariants
//
//  1. Of the activations of a group one runs at a time, whatever stage it is on.
//  2. A future of [Go] is completed once: with what the method returns, with [*node.ExitError] if it
//     panics (the reason is a [*node.Crash]), or if the group's process exits first, with its reason.
//     A method's error or panic ends its activation, not the object. A panic is logged. So is an
//     error if its future becomes unreachable before anybody has read it.
//  3. When the process ends, each activation that waits is unwound: its deferred functions run, by
//     runtime.Goexit, and it does not go on.
//  4. Messages between two processes keep their order, so the calls of one process
//     begin in the order in which it makes them.
//
// # Goroutines
//
// A method has a goroutine of its own only while it is suspended. Otherwise it runs on one that the group
// uses for one activation after the other; Go's scheduler does not choose between them. If activations
// wait when the process ends, one goroutine unwinds them; Node.Stop waits for it.
//
// # How activations share a goroutine
//
// Inside a group (activations.go, conditions.go):
//
//   - An activation is one call of a method, from its start to its return.
//   - A thread is the thread of control of a group: one of its activations runs at a time. The group's turn
//     lasts from Run to the end of Run.
//   - A fiber (package fiber) is an activation's stack. One fiber runs activations one
//     after the other as long as they return. A suspended activation keeps its fiber until it
//     goes on; meanwhile another fiber runs the others.
//
// Invariants:
//
//  1. The goroutine that runs a thread owns all of it: the goroutine of the turn, or the fiber that it
//     has switched to. No lock is needed, as a switch hands the thread over. The caller of Turn ensures that
//     there is one turn at a time.
//  2. An activation is in exactly one place: running, in ready, in conditions, or suspended until
//     somebody calls Ready with it. Ready is called once for each Suspend.
//     A step lasts from when an activation starts running until it is in one of the other places, or returns.
//  3. parked holds each activation that has begun and does not run. End unwinds all of them.
//  4. Activations run in the order in which they became ready. One whose condition was found to hold goes on at the
//     latest after each activation that was ready: neither starves the other.
//  5. A condition is evaluated at most once a step. If it holds, its activation goes on before any other step.
//  6. If few activations wait for conditions, all are evaluated after each step, in the order of waiting. With more,
//     a step costs a bounded number of evaluations, and each condition gets its turn: see conditions. Turn reports how many
//     have not been evaluated since the last step; its caller has them evaluated with the argument extra.
//  7. Calls that arrive as messages become ready behind what is ready. Yield ends the turn if messages wait; a turn
//     that has taken long ends then, too.
//
// # Callers that give up
//
// A method is not stopped when its caller cancels the future, or ends the context of its wait. [Context.Pending]
// tells the method, and its [Context.CallContext], which has the caller's deadline, ends. The exit of the calling process
// does not count: its future may have been given to others.
//
// # What one sees
//
// Node.Info says how many activations of a group wait for a future, for a condition and for their turn, and
// since when the first of them does ([observe.Activations]); actornode process shows it.
//
// # Limits
//
// On another node only an object's exported methods can be called ([Export]); a call of another method fails
// with [node.ErrNotHere], and so does [In]. A suspended activation takes some 6 KiB, 4 of them for its stack.
// Only the callers bound how many there are. A method that is locked to its thread
// (runtime.LockOSThread) cannot be suspended: it panics with [node.ErrThreadLocked].
//
// Methods can wait for each other for ever. With Config.DetectCycles of the node, for tests and
// development, an Await or a Block that closes a cycle of methods, and of processes that wait, fails at once
// with [node.ErrCycle], also if it awaits others by futures.All, Chain, GoWith or Each. Waits by Until and futures.First
// are not seen.
package active
