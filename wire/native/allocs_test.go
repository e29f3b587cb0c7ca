package native

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/wire/dist"
)

// The request and the reply of the benchmark remote_call.
type (
	benchOrder struct {
		Returns
		Item    string
		Count   int
		Price   float64
		Express bool
		Key     []byte
		To      benchAddress
	}
	benchAddress struct {
		Street string
		Number int
	}
	benchReceipt struct {
		Item  string
		Count int
		Total float64
		Key   []byte
	}
	Returns struct{} // like genserver.Returns
)

// A call of a registered struct, and its reply, cost at most two allocations at both ends together, not counting the
// message itself: the value, its texts and its binaries.
func TestAllocationsOfACall(t *testing.T) {
	types := new(pack.Types)
	require.NoError(t, pack.Register[benchOrder](types, "bench.order"))
	require.NoError(t, pack.Register[benchAddress](types, "bench.address"))
	require.NoError(t, pack.Register[benchReceipt](types, "bench.receipt"))
	p := &Protocol{types: types}
	key := []byte("0123456789abcdef")
	order := benchOrder{Item: "three-inch nails", Count: 1000, Price: 0.25, Express: true, Key: key,
		To: benchAddress{"Long Acre", 14}}
	receipt := benchReceipt{"three-inch nails", 1001, 250.5, key}
	request, reply := &links.Request{Ref: onA.RefOf(1000), Body: order}, &links.Reply{Value: receipt}
	for _, c := range []struct {
		name   string
		f      dist.Frame
		itself int
		read   func(payload any) any
		want   any
	}{
		{"request", dist.Frame{Op: dist.OpSend, From: onA.PID(70), To: onB.PID(80), Payload: request}, 4, // with two texts and a binary
			func(payload any) any { return payload.(*links.Request).Body }, order},
		{"reply", dist.Frame{Op: dist.OpSend, From: onA.PID(80), Ref: onB.RefOf(1000), Payload: reply, Answer: true}, 3,
			func(payload any) any { return payload.(*links.Reply).Value }, receipt},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := &stream{}
			l := p.over(conn, nodeA, nodeB, dist.LinkLimits{})
			write := func() {
				if _, err := l.Write(&c.f); err != nil {
					t.Fatal(err)
				}
				if _, err := l.Flush(false); err != nil {
					t.Fatal(err)
				}
			}
			write() // this also sends the names and the types
			write()
			first := len(conn.out)
			write()
			in := &stream{in: conn.out[:first]}
			peer := p.over(in, nodeB, nodeA, dist.LinkLimits{})
			var f dist.Frame
			read := func() {
				if err := peer.Read(&f); err != nil {
					t.Fatal(err)
				}
			}
			read()
			read()
			in.in, in.at, in.again = conn.out[first:], 0, true
			conn.drop = true
			written := testing.AllocsPerRun(100, write)
			got := testing.AllocsPerRun(100, read)
			require.Equal(t, c.want, c.read(f.Payload))
			t.Logf("%v to write, %v to read", written, got)
			if !testkit.Race { // the race detector allocates, too
				require.LessOrEqual(t, int(written+got), c.itself+2)
			}
		})
	}
}
