// Package active has active objects: Go values whose methods are called by messages, one at a time, and
// can be suspended in the middle until a future is there or a condition holds.
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
// The compiler checks the receiver, the argument and the result. The works on ABS have the same by
// these names:
//
//	Fut<Int> f = a!m(x)   f := active.Go(c, a, (*A).M, x)
//	await f?              v, err := active.Await(c, f)
//	await b               c.Until(func() bool { return b })
//	suspend               c.Suspend()
//	f.get                 v, err := active.Block(c, f)
//	x = a.m(x)            v, err := active.Call(c, a, (*A).M, x)
//	new local C()         o, err := active.In(c, member, &C{})
//	this                  active.Self[*C](c)
//
// Objects of other nodes are called alike, by methods that are exported: see [Export].
//
// Nouns:
//
//   - An [Addr] is the address of an object: a value like a PID.
//   - An activation is one call of a method, from its start to its return. Its [Context] is what the
//     method acts through.
//   - A group is what objects share that were made [In] it: one thread of control. It is one process:
//     links, monitors, names, exits and supervision are the group's, and a first object alone is a
//     group, too.
//
// # What an activation does while it waits
//
// Await, Until and Suspend suspend the activation alone. The group takes its next message, begins and
// resumes other activations, and this one goes on, on its own stack, when it is its turn: in the order
// in which they have become ready. So the state of the object may have changed when they return, and
// only then. Block, and whatever else blocks, such as node.Call, blocks the group, which gives up its
// stage meanwhile, as every Actor does.
//
// A call to an object of the same group by Call runs at once, on the same stack, and may be suspended.
//
// What waits has its turn: messages in the mailbox, too. Suspend lets those begin that have come before. Where methods go on
// and on in another way, by awaiting methods of their own group, the mailbox has its turn after [node.Config] Budget of
// them, 256 at most, or as soon as they have taken half a millisecond.
//
// # What a condition may depend on
//
// A condition, the argument of Until, is about the state of the group's objects, [Context.Pending] of its own method, and
// what does not change. The state changes only in steps: a step is what runs of one activation from its start or its going
// on to where it waits next, or returns. So a condition that does not hold is evaluated again when a step is over, and not
// before; one that is about anything else, a clock or another goroutine's variable, is not evaluated when that changes. An
// activation goes on right after its condition has been evaluated: it still holds.
//
// Which conditions a step has changed cannot be seen. To evaluate all of them after each step would cost the square of how
// many wait. So it is done like this:
//
//   - As long as 16 activations wait for conditions, or fewer, each step has all of them evaluated, in the order of waiting,
//     and the first that holds goes on.
//   - With more of them a step has some evaluated: of those that wait in methods of the object that has run, the one that has
//     waited for longest at each place of the program that calls Until; and 8 of all, in turn. So one that goes on holding
//     comes after an eighth as many steps as there are that wait, at most. Of those with the same condition the one that has
//     waited for longest comes first.
//   - When the group has nothing else to do the others are evaluated, too: 256 of them at once, and the rest when no step
//     has come for 200 ns for each of it. Others of the stage, and messages, come first.
//
// So the cost of a step does not depend on how many wait, and what holds is found.
//
// # Invariants
//
//  1. Of the activations of a group one runs at a time, whatever stage it is on.
//  2. A future of [Go] is completed once: with what the method returns, with [*node.ExitError] if it
//     panics (the reason is a [*node.Crash]), or if the group's process exits first, with its reason.
//     A method's error or panic ends its activation, and not the object. A panic is logged. So is an
//     error whose future nobody has read when the garbage collector finds that nobody can.
//  3. When the process ends, each activation that waits is unwound: its deferred functions run, by
//     runtime.Goexit, and it does not go on.
//  4. Messages between two processes keep their order, and so activations that one process asks for
//     begin in that order.
//
// # Goroutines
//
// A method runs on a goroutine of its own only while it is suspended, otherwise on one that the group
// uses for one activation after the other; Go's scheduler does not choose between them. When the
// process ends and activations wait, one goroutine unwinds them; Node.Stop waits for it.
//
// # How activations share a goroutine
//
// Inside a group (activations.go, conditions.go):
//
//   - An activation is one call of a method, from its start to its return.
//   - A thread is the thread of control of a group: of its activations one runs at a time. It is the group's
//     turn from Run to the end of Run.
//   - A fiber (package fiber) is what an activation has for a stack. One fiber runs activations one
//     after the other as long as they return; the fiber of one that is suspended is its own until it
//     goes on, and another fiber then runs the others.
//
// Invariants:
//
//  1. All of a thread is owned by the goroutine that runs it: that of the turn, or the fiber that it
//     has switched to. No lock is needed, as a switch is a hand-over. Who runs turns sees to it that
//     there is one at a time.
//  2. An activation is in exactly one place: running, in ready, in conditions, or suspended until
//     somebody calls Ready with it. Ready is called once for each Suspend.
//     A step is what runs of one from there until it is in one of the others, or has returned.
//  3. parked holds each activation that has begun and does not run. End unwinds all of them.
//  4. What has been ready first runs first. A condition that is found to hold comes at least after each
//     activation that was ready: neither starves the other.
//  5. A condition is evaluated once a step, at most: it is not evaluated again until another is over. Its activation goes on
//     before any other step.
//  6. With few activations that wait for conditions, each step has all of them evaluated, in the order of waiting. With more
//     a step costs a bounded number of evaluations, and each of them has its turn: see conditions. Turn reports how many
//     have not been evaluated since the last step, and its user sees to it that they are, by the argument extra.
//  7. What messages ask for becomes ready behind what is ready: Yield ends the turn if messages wait, and so does a turn
//     that has taken long.
//
// # Callers that give up
//
// A method whose caller has cancelled the future, or ended the context of its wait, is not stopped. [Context.Pending]
// tells it, and its [Context.CallContext] ends. That the process which has called is gone is not noticed: its future may have
// been given to others.
//
// # What one sees
//
// Node.Info says how many activations of a group wait for a future, for a condition and for their turn, and
// since when the first of them does ([observe.Activations]); actornode process shows it.
//
// # Limits
//
// On another node an object's exported methods can be called ([Export]); a call of another method fails
// with [node.ErrNotHere], and so does [In]. A suspended activation takes some 6 KiB, 4 of them for its stack,
// and how many there are is not bounded but by who calls. A method that is locked to its thread
// (runtime.LockOSThread) cannot be suspended: it panics with [node.ErrThreadLocked].
//
// Methods can wait for each other for ever. With Config.DetectCycles of the node, for tests and
// development, an Await or a Block that closes a cycle of methods, and of processes that wait, fails at once
// with [node.ErrCycle], also if it awaits others by futures.All, Chain, GoWith or Each. Until and futures.First hide what they
// wait for.
package active
