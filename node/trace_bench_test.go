package node

import "testing"

// What a send and a receive cost while nobody is traced, while others are, and when
// both ends of the message are. Off and Others must not differ by more than noise:
// a load, and a look at a mask.
func BenchmarkTrace(b *testing.B) {
	for _, c := range []struct {
		name        string
		other, self bool
	}{{"Off", false, false}, {"Others", true, false}, {"Both", true, true}} {
		b.Run(c.name, func(b *testing.B) {
			n, err := Start(Config{})
			if err != nil {
				b.Fatal(err)
			}
			defer n.Stop()
			h, _ := n.Open()
			other, _ := n.Open()
			traced := []PID{}
			if c.other {
				traced = append(traced, other.Self())
			}
			if c.self {
				traced = append(traced, h.Self())
			}
			if len(traced) > 0 {
				if _, err := n.Trace(TraceConfig{}, traced...); err != nil {
					b.Fatal(err)
				}
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

// NobodyTraced reports whether a node has nobody that is traced.
func NobodyTraced(n *Node) bool { return n.traces() == nil }
