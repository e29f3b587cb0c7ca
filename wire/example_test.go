package wire_test

import (
	"fmt"

	"github.com/actornode/actornode/wire"
)

// A message is made, taken apart and printed.
func Example() {
	from := wire.NewOrigin(wire.NodeID{Name: "go@host", Creation: 1}).PID(7)
	msg := wire.Tuple{wire.Atom("add"), from, wire.Charlist("cart"), wire.NewMap(wire.Atom("qty"), 2)}

	item, _ := wire.AsText(msg[2]) // a binary or a string would do as well
	qty, ok := msg[3].(wire.Map).Get(wire.Atom("qty"))
	fmt.Println(item, qty, ok, wire.Equal(qty, int64(2)))
	fmt.Println(wire.Format(msg))
	// Output:
	// cart 2 true true
	// {add,<go@host.7.0>,"cart",#{qty => 2}}
}

func ExampleParse() {
	t, err := wire.Parse(`{add, <<"tëa"/utf8>>, #{qty => 16#ff}}.`)
	fmt.Println(t, err)
	_, err = wire.Parse(`{add, Item}`)
	fmt.Println(err)
	// Output:
	// {add,<<"tëa"/utf8>>,#{qty => 255}} <nil>
	// wire: line 1, column 7: a variable is not a term; an atom that starts with 'I' is written in single quotes
}

func ExampleFormatter() {
	t := wire.Tuple{wire.Atom("put"), []byte("cart"), wire.List{1, 2, 3, 4, 5}}
	fmt.Println(wire.Format(t))
	fmt.Println(wire.Formatter{Plain: true}.Format(t))
	fmt.Println(wire.Formatter{Max: 20}.Format(t))
	// Output:
	// {put,<<"cart">>,[1,2,3,4,5]}
	// {put,<<99,97,114,116>>,[1,2,3,4,5]}
	// {put,<<"cart">>,[1,2… (5 elements in all)
}

func ExampleMap_All() {
	m := wire.NewMap(wire.Tuple{1}, "tuple", wire.AtomOK, "atom", 1.0, "float", 2, "integer")
	for k, v := range m.All() {
		fmt.Println(k, v)
	}
	// Output:
	// 2 integer
	// 1 float
	// ok atom
	// {1} tuple
}
