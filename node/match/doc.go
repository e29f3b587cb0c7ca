// Package match has messages matched by several cases at once: the first case that fits takes the message. A case
// says in one place which messages it is for, by their type, a value, a guard or a projection, and what is done with
// them.
//
//	match.On(func(m Deposit) { … })                     a type; an interface; any, the wildcard
//	match.On(func(n int) { … }).Is(0)                   a value
//	match.On(func(n int) { … }).If(even)                a guard
//	match.Project(number, match.On(func(n int) { … }))  a projection: what number makes of a text
//	match.Do(func(c *node.Context, m Close) error {…})  with the process, and an error
//	match.Reply(func(c *node.Context, q Sum) (int, error) {…})  a request, and its reply
//	match.After(time.Second, func() { … })              nothing has come for a second
//
// [New] builds a [Match] of cases, once; a Match may be a case of others. A Process receives with it:
//
//	open := match.New(                                            // def loop(value: Int): Unit = receive {
//		match.On(func(Incr) { value++ }),                         //   case Incr()   => loop(value + 1)
//		match.On(func(m Value) { p.Send(m.A, value) }),           //   case Value(a) => a ! value; loop(value)
//		match.On(func(m Lock) {                                   //   case Lock(a)  => a ! value
//			p.Send(m.A, value)
//			match.Receive(p, locked)                              //     receive { case UnLock(v) => loop(v) }
//		}),
//	)                                                             // }
//	for match.Receive(p, open) == nil {
//	}
//
// The right column is the lockable counter of Haller and Odersky's first paper on Scala's actors. For an Actor the
// Match is the behaviour; here beside libcppa's fixed_stack:
//
//	s.filled = match.New(                                         // filled = (
//		match.Do(func(c *node.Context, m Push) error {            //   on(atom("push"), arg_match) >> [=](int what) {
//			if s.data = append(s.data, m.V); len(s.data) == max { //     data.push_back(what);
//				c.Become(s.full)                                  //     if (data.size() == max) become(full);
//			}                                                     //   },
//			return nil
//		}),
//		match.Reply(func(c *node.Context, _ Pop) (int, error) {…}), // on(atom("pop")) >> [=]() { reply(…); … }
//	)                                                             // );
//
// The tuples of the works are structs here, and a struct whose etf tag gives it a first atom is that tuple for the
// processes of Erlang:
//
//	type Push struct {                                            // Pid ! {push, 5}
//		_ struct{} `etf:"push,tuple"`
//		V int
//	}
//
// What no case fits stays in the mailbox, in its place: an Actor's Match returns [node.ErrUnhandled] for it. Who wants
// it to be taken adds On(func(any) {…}) as the last case.
//
// Whether On or Do, the compiler infers the types of a case from its function. What is wrong all the same panics in
// New: a nil function, two times After, or cases of Actors and of Processes in one Match.
//
// # Invariants
//
//  1. A message is for the first case, in their order, whose type it has, whose projection answers true and whose
//     guards all do. A receive takes the oldest message that there is a case for.
//  2. For one look at a message the guards and the projection of a case are called once at most, and the action gets
//     the very value that the projection has returned.
//  3. A Match never changes: processes share it, and a message uses no memory, but what a term is turned into.
//  4. An Actor sees no [Timeout] that was called off, by [SetTimeout], Become, Push or Unbecome, or by a message that
//     came before it.
//
// A guard or a projection that panics ends the process, as the action does; in a handle the panic is the caller's.
// Guards run in Receive while the process looks through its mailbox: they must not use it.
//
// Timeouts come through the mailbox. One that is bounded with a Drop policy may drop them; the next begins with the
// next message then. The package has no goroutine.
package match
