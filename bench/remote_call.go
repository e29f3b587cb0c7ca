package main

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
)

// The style is that of the callers.
var remoteCall = betweenNodes(contract.Bench{
	Name:   "remote_call",
	About:  "calls of a server on another node with a struct of six fields, each answered with a struct",
	Params: []contract.Param{contract.Int("calls", 20_000), contract.Int("callers", 1)},
	Ops:    func(p contract.Params) int { return p.Int("calls") },
}, runRemoteCall, func(_ contract.Params, n *node.Node) (node.PID, error) {
	return n.Spawn(ledgers.New(&ledger{}))
})

// order is the request. It has six fields.
type order struct {
	genserver.Returns[receipt]
	Item    string
	Count   int
	Price   float64
	Express bool
	Key     []byte // 16 bytes, the first 8 of which are Count
	To      address
}

type address struct {
	Street string
	Number int
}

// receipt is the reply.
type receipt struct {
	Item  string
	Count int // that of the order plus 1
	Total float64
	Key   []byte // that of the order
}

func init() {
	node.RegisterTypes(node.TypeOf[order]("bench.order"), node.TypeOf[address]("bench.address"),
		node.TypeOf[receipt]("bench.receipt"))
}

const keySize = 16

func newOrder(count int) order {
	key := make([]byte, keySize)
	binary.BigEndian.PutUint64(key, uint64(count))
	return order{Item: "three-inch nails", Count: count, Price: 0.25, Express: count%2 == 0, Key: key,
		To: address{"Long Acre", 14}}
}

// ledger is the server.
type ledger struct{}

var ledgers = genserver.Define(genserver.OnCall((*ledger).order))

func (*ledger) order(_ *genserver.Context, o order) (receipt, error) {
	return receipt{o.Item, o.Count + 1, o.Price * float64(o.Count), o.Key}, nil
}

// orders are the orders of one caller: every step-th number up to the last.
type orders struct{ next, step, last, total int }

// enter checks the receipt for the next order, and advances.
func (o *orders) enter(r receipt) error {
	want := newOrder(o.next)
	if r.Item != want.Item || r.Count != o.next+1 || r.Total != want.Price*float64(o.next) || !bytes.Equal(r.Key, want.Key) {
		return fmt.Errorf("the receipt for order %d is %+v", o.next, r)
	}
	o.total += r.Count
	o.next += o.step
	return nil
}

// entered is sent by a caller to main at the end.
type entered struct {
	total int
	err   error
}

func runRemoteCall(p contract.Params, m *contract.Meter, e nearEnd) error {
	calls, callers := p.Int("calls"), p.Int("callers")
	pids := make([]node.PID, callers)
	for i := range pids {
		c := farClient{orders{next: i + 1, step: callers, last: calls}, e.far, e.main.Self()}
		if p.Blocking() {
			pids[i] = must(e.main.Spawn(node.ProcessFunc(c.process)))
		} else {
			pids[i] = must(e.main.Spawn(&c))
		}
	}
	m.Start()
	releaseAll(e.main, pids)
	total := 0
	for range pids {
		msg, err := e.receive()
		if err != nil {
			return err
		}
		got := msg.(entered)
		if got.err != nil {
			return got.err
		}
		total += got.total
	}
	m.Stop()
	if want := calls*(calls+1)/2 + calls; total != want {
		return fmt.Errorf("the receipts add up to %d, not %d", total, want)
	}
	return nil
}

// farClient calls the far end, and reports the result to main.
type farClient struct {
	orders
	far, main node.PID
}

func (c *farClient) Receive(ctx *node.Context, msg any) error {
	if r, ok := msg.(node.Result); ok {
		receipt, ok := r.Value.(receipt)
		if !ok {
			return ctx.Send(c.main, entered{err: fmt.Errorf("the answer to order %d is %#v: %w", c.next, r.Value, r.Err)})
		}
		if err := c.enter(receipt); err != nil {
			return ctx.Send(c.main, entered{err: err})
		}
	}
	if c.next > c.last {
		return ctx.Send(c.main, entered{total: c.total})
	}
	node.SendRequest(ctx, c.far, nil, newOrder(c.next))
	return nil
}

func (c *farClient) process(p *node.Process) error {
	node.ReceiveOf[release](p)
	for c.next <= c.last {
		r, err := genserver.Call(p.Context(), p, c.far, newOrder(c.next))
		if err == nil {
			err = c.enter(r)
		}
		if err != nil {
			return p.Send(c.main, entered{err: err})
		}
	}
	return p.Send(c.main, entered{total: c.total})
}
