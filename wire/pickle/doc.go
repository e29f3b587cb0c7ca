// Package pickle has picklers: values that turn a Go value into a term and back, made of others by functions, without
// reflection and tags. They are the pickler combinators of Kennedy, by which Scala's actors put messages on the wire.
//
//	type Order struct {
//		item  string
//		lines []int
//	}
//
//	var orders = pickle.Tuple("order",
//		pickle.Part(func(o *Order) *string { return &o.item }, pickle.Basic[string]()),
//		pickle.Part(func(o *Order) *[]int { return &o.lines }, pickle.List(pickle.Basic[int]())))
//
//	func (o Order) Term() any              { return orders.Term(o) }
//	func (o *Order) SetTerm(term any) error { return orders.Set(term, o) }
//
// With these two methods an Order is {order, <<"tea">>, [1, 2]} wherever a Go value stands for a term: in a message
// to OTP, in package etf, and in arguments that a method or a handler reads.
//
// Nouns:
//
//   - A [Pickler] of a type makes terms of its values, and values of terms.
//   - A [Field] is a part of a struct, with its pickler.
//   - A [Choice] is one of the types that an interface value may have.
//
// # Invariants
//
//  1. What a pickler has made a term of, it makes an equal value of, also after the term has been on the wire.
//  2. Set changes nothing if it fails. It does not panic, whatever the term is, unless a function of [Wrap] does.
//
// # Goroutines
//
// None. Many goroutines may use a pickler at once.
//
// # Limits
//
// A pickler cannot hold itself: a type that contains itself needs a function of its own. Nodes of Go send each other
// registered types as themselves, and use no pickler for them: see node.RegisterTypes.
package pickle
