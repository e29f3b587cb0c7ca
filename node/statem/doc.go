// Package statem is Erlang's gen_statem: a process that is in one of several states.
// Each state is a function that handles the events that arrive in that state.
//
// # Nouns
//
//   - A machine's data is any Go value.
//   - A [State] is a method of the data or a function; the name of the method or function
//     is the name of the state. It takes an [Event] and returns the next state, or nil to stay.
//   - A [Kind] holds the states that machines of one kind have. [Define] makes it.
//   - A [Context] is a state's access to its process: all of node.Context, and
//     Postpone, Insert, SetTimeout, Repeat and Stop.
//   - An [EventType] is the type of an event. Some types are timeouts, which a state can set.
//
// See the example for a whole machine.
//
// # Protocol
//
// A machine answers calls and casts of package genserver, any [node.Call], and what
// Erlang's gen_statem module sends:
//
//	{'$gen_call', {Pid, Tag}, Content}          TypeCall; reply {Tag, Reply} to Pid
//	{'$gen_call', {Pid, [alias|Ref]}, Content}  TypeCall; reply {[alias|Ref], Reply} to the alias
//	{'$gen_cast', Content}                      TypeCast
//	{system, From, What}                        see package sys
//	anything else                               TypeInfo
//
// sys:get_state shows {State, Data}. The events that package sys reports are
// {in, Event}, {out, Reply, To, State} and {consume|postpone, Event, State, Next}.
//
// # What a state function does
//
//	event of the mailbox, inserted, postponed, or a timeout
//	   |
//	   v
//	state function  --error, panic, Stop-->  Terminate, exit
//	   |  replies go at once
//	   v
//	enter call, if the state changes or Repeat was called  --same-->
//	   |
//	   v
//	 1. the event is dropped, or kept if Postpone was called
//	 2. if the state changes: postponed events are put before those that wait, and
//	    the state timeout is cancelled
//	 3. the event timeout is cancelled
//	 4. timeouts are cancelled, updated, set
//	 5. inserted events are put before all others
//	   |
//	   v
//	next event: inserted and postponed ones first, then zero timeouts, then the mailbox
//
// # What ends a machine
//
//	state returns an error        call: the caller gets it, the machine goes on
//	                              any other event: the exit reason is a *node.Crash
//	state returns ErrUnhandled    never; a caller gets a genserver.UnhandledError
//	state returns node.ExitWith   that is the exit reason
//	Context.Stop                  that is the exit reason; the state does not change
//	panic                         the exit reason is a *node.Crash with the stack
//	an action not allowed here    the exit reason is a *node.Crash with an error
//	{system, _, {terminate, R}}   R
//	exit of the parent, trapped   the parent's reason
//	another exit signal           as for any process: without Terminate, unless trapped
//
// In all cases but the last, the machine calls Terminate if the data has it. A panic in
// Terminate replaces the exit reason.
//
// # Invariants
//
//  1. One state function runs at a time. No message is taken from the mailbox while
//     there is an event or a zero timeout that comes before it.
//  2. At most one timeout of a type is set. A timeout that was cancelled or replaced
//     never fires, even if its message is already in the mailbox.
//  3. An enter call changes no state, postpones nothing and inserts nothing.
//  4. A call gets one answer: a reply, the error of a state function, an
//     [*genserver.UnhandledError] if a state drops it, or the notice that the machine exited.
//  5. While suspended (package sys) a machine handles only system messages and its
//     parent's exit. All other messages wait, in order.
//
// # Goroutines
//
// None: a machine is an Actor. If its states block or compute for long, start it with
// Options.Place = node.Detached().
//
// # Limits
//
// Timeouts arrive through the mailbox. A bounded mailbox with a Drop policy may drop
// their messages, which are then counted as dead letters. The number of postponed
// events is not bounded.
//
// # Differences from gen_statem
//
// A state is a function with a name, not an arbitrary term, and the callback module
// cannot be changed. States change the data in place: a change that was made before a
// panic stays. If a state function neither answers nor postpones a call, and does not
// take its [Context.From], the caller gets an error; in OTP it waits. [Context.Reply]
// sends the reply at once, not after the function has returned. A zero timeout that is
// replaced by a longer one fires as that timeout; in OTP 25 it arrives as a message
// {timeout, Ref, Type}, which is a bug. Absolute times are not offered; see
// [time.Until]. There is no hibernate.
package statem
