package nodetest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
)

// kettle tells its owner when the water boils, three minutes after it was switched on.
type kettle struct{ owner node.Dest }

func (k *kettle) Receive(c *node.Context, msg any) error {
	switch msg {
	case "on":
		_, err := c.SendAfter(3*time.Minute, c.Self(), "boils")
		return err
	case "boils":
		return c.Send(k.owner, "tea")
	}
	c.Unknown(msg)
	return nil
}

// The code of a test: in a bubble the three minutes pass at once.
func Example() {
	test := func(t *testing.T) { // TestKettle
		synctest.Test(t, func(t *testing.T) {
			nodetest.CheckLeaks(t)
			n := nodetest.Start(t, node.Config{})
			p := nodetest.NewProbe(t, n)
			pid, err := p.SpawnOpt(node.Options{Link: true}, &kettle{p.Self()})
			require.NoError(t, err)
			require.NoError(t, p.Send(pid, "on"))
			p.ExpectNone()
			p.Expect("tea")
		})
	}
	_ = test
}

// A client notices that the network has been cut.
func ExampleCluster() {
	test := func(t *testing.T) { // TestCut
		synctest.Test(t, func(t *testing.T) {
			c := nodetest.NewCluster(t, "shop", "bank")
			shop, bank := c.Node("shop"), c.Node("bank")
			till, customer := nodetest.NewProbe(t, bank), nodetest.NewProbe(t, shop)
			ref := customer.Monitor(till.Self())
			c.Cut(shop, bank)
			customer.Timeout = 2 * time.Minute // until the silence is noticed
			require.Equal(t, node.NoConnection, customer.ExpectDown(ref).Reason)
			c.Heal(shop, bank)
			require.NoError(t, customer.Send(till.Self(), "sorry"))
			till.Expect("sorry")
		})
	}
	_ = test
}
