package channel_test

import (
	"fmt"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/channel"
)

// price is what an exchange sends.
type price struct {
	Share string
	Cents int
}

// subscribe asks for prices. Whoever gets the channel can use it, on this node or another.
type subscribe struct{ To channel.Output[price] }

// The notation of Scala's actors: val prices = new Channel[Price]; exchange ! Subscribe(prices); prices.receive.
func Example() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	exchange, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		if m, ok := msg.(subscribe); ok {
			return m.To.Send(c, price{"ERIC", 9350})
		}
		c.Unknown(msg)
		return nil
	}))
	if err != nil {
		panic(err)
	}
	p, err := n.Open()
	if err != nil {
		panic(err)
	}

	prices := channel.New[price](p)
	if err := p.Send(exchange, subscribe{prices.Output()}); err != nil {
		panic(err)
	}
	fmt.Println(prices.Receive(p))
	// Output: {ERIC 9350}
}
