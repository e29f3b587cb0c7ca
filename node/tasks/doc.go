// Package tasks runs functions in processes and returns what they return: Elixir's Task, and its Task.Supervisor.
//
//	sup, err := tasks.Start(ctx, n, tasks.Options{Max: 100}, node.Options{Name: "tasks"})
//	page := tasks.Go(p, sup, func(p *node.Process) (Page, error) { return fetch(p.Context(), url) })
//	…
//	v, err := node.Await(ctx, p, page)
//
//	for page, err := range tasks.Map(ctx, p, 8, slices.Values(urls), fetch) { … }       in the order of urls
//	for page, err := range tasks.MapUnordered(ctx, p, 8, slices.Values(urls), fetch) { … }   as they come
//
// # Nouns
//
//   - A task is a process that calls one function. Its result is a [node.Future].
//   - A supervisor of tasks starts them, and ends them when it ends itself: see [Options]. It is a supervisor of package
//     supervisor, whose WhichChildren, CountChildren and TerminateChild it answers. [Child] makes one for a supervision tree.
//   - [Go] starts a task that goes on if its caller ends, [GoLinked] one that is linked to its caller.
//   - [Map] needs no supervisor: its processes live as long as the loop.
//
// # Invariants
//
//  1. A function is called at most once, and not after its caller has given up on the future. A task from Elixir with
//     another restart than temporary is called again.
//  2. A future is completed once: by what f returns, or by the exit of the task's process, whatever ends it.
//  3. When a supervisor of tasks has ended, so have the processes of its tasks. Go cannot stop a function: one that ignores
//     its context goes on, and is counted, see [node.Process.Context].
//  4. A caller that knows the result of a task, or that its process has ended, finds that task no longer counted toward Max,
//     and so do those that it tells. Until its process has ended, a moment later, the task is a child that WhichChildren lists.
//  5. A loop over Map has at most limit items that were taken and not yielded. Each item has one pair.
//  6. When a loop over Map is over, by whatever, the functions that it has called have returned, and their processes have
//     ended.
//
// # Protocol
//
// From Go, the functions of this package: a function does not go to other nodes. From Elixir 1.14 and newer, what its
// Task.Supervisor sends in a '$gen_call': all its functions but those that send a fun work, and so do those of
// Elixir's dynamic supervisors.
//
//	{start_task, Args, Restart, Shutdown}                {ok, Pid} | {error, max_children}
//	  Args = [{_, _, Owner}, monitor | nomonitor]        what it calls comes as a message, below
//	  Args = [{_, _, Owner}, Callers, {M, F, A}]         it calls that, and ends
//	which_children, count_children
//	{terminate_child, Pid}                               ok | {error, not_found}
//	to Pid {Owner, Ref, ReplyTo, Callers, {M, F, A}}     ReplyTo ! {Ref, Value}
//
// With monitor, the task ends with {shutdown, Reason} when Owner does, or with timeout after 5 seconds without the message.
// Restart is temporary, transient or permanent, Shutdown brutal_kill, infinity or milliseconds; nil stands for temporary and
// for Stop of [Options]. More than 3 restarts within 5 seconds end the supervisor, as in Elixir.
//
// M:F is what the node exports, see package rpc; anything else is undef. What the function raises is the exit reason: an
// exit as it is, an error {Reason, []}, what is thrown {{nocatch, Value}, []}.
//
// # Differences from Elixir
//
//   - Who gives up on a future ends the task: Cancel is Task.shutdown.
//   - An error that a function returns is a result, and ends no process.
//   - A task of Go starts even if its caller has ended before, unless it is linked.
//   - The time for which a caller of async_stream waits is the context of [Map]. A process of Map may be used for several
//     items.
//
// # Goroutines
//
//	name       started by     ends with                        owns
//	a task     a supervisor   its function, an exit signal     nothing
//	a worker   a loop         the loop, an exit signal         the outcome of its item
//
// The ends of a context or of a worker are told on goroutines of package context, which end at once. A loop waits for them.
//
// # What can be lost, limits
//
// The result of a task whose caller has given up is a dead letter. The results that a loop has not yielded when it is left
// are lost. A supervisor that waits for a task to end, in TerminateChild, starts no other meanwhile.
//
// What a function of Map returns is not a message: package isolation does not copy it. Config.DetectCycles does not see the
// wait of a loop for its functions.
package tasks
