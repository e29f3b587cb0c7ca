// Package seqtrace reads and sets the sequential trace token of a process, as OTP's module seq_trace does.
//
// A token is attached to what a process sends. A process that takes a message with a token has that token until it takes
// the next message: what it sends, calls and spawns meanwhile carries it, to other nodes, too, by either protocol, and to and
// from nodes of OTP. Each token has a label, any term, by which a program says what all of this belongs to. Package
// [github.com/actornode/actornode/node/otel] uses the label for the context of OpenTelemetry.
//
//	func (s *shop) Receive(c *node.Context, msg any) error {
//		seqtrace.SetLabel(c, "order 17")                 // as seq_trace:set_token(label, <<"order 17">>)
//		return c.Send(node.Atom("stock"), reserve{17})
//	}
//
//	func (s *stock) Receive(c *node.Context, msg any) error {
//		label, traced := seqtrace.Label(c)               // as seq_trace:get_token(label)
//		…
//
// # Semantics
//
//   - A message from a plain goroutine has no token, except by TokenLabel of [node.Config].
//   - A reply within a node has no token: its caller has one already. So do timers and exit signals.
//   - A Go node does not trace by the flags of a token: it passes them on. A token that SetLabel begins has none.
//   - A mailbox of your own (Mailbox in [node.Options]) takes messages without their tokens.
//   - The serial and the senders in tokens are those that OTP would write. Nodes whose protocol has no tokens get none.
//
// Tokens cost nothing until a process has one. From then on each of its messages costs a few nanoseconds more, and what
// it sends with a token an allocation or two.
//
// The functions are for the code that runs the process: the handler of an Actor, with its [node.Context], or the function of
// a [node.Process].
package seqtrace
