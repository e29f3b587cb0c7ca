// Package stage places processes: on stages that a program makes, on a number of stages that can change, by a hash
// or a function, and moves them while they run.
//
// A stage is a group of Actors and coroutines of which one at a time has its turn. A node has some for each
// worker, puts processes on them and balances the load; most programs leave it at that.
//
// Nouns:
//
//   - A [Stage] is one that the program has made. Nothing is on it but what is spawned or moved there, and what those
//     spawn without a Place. [Options] may make it exclusive, or ordered.
//   - A place is a [node.Place]: [Stage.Place], [By] and [Hash] make some, beside those of package node.
//   - [Move] moves a process to another place, [SetCount] changes the number of the node's own stages.
//   - [Goroutines] is a scheduler for Actors whose handlers block.
//
// A subtree of processes on a stage of its own:
//
//	s, err := stage.New(n, stage.Options{})
//	root, err := n.SpawnOpt(node.Options{Place: s.Place()}, tree) // what root spawns is on s, too
//	…
//	err = s.Close(ctx, n) // those that live move to one of the node's stages
//
// # Handlers that block
//
// A handler that sleeps, reads a file or asks a server over HTTP keeps its stage until the node notices, after
// milliseconds. Then the node expects that others do, too, and notices the next at once: two hundred that come together
// block at the same time. Handlers that block for less than a fifth of node.Config.Blocked it does not notice.
// Three ways to spare the neighbours all of that:
//
//   - c.Blocking(f), [node.Context.Blocking], gives the stage up, calls f, and waits for a turn. Until the handler
//     returns, the actor handles no other message. A process that is killed meanwhile goes on until f returns:
//     let f use c.Context(). A panic of f is the handler's. Info shows the wait, and since when. In f the process
//     may send, but a coroutine should not receive. In a Process with a goroutine of its own f is just called.
//   - node.Options.Scheduler, with [Goroutines], for actors all of whose handlers block. So many run at a time.
//   - node.Detached(), a goroutine for one actor.
//
// Each handler that is in Blocking has a goroutine of the node's; there is no other bound than the number
// of actors. Of those that block without it, 256 do at the same time, and then the node waits for milliseconds before each
// further one. Of the goroutines that are idle afterwards the node keeps as many as it has workers, and sixteen.
//
// # Invariants
//
//  1. What is on a Stage stays there until it is moved, or the Stage is closed.
//  2. A process has its messages once, in the order of each sender, whenever it is moved.
//  3. On an exclusive Stage no handler begins while another runs, however long that takes, unless that says
//     that it will wait: by a Call, an Await or Blocking. When it has waited, the handler goes on only
//     when no other runs.
//  4. The actors of an ordered Stage begin to handle their messages in the order in which those were sent, whichever
//     actor each is for. Messages that are left as Unhandled excepted.
//
// # Goroutines
//
//	name       started by   ends with                        owns
//	goroutine  Goroutines   nothing due for any of its       the turn of an actor
//	           .Schedule    actors; at most max of them
//
// # What can be lost, reordered, doubled
//
// Nothing. A move takes effect between two turns, some turns later perhaps. Messages of a handler that was
// killed are gone as elsewhere. When an ordered stage is closed, its actors keep the common order of what is sent to
// them, but run at the same time as other actors.
//
// # Limits
//
// A node has at most 65,534 stages of its own, and as many of type Stage that are not closed. The latter have numbers
// from 65,536 on, as Info shows them. A process with a goroutine or a scheduler of its own is on no stage and is
// not moved. On an ordered stage live Actors only, without Limits and Mailbox, which are spawned there: a message costs a
// lock of the stage. The handlers of one exclusive stage that call each other give it up while they wait; a
// handler that waits otherwise for another of its stage, by a channel, waits forever.
package stage
