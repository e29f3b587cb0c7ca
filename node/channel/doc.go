// Package channel has typed channels to a process: an alias by which values of one type can be sent to it, and
// no others.
//
//   - An [Input] is the end of the process: it receives the values of this channel, and no other message.
//   - An [Output] is the other end, a value that is sent in messages, also to other nodes. The compiler checks
//     what is sent by it.
//
// They are the InputChannel and OutputChannel of Scala's actors; [Once] is freshReplyChannel.
//
//	prices := channel.New[Price](p)                      // p is a *node.Process or a *node.Context
//	p.Send(exchange, Subscribe{To: prices.Output()})
//	price := prices.Receive(p)
//
//	subscribe.To.Send(c, Price{"ERIC", 93})              // there
//
// An Actor asks with [Input.Of] whether a message is of the channel.
//
// # Invariants
//
//  1. What an Input receives is a T. What comes by its reference and is none, from this node or another, is a
//     dead letter with the cause [deadletter.WrongType], and is never in the mailbox. A call is none, whatever T.
//  2. Messages of one sender by one Output come in the order sent, among all else that it sends to the process.
//  3. A value of a channel is received by its Input, or as a message that only [Input.Of] opens: it is never
//     taken for a message that was sent to the process itself.
//
// # Other nodes
//
// An Output of a type that every node knows, such as int or string, travels by itself. For another the program
// registers it beside the type, on both nodes:
//
//	node.RegisterTypes(node.TypeOf[Price](), node.TypeOf[channel.Output[Price]]())
//
// For a node of OTP an Output is a reference, by which Erlang sends: Output ! Term. A term is taken if it can be
// read as a T ([etf.FromTerm]); so are messages of Go programs that are no T, such as an int for an int64.
// A reference that has come as one becomes an Output again as Output[Price]{Ref: r}. That claims the type:
// the receiving end checks it.
//
// # Goroutines
//
// None.
//
// # What can be lost, limits
//
// What goes for all messages: see package node. A process that exits, or closes the Input, loses what is sent
// later, as dead letters with the cause no_alias. A channel needs about 200 bytes until it is closed.
package channel
