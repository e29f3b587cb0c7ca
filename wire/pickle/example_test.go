package pickle_test

import (
	"fmt"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
	"github.com/actornode/actornode/wire/pickle"
)

// Order is a struct whose fields are unexported.
type Order struct {
	item  string
	lines []int
}

var orders = pickle.Tuple("order",
	pickle.Part(func(o *Order) *string { return &o.item }, pickle.Basic[string]()),
	pickle.Part(func(o *Order) *[]int { return &o.lines }, pickle.List(pickle.Basic[int]())))

// Term returns the term of an Order for nodes of OTP.
func (o Order) Term() any { return orders.Term(o) }

// SetTerm makes o the Order of a term.
func (o *Order) SetTerm(term any) error { return orders.Set(term, o) }

// A pickler made of other picklers writes and reads a type.
func Example() {
	b, _ := etf.Marshal(Order{"tea", []int{1, 2}})
	term, _, _ := etf.Decode(b)
	fmt.Println(wire.Format(term))
	var o Order
	fmt.Println(etf.Unmarshal(b, &o), o)
	fmt.Println(o.SetTerm(wire.Tuple{wire.Atom("order"), 5, wire.List{}}))
	// Output:
	// {order,<<"tea">>,[1,2]}
	// <nil> {tea [1 2]}
	// part 1 of pickle_test.Order: pickle: the term does not fit: got 5, want a term for string
}
