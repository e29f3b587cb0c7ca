package pack_test

import (
	"fmt"

	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/wire"
)

// Order is a type of the program's own.
type Order struct {
	Customer wire.PID
	Items    []string
	Note     any
}

// Two sides of a connection: the second message is shorter, because the peer knows
// the node and the atom by then.
func Example() {
	types := &pack.Types{}
	if err := pack.Register[Order](types, "shop.Order"); err != nil {
		fmt.Println(err)
		return
	}
	enc := pack.Encoder{Dict: &pack.EncodeDict{}, Types: types}
	dec := pack.Decoder{Dict: &pack.DecodeDict{}, Types: types}

	buyer := wire.NewOrigin(wire.NodeID{Name: "shop@host", Creation: 7}).PID(42)
	for _, msg := range []any{
		wire.Tuple{wire.Atom("paid"), buyer, 12.5},
		wire.Tuple{wire.Atom("paid"), buyer, 12.5},
		wire.Tuple{wire.Atom("new"), Order{buyer, []string{"tea"}, wire.Tuple{wire.Atom("gift"), true}}},
	} {
		frame, err := enc.Append(nil, msg)
		if err != nil {
			enc.Dict.Undo()
			fmt.Println(err)
			continue
		}
		enc.Dict.Commit()
		got, _, err := dec.Term(frame)
		fmt.Println(len(frame), got, err)
	}
	// Output:
	// 48 {paid,<shop@host.42.0>,12.5} <nil>
	// 18 {paid,<shop@host.42.0>,12.5} <nil>
	// 94 {new,#Go<pack_test.Order>} <nil>
}

// Where the type is not known, a value of it is a map.
func ExampleTypes() {
	types := &pack.Types{}
	if err := pack.Register[Order](types, "shop.Order"); err != nil {
		fmt.Println(err)
		return
	}
	enc := pack.Encoder{Types: types}
	b, err := enc.Append(nil, Order{Items: []string{"tea"}, Note: wire.AtomOK})
	if err != nil {
		fmt.Println(err)
		return
	}
	got, _, err := pack.Decode(b)
	fmt.Println(err)
	m := got.(wire.Map)
	for _, key := range []any{pack.TypeKey, "Items", "Note"} {
		v, _ := m.Get(key)
		fmt.Println(key, wire.Format(v))
	}
	// Output:
	// <nil>
	// $type <<"shop.Order">>
	// Items [<<"tea">>]
	// Note ok
}
