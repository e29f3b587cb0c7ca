package dist_test

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// told is a transport that prints whom it dials.
type told struct{ dist.TCP }

// Dial is part of dist.Transport.
func (t told) Dial(ctx context.Context, addr string, peer wire.Atom) (net.Conn, error) {
	fmt.Println("dials", peer)
	return t.TCP.Dial(ctx, addr, peer)
}

// Two nodes whose connections go over the program's own transport.
func ExampleTransport() {
	start := func(name node.Atom, finder discovery.Finder) *node.Node {
		n, err := node.Start(node.Config{Name: name, Distribution: &node.Distribution{
			Cookie: "secret", Finder: finder, Listen: "127.0.0.1:0", Transport: told{}}})
		if err != nil {
			panic(err)
		}
		return n
	}
	till := start("till@127.0.0.1", &discovery.Static{})
	defer till.Stop()
	inbox, err := till.Open()
	if err != nil {
		panic(err)
	}
	shop := start("shop@127.0.0.1", &discovery.Static{Nodes: map[wire.Atom][]discovery.Endpoint{
		"till@127.0.0.1": {{Addr: till.Addr().String()}}}})
	defer shop.Stop()

	shop.Send(inbox.Self(), "sold")
	fmt.Println(node.ReceiveOfWithin[string](inbox, time.Minute))
	// Output:
	// dials till@127.0.0.1
	// sold <nil>
}
