package rights_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire/dist"
)

// BenchmarkSend sends a message from another node, over the loopback, to a named process, in turn of a node without
// rights and of one whose last rule allows it. The ratio is the cost of the rules.
func BenchmarkSend(b *testing.B) {
	const burst = 20_000
	c := clustertest.NewCluster(b)
	handled := make(chan struct{}, 1)
	counts := func(name string, r *rights.Policy) *node.Node {
		n := c.StartWith(name, node.Distribution{Transport: dist.TCP{}, Access: node.Access{Rights: r}})
		seen := 0
		_, err := n.SpawnOpt(node.Options{Name: "sink"}, node.ActorFunc(func(*node.Context, any) error {
			if seen++; seen%burst == 0 {
				handled <- struct{}{}
			}
			return nil
		}))
		require.NoError(b, err)
		return n
	}
	rules := []rights.Rule{{Peer: "a@*", May: []string{"connect"}}, {Peer: "b@*", May: []string{"connect", "send one"}},
		{May: []string{"connect", "send one", "send two", "send sink"}}}
	p, err := rights.New(rights.Config{Rules: rules})
	require.NoError(b, err)
	free, ruled := counts("free", nil), counts("ruled", p)
	h := nodetest.NewProbe(b, c.StartWith("from", node.Distribution{Transport: dist.TCP{}}))
	send := func(to *node.Node) time.Duration {
		began := time.Now()
		for range burst {
			require.NoError(b, h.Send(node.At{Name: "sink", Node: to.Name()}, 1))
		}
		<-handled
		return time.Since(began)
	}
	var without, with time.Duration
	for b.Loop() {
		without += send(free)
		with += send(ruled)
	}
	b.ReportMetric(float64(without)/float64(b.N)/burst, "ns/send-without")
	b.ReportMetric(float64(with)/float64(b.N)/burst, "ns/send-with")
	b.ReportMetric(float64(with)/float64(without), "with/without")
}
