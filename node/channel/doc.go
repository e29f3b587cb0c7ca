// Package channel connects processes with Go's channels and iterators, and provides typed channels to a process.
//
//	for m := range channel.Messages[Order](ctx, p) { … }       the messages of a process or a handle
//	orders, stop := channel.Of[Order](ctx, h)                  those of a handle as a Go channel, to select from
//	pid, orders, err := channel.Spawn[Order](ctx, n, 10, o)    a process whose messages come through a Go channel
//	for v, err := range channel.Ahead(n, 10, primes) { … }     computed by a process, at most 10 values ahead
//
// A typed channel is an alias of a process, through which only values of one type can be sent to it:
//
//   - An [Input] is the process's end: it receives the values of this channel, and no other message.
//   - An [Output] is the other end, a value that can be sent in messages, also to other nodes. The compiler checks
//     what is sent through it.
//
// They are the InputChannel and OutputChannel of Scala's actors; [Once] is freshReplyChannel.
//
//	prices := channel.New[Price](p)                      // p is a *node.Process or a *node.Context
//	p.Send(exchange, Subscribe{To: prices.Output()})
//	price := prices.Receive(p)
//
//	subscribe.To.Send(c, Price{"ERIC", 93})              // there
//
// An Actor checks with [Input.Of] whether a message is of the channel.
//
// # Invariants
//
//  1. An Input receives only values of type T. Anything else that comes by its reference, from this node or another, is a
//     dead letter with the cause wrong_type, and never enters the mailbox. A call is never a T.
//  2. Messages of one sender through one Output come in the order sent, among all else that it sends to the process.
//  3. A value of a channel is received by its Input, or as a message that only [Input.Of] opens: it is never
//     mistaken for a message that was sent to the process itself.
//  4. A loop over Messages, and a reader of the channel that Of returns, takes only the messages that it gets: the rest
//     stays in the mailbox, in its order. Afterwards nothing of the loop is in the mailbox.
//  5. A process that Spawn or Ahead starts ends with its context, or with the loop, or soon after.
//  6. Values come in the order in which they were sent, or computed.
//
// # Other nodes
//
// An Output of a type that every node knows, such as int or string, can be sent as it is. For another type the program
// registers both the type and its Output, on both nodes:
//
//	node.RegisterTypes(node.TypeOf[Price](), node.TypeOf[channel.Output[Price]]())
//
// For an OTP node an Output is a reference, to which Erlang sends: Output ! Term. A term is accepted if it can be
// read as a T ([etf.FromTerm]); so are messages of Go programs that are not a T, such as an int for an int64.
// Output[Price]{Ref: r} makes an Output from a reference that was received as one. That claims the type:
// the receiving end checks it.
//
// # Goroutines
//
//	name      started by          ends with                            owns
//	receiver  Of                  ctx, stop, the end of the handle     the handle, the sending end
//	a channel Spawn               ctx, an exit signal                  the sending end
//	ahead     a loop over Ahead   the end of the values, or the loop   the values that are ahead
//
// # What can be lost, limits
//
// The same as for all messages: see package node. When the process has exited or closed the Input, later values
// are dead letters with the cause no_alias. A typed channel needs about 200 bytes until it is closed.
package channel
