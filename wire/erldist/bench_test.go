package erldist

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// ends returns a writer and a reader that understand each other.
func ends(flags erlflags.Flags) (*writer, *reader) {
	peer := wire.NodeID{Name: "e@127.0.0.1", Creation: 1}
	return newWriter(self, peer.Name, flags, dist.LinkLimits{}, nil), newReader(peer.Name, self.Name, flags, dist.LinkLimits{})
}

// samples are the messages that a node sends most.
func samples() map[string]dist.Frame {
	from, to := wire.NewOrigin(self).PID(77), wire.NewOrigin(wire.NodeID{Name: "e@127.0.0.1", Creation: 1}).PID(99)
	ref := wire.NewOrigin(self).RefOf(12345)
	tag := wire.ImproperList{Head: []any{wire.Atom("alias")}, Tail: ref}
	return map[string]dist.Frame{
		"Binary64": {Op: dist.OpSend, From: from, To: to, Payload: make([]byte, 64)},
		"Call": {Op: dist.OpSend, From: from, Name: "counter", Payload: wire.Tuple{
			wire.Atom("$gen_call"), wire.Tuple{from, tag}, wire.Tuple{wire.Atom("add"), 7}}},
		"Reply": {Op: dist.OpSend, From: from, Ref: ref, Payload: wire.Tuple{tag, 42}},
	}
}

// Budgets on one core of a shared Xeon at 2.1 GHz, with no allocation in Write
// and those of the decoded payload in Read.
func BenchmarkWrite(b *testing.B) {
	for name, f := range samples() {
		b.Run(name, func(b *testing.B) {
			w, _ := ends(erlflags.Announced)
			b.ReportAllocs()
			for b.Loop() {
				if w.write(&f) != nil {
					b.Fatal()
				}
				w.buf = w.buf[:0]
			}
		})
	}
}

func BenchmarkWriteRead(b *testing.B) {
	for name, f := range samples() {
		b.Run(name, func(b *testing.B) {
			w, r := ends(erlflags.Announced)
			b.ReportAllocs()
			n := 0
			var got dist.Frame
			for b.Loop() {
				if w.write(&f) != nil {
					b.Fatal()
				}
				if ok, err := r.frame(w.buf[4:], &got); !ok || err != nil {
					b.Fatal(err)
				}
				n += len(w.buf)
				w.buf = w.buf[:0]
			}
			b.ReportMetric(float64(n)/float64(b.N), "bytes/msg")
		})
	}
}

// refs says how many references are in each sample: wire.Ref.Words allocates once for each, as of now.
var refs = map[string]float64{"Call": 1, "Reply": 2}

func TestWriteAllocatesNothing(t *testing.T) {
	for name, f := range samples() {
		w, _ := ends(erlflags.Announced)
		for range 3 {
			require.NoError(t, w.write(&f))
		}
		n := testing.AllocsPerRun(100, func() {
			w.buf = w.buf[:0]
			if w.write(&f) != nil {
				t.Fail()
			}
		})
		require.LessOrEqual(t, n, refs[name], name)
	}
}
