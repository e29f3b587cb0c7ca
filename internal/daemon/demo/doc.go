// Package demo is a small supervision tree for trying things out. The daemon runs it with --demo, the documents use it, and
// the tests call it from Erlang. Its source also serves as an example.
//
// # Nouns
//
//   - The tree is a one_for_one supervisor registered as demo, which allows 100 restarts within a second. Its two servers
//     are registered by their names.
//   - counter keeps a total. Go programs send it [Add] and [Get].
//   - echo sends back every request.
//   - tasks is a supervisor of tasks outside the tree, see package tasks: for Elixir's
//     Task.Supervisor.async({Name, Node}, M, F, Args) it is a Task.Supervisor.
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
// To tasks the messages of Elixir's Task.Supervisor and, from Go, those of package tasks, which also says what it answers. A
// task from Elixir can call what the node exports, such as demo:add/2.
//
// Any other call is answered with {error, {unhandled_request, Request}}; any other message is logged. After [Export] other
// nodes can run these functions by name:
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
//  1. counter starts at 0 again after a restart; echo has no state.
//  2. A crash of one server does not affect the other.
//
// # Goroutines
//
// None, except for the process of demo:exit/1, which ends at once.
//
// # Limits
//
// A total has 64 bits, and wraps around.
package demo
