// Package stage places processes on stages: on stages that a program makes, or by a hash or a function. It changes the
// number of a node's stages, and moves processes while they run.
//
// A stage is a group of Actors and coroutines, one of which runs at a time. A node has some stages for each
// worker, puts processes on them and balances the load; most programs leave it at that.
//
// Nouns:
//
//   - A [Stage] is one that the program has made. Only processes that are spawned or moved there are on it, and those
//     that they spawn without a Place. [Options] may make it exclusive, or ordered.
//   - A place is a [node.Place]: [Stage.Place], [By] and [Hash] make some, beside those of package node.
//   - [Move] moves a process to another place, [SetCount] changes the number of the node's own stages.
//   - [Goroutines] is a scheduler for Actors whose handlers block.
//
// A subtree of processes on a stage of its own:
//
//	s, err := stage.New(n, stage.Options{})
//	root, err := n.SpawnOpt(node.Options{Place: s.Place()}, tree) // what root spawns is on s, too
//	…
//	err = s.Close(ctx, n) // living processes move to one of the node's stages
//
// # Handlers that block
//
// A handler that sleeps, reads a file or asks a server over HTTP keeps its stage until the node notices, after
// milliseconds. The node then expects others to block, too, and notices the next at once: two hundred that come together
// block at the same time. It does not notice handlers that block for less than a fifth of node.Config.Blocked.
// There are three ways to spare the neighbours all of that:
//
//   - c.Blocking(f), [node.Context.Blocking], gives the stage up, calls f, and waits for a turn. Until the handler
//     returns, the actor handles no other message. A process that is killed meanwhile goes on until f returns:
//     let f use c.Context(). A panic of f is the handler's. Info shows the wait, and since when. In f the process
//     may send, but a coroutine should not receive. In a Process with its own goroutine Blocking only calls f.
//   - node.Options.Scheduler, with [Goroutines], for actors all of whose handlers block. It limits how many run at a time.
//   - node.Detached(), a goroutine for one actor.
//
// Each handler that is in Blocking has a goroutine of the node; only the number of actors bounds
// these. Of handlers that block without Blocking, 256 do at the same time; the node waits for milliseconds before each
// further one. Of the goroutines that are idle afterwards, the node keeps as many as it has workers, plus sixteen.
//
// # Invariants
//
//  1. A process on a Stage stays there until it is moved, or the Stage is closed.
//  2. A process gets each message once, in the order of each sender, whenever it is moved.
//  3. On an exclusive Stage no handler begins while another runs, however long that takes, unless the other says
//     waits by a Call, an Await or Blocking, or for space in a mailbox. When it has waited, the handler goes on
//     only when no other runs.
//  4. The actors of an ordered Stage begin to handle their messages in the order in which they were sent, whichever
//     actor each is for, except messages that are left as Unhandled.
//
// # Goroutines
//
//	name       started by   ends with                        owns
//	goroutine  Goroutines   nothing due for any of its       the turn of an actor
//	           .Schedule    actors; at most max of them
//
// # What can be lost, reordered, doubled
//
// Nothing. A move takes effect between two turns, perhaps some turns later. Messages of a handler that was
// killed are gone, as elsewhere. When an ordered stage is closed, its actors keep the common order of their
// messages, but run at the same time as other actors.
//
// # Limits
//
// A node has at most 65,534 stages of its own, and at most 65,534 of type Stage that are not closed. Info shows the latter
// with numbers from 65,536 on. A process with its own goroutine or scheduler is on no stage and cannot be
// moved. An ordered stage takes only Actors without Limits and Mailbox that are spawned there: a message costs a
// lock of the stage. Handlers of one exclusive stage that call each other give it up while they wait; a
// handler that waits in another way for one of its stage, such as by a channel, waits forever.
package stage
