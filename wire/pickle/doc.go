// Package pickle has picklers: values that convert a Go value to a term and back. Functions combine them, without
// reflection or tags. They are Kennedy's pickler combinators, which Scala's actors use to serialize messages.
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
// With these two methods an Order is {order, <<"tea">>, [1, 2]} wherever a Go value is converted to a term: in a message to
// OTP, in package etf, and in arguments of a method or a handler.
//
// Nouns:
//
//   - A [Pickler] of a type converts its values to terms, and terms to values.
//   - A [Field] is a part of a struct, with its pickler.
//   - A [Choice] is one of the types that an interface value may have.
//
// # Invariants
//
//  1. A pickler converts the term of a value back to an equal value, even after the term has been sent to another node.
//  2. Set changes nothing if it fails. It does not panic for any term, unless a function of [Wrap] does.
//
// # Goroutines
//
// None. Many goroutines may use a pickler concurrently.
//
// # Limits
//
// A pickler cannot contain itself: a recursive type needs its own function. Go nodes send each other registered types
// unchanged, without a pickler: see node.RegisterTypes.
package pickle
