// Package statem is Erlang's gen_statem: a process that is in one of several
// states, each a function that handles what comes while the machine is in it.
//
// # Nouns
//
//   - A machine's data is any Go value.
//   - A [State] is a method of it, or a function, whose name is the state's. It is
//     given an [Event] and returns the state to go to, or nil to stay.
//   - A [Kind] is the states of a sort of machine. [Define] makes it.
//   - A [Context] is what a state acts through: all of node.Context, and Postpone,
//     Internal, SetTimeout, Repeat, Stop.
//   - A [Type] says what sort of event has come; the timeouts among the types can
//     be set.
//
// See the example for a whole machine.
//
// # Protocol
//
// A machine answers calls and casts of this package, any [node.Call], and what
// Erlang's gen_statem module sends:
//
//	{'$gen_call', {Pid, Tag}, Content}          TypeCall; reply {Tag, Reply} to Pid
//	{'$gen_call', {Pid, [alias|Ref]}, Content}  TypeCall; reply {[alias|Ref], Reply} to the alias
//	{'$gen_cast', Content}                      TypeCast
//	{system, From, What}                        see package sys
//	anything else                               TypeInfo
//
// sys:get_state shows {State, Data}. Events for those who watch by package sys are
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
//	    the state timeout is called off
//	 3. the event timeout is called off
//	 4. timeouts are called off, updated, set
//	 5. inserted events are put before all others
//	   |
//	   v
//	next event: inserted and postponed ones first, then zero timeouts, then the mailbox
//
// # What ends a machine
//
//	state returns an error        call: the caller gets it, the machine goes on
//	                              any other event: the exit reason is a *node.Crash
//	state returns ErrUnhandled       never; a caller gets an UnhandledError
//	state returns node.ExitWith   that is the exit reason
//	Context.Stop                  that is the exit reason; the state stays what it is
//	panic                         the exit reason is a *node.Crash with the stack
//	what is not allowed           the exit reason is a *node.Crash with ErrBadAction or ErrNoState
//	{system, _, {terminate, R}}   R
//	exit of the parent, trapped   the parent's reason
//	another exit signal           as for any process: without Terminate, unless trapped
//
// In all cases but the last, Terminate is called if the data has it. A panic in
// Terminate is the exit reason in place of the one it was told.
//
// # Invariants
//
//  1. One state function runs at a time. No message is taken from the mailbox while
//     there is an event or a zero timeout that comes before it.
//  2. At most one timeout of a type is set. One that was called off, replaced or
//     overtaken does not come, even if its message is in the mailbox.
//  3. An enter call changes no state, postpones nothing and inserts nothing.
//  4. A call gets one answer: a reply, the error of a state function, an
//     [UnhandledError] if a state has let go of it, or word of the machine's exit.
//  5. While suspended (package sys) a machine handles system messages and its
//     parent's exit; all else waits, in order.
//
// # Goroutines
//
// None. A machine is an Actor; for one whose states block or compute for long,
// start it with Options.Place = node.Detached().
//
// # Limits
//
// The messages of timeouts go through the mailbox: one that is bounded and drops
// what it has no room for may drop them, and counts them as dead letters. What a
// machine postpones is not bounded.
//
// # Differences from gen_statem
//
// A state is a function with a name: neither any term, nor a state of a callback
// module that can be changed. Data is changed in place, so that what a state has
// done to it before a panic stays. A call that a state function neither answers, nor
// postpones, nor asks [Context.From] of is answered with an error; in OTP its
// caller waits. Replies go when [Context.Reply] is called, not after the function
// has returned. A zero timeout that is replaced by a longer one comes as that
// timeout; in OTP 25 it comes as a message {timeout, Ref, Type}, which is a bug.
// Absolute times are not offered; see [time.Until]. Hibernate does nothing.
package statem
