package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"net/rpc"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/bench/internal/pair"
)

var remoteCall = pair.Between(contract.Bench{
	Name:   "remote_call",
	About:  "calls over one connection with a struct of six fields, each answered with a struct",
	Params: pair.CallParams(),
	Ops:    func(p contract.Params) int { return p.Int("calls") },
}, runRemoteCall, serveCalls)

// Order is the request.
type Order struct {
	Item    string
	Count   int
	Price   float64
	Express bool
	Key     []byte // 16 bytes, the first 8 of which are Count
	To      Address
}

// Address is a field of an order.
type Address struct {
	Street string
	Number int
}

// Receipt is the reply.
type Receipt struct {
	Item  string
	Count int // the order's Count plus 1
	Total float64
	Key   []byte // the order's Key
}

const keySize = 16

func newOrder(count int) *Order {
	key := make([]byte, keySize)
	binary.BigEndian.PutUint64(key, uint64(count))
	return &Order{"three-inch nails", count, 0.25, count%2 == 0, key, Address{"Long Acre", 14}}
}

// Ledger is the server.
type Ledger struct{}

// Enter answers an order.
func (Ledger) Enter(o *Order, r *Receipt) error {
	*r = Receipt{o.Item, o.Count + 1, o.Price * float64(o.Count), o.Key}
	return nil
}

func runRemoteCall(p contract.Params, m *contract.Meter, conn net.Conn) error {
	client := rpc.NewClient(conn)
	defer client.Close()
	return pair.Calls(p, m, func(number int) (int, error) {
		o, r := newOrder(number), &Receipt{}
		if err := client.Call("Ledger.Enter", o, r); err != nil {
			return 0, err
		}
		if r.Item != o.Item || r.Total != o.Price*float64(number) || !bytes.Equal(r.Key, o.Key) {
			return 0, fmt.Errorf("the receipt is %+v", *r)
		}
		return r.Count, nil
	})
}

// serveCalls is the far end: it answers until the near end closes.
func serveCalls(_ contract.Params, conn net.Conn) error {
	s := rpc.NewServer()
	if err := s.Register(Ledger{}); err != nil {
		return err
	}
	s.ServeConn(conn)
	return nil
}
