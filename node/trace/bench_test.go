package trace_test

import (
	"testing"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/trace"
)

// What a send and a receive cost while no process is traced, while others are, and when both ends of the message are.
// Off and Others must not differ by more than noise: a load, and a look at a mask.
func BenchmarkTrace(b *testing.B) {
	for _, c := range []struct {
		name        string
		other, self bool
	}{{"Off", false, false}, {"Others", true, false}, {"Both", true, true}} {
		b.Run(c.name, func(b *testing.B) {
			n := nodetest.Start(b, node.Config{})
			h, other := nodetest.NewProbe(b, n), nodetest.NewProbe(b, n)
			if c.other {
				traceOf(b, n, trace.Config{}, other.Self())
			}
			if c.self {
				traceOf(b, n, trace.Config{}, h.Self())
			}
			var msg any = "a message"
			b.ReportAllocs()
			for b.Loop() {
				h.Send(h.Self(), msg)
				h.Receive()
			}
		})
	}
}
