package etf_test

import (
	"fmt"
	"time"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

// A message is written, read back and taken apart.
func Example() {
	from := wire.NewOrigin(wire.NodeID{Name: "go@host", Creation: 1}).PID(7)
	b, err := etf.Append(nil, wire.Tuple{wire.Atom("add"), from, wire.Charlist("cart"), 2})
	fmt.Printf("%x %v\n", b, err)

	msg, rest, err := etf.Decode(b)
	fmt.Println(msg, len(rest), err)
	_, _, err = etf.Decode(b[:20])
	fmt.Println(err)
	_, err = etf.Append(nil, wire.Tuple{wire.AtomOK, wire.List{1, time.Second}})
	fmt.Println(err)
	// Output:
	// 8368047703616464587707676f40686f73740000000700000000000000016b0004636172746102 <nil>
	// {add,<go@host.7.0>,"cart",2} 0 <nil>
	// etf: offset 18: expected 8 bytes of a pid, but 2 are left
	// etf: at {2}[2]: a Go value of type time.Duration is no term
}

// A Go struct is sent as a tuple and comes back.
func ExampleMarshal() {
	type Add struct {
		_    struct{}      `etf:"add,tuple"`
		Item string        `etf:",charlist"`
		Wait time.Duration `etf:",ms"`
		Note *string
	}
	b, _ := etf.Marshal(Add{Item: "cart", Wait: time.Minute})
	term, _, _ := etf.Decode(b)
	fmt.Println(term)

	var add Add
	err := etf.Unmarshal(b, &add)
	fmt.Println(add.Item, add.Wait, add.Note, err)
	err = etf.FromTerm(wire.Tuple{wire.Atom("add"), "cart", wire.AtomOK, wire.AtomUndefined}, &add)
	fmt.Println(err)
	// Output:
	// {add,"cart",60000,undefined}
	// cart 1m0s <nil> <nil>
	// etf: at etf_test.Add.Wait: expected an integer of units of 1ms, not ok
}
