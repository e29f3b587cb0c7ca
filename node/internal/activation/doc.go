// Package activation runs the activations of a group of active objects: method calls of which one
// runs at a time, and which can be suspended in the middle.
//
// Nouns:
//
//   - An [Activation] is one call of a method, from its start to its return.
//   - A [Group] is a thread of control: of its activations one runs at a time. It is the group's
//     turn from Run to the end of Run.
//   - A fiber (internal/fiber) is what an activation has for a stack. One fiber runs activations one
//     after the other as long as they return; the fiber of one that is suspended is its own until it
//     goes on, and another fiber then runs the others.
//
// # Invariants
//
//  1. All of a Group is owned by the goroutine that runs it: that of the turn, or the fiber that it
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
// # Goroutines
//
// None of its own but the pool's fibers: one for each activation that has begun and not returned,
// and one more during a turn.
package activation
