// Package match matches messages against several cases: the first case that fits takes the message. A case
// says in one place which messages it takes, by their type, a value, a guard or a projection, and what it does with
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
// [New] builds a [Match] from cases, once; a Match may be a case of another. A Process receives with it:
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
// The tuples of those papers are structs here. A struct whose etf tag gives it a first atom is that tuple for
// Erlang processes:
//
//	type Push struct {                                            // Pid ! {push, 5}
//		_ struct{} `etf:"push,tuple"`
//		V int
//	}
//
// A message that no case fits stays in the mailbox, in its place: an Actor's Match returns [node.ErrUnhandled] for it. To
// take such messages, add On(func(any) {…}) as the last case.
//
// The compiler infers the types of a case from its function, for On and for Do. New panics if something else is wrong:
// a nil function, After used twice, or cases of Actors and of Processes in one Match.
//
// # Invariants
//
//  1. The first case takes a message, in their order, that fits its type, and whose projection and guards all return
//     true. A receive takes the oldest message that fits a case.
//  2. For one look at a message the guards and the projection of a case are called once at most, and the action gets
//     the same value that the projection returned.
//  3. A Match never changes: processes share it. Matching a message allocates nothing, except to convert a term.
//  4. An Actor sees no [Timeout] that was cancelled by [SetTimeout], Become, Push or Unbecome, or by a message that
//     came before it.
//
// A panic of a guard or a projection ends the process, like a panic of the action; in a handle the caller panics.
// Guards run in Receive while the process looks through its mailbox: they must not use the process.
//
// Timeouts come through the mailbox. A bounded mailbox with a Drop policy may drop them; the next timeout then begins
// with the next message. The package has no goroutine.
package match
