package native_test

import (
	"context"
	"fmt"
	"net"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/native"
)

// Two nodes connect over a pipe, and one sends the other a message.
func Example() {
	var p native.Protocol
	shop := wire.NodeID{Name: "shop@host", Creation: 1}
	cart := wire.NodeID{Name: "cart@host", Creation: 2}
	cookies := func(wire.Atom) (in, out string) { return "secret", "secret" }
	a, b := net.Pipe()

	done := make(chan struct{})
	go func() { // awaited below
		defer close(done)
		link, err := p.Accept(context.Background(), b, dist.Handshake{Local: shop, Cookies: cookies})
		if err != nil {
			fmt.Println(err)
			return
		}
		var f dist.Frame
		err = link.Read(&f)
		fmt.Println(link.Peer().ID.Name, f.Op, f.From, f.Name, f.Payload, err)
		fmt.Println(link.Read(&f))
	}()

	link, err := p.Dial(context.Background(), a, dist.Handshake{Local: cart, Peer: "shop@host", Cookies: cookies})
	if err != nil {
		fmt.Println(err)
		return
	}
	me := wire.NewOrigin(cart).PID(7)
	_, _ = link.Write(&dist.Frame{Op: dist.OpSend, From: me, Name: "till", Payload: wire.Tuple{wire.Atom("order"), "tea", 3}})
	_, _ = link.Flush(false)
	_ = link.Close()
	<-done
	// Output:
	// cart@host send <cart@host.7.0> till {order,<<"tea">>,3} <nil>
	// native: cart@host has closed the connection in an orderly way
}
