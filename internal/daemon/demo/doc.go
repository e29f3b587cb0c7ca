// Package demo is a small supervision tree to try things on: what the daemon
// runs with --demo, what the documents use, and what the tests call from
// Erlang. Its source is meant to be read as an example.
//
// # Nouns
//
//   - The tree is a supervisor registered as demo, one for one, which allows 100
//     restarts within a second, with two servers, registered by their names.
//   - counter keeps a total: [Add] and [Get] are what it is asked from Go.
//   - echo sends back what it gets.
//   - tasks is a server that is not in the tree: a Task.Supervisor to Elixir's Task.Supervisor.async({Name, Node}, M, F, Args).
//
// See the example for all of it.
//
//	demo          supervisor, one_for_one
//	├── counter   gen_server: the state is an integer
//	└── echo      gen_server
//
// # Protocol
//
//	to counter             from Go              answer
//	call {add, N}          Call Add{N: n}       the new total
//	call get               Call Get{}           the total
//	call crash                                  none: it exits with the reason crash
//	cast {add, N}          Cast Add{N: n}
//	sys:get_state                               the total
//	sys:replace_state                           the new total; anything but an integer is refused
//
//	to echo                from Go              answer
//	call Term              Call of any value    Term
//	message {From, Term}   Send the same tuple  From ! {EchoPid, Term}; From is a PID or an alias
//
//	to tasks                                              answer
//	call {start_task, Args, Restart, Shutdown}            {ok, Pid}: a process, linked to tasks
//	  Args = [{_, _, Owner}, monitor | nomonitor]         what it calls comes as a message, below
//	  Args = [{_, _, Owner}, Callers, {M, F, A}]          it calls that, and ends
//	call which_children, count_children                   those that run, as of a dynamic supervisor
//	call {terminate_child, Pid}                           ok | {error, not_found}
//	to Pid {Owner, Ref, ReplyTo, Callers, {M, F, A}}      ReplyTo ! {Ref, Value}; an exception is the exit reason
//
// M is demo; Restart and Shutdown are not heeded. With monitor, Pid ends when Owner does, or after 5 seconds without
// the message.
//
// Another call is answered {error, {unhandled_request, Request}}; another message
// is logged. What a node runs by name after [Export]:
//
//	spawn  demo:counter/0, demo:echo/0, demo:tasks/0   a fresh server of that kind, with no name
//	spawn  demo:exit/1                   exits with its argument as the reason
//	call   demo:add/2                    the sum of two integers of any size, else error badarith
//	call   demo:double/1                 twice an integer: for sys:replace_state
//
// [Application] is the same tree as an application named demo.
//
// # Invariants
//
//  1. A restart of counter begins with 0; echo has nothing to lose.
//  2. The crash of one server is not noticed by the other.
//
// # Goroutines
//
// None, except for the process of demo:exit/1, which ends at once.
//
// # Limits
//
// Totals and sums have 64 bits, and wrap around.
package demo
