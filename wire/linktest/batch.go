package linktest

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/actornode/actornode/wire"
)

// batch reads as a node does that takes what is sent to one process together: all
// comes, once and in order, whatever comes between, and what was taken stays as it is.
func (k kit) batch(t *testing.T) {
	a, b := k.pair(t)
	l, ok := b.(wire.Batch)
	if !ok {
		return
	}
	const messages = 4000
	r := rand.New(rand.NewPCG(1, 2))
	froms, tos := wire.NewOrigin(A), wire.NewOrigin(B)
	want := make([]wire.Frame, messages)
	for i := range want {
		f := wire.Frame{Op: wire.OpSend, From: froms.PID(uint64(i%7 + 1)), To: tos.PID(uint64(i/200%3 + 1))}
		f.Payload = bytes.Repeat([]byte{byte(i)}, r.IntN(300))
		switch r.IntN(100) {
		case 0:
			f.Payload = i
		case 1:
			f.Op, f.Payload = wire.OpExit, wire.Atom("shutdown")
		case 2:
			f.To, f.Name = wire.PID{}, "name"
		case 3:
			f.To = tos.PID(1 << 32) // where that of another stands
		case 4:
			f.Token = wire.Tuple{0, 1}
		}
		want[i] = f
	}
	go func() { // ends with the frames, which the test reads
		for i := range want {
			if err := put(a, &want[i]); err != nil {
				t.Errorf("Write: %v", err)
				return
			}
			if i%500 == 499 {
				_ = flush(a)
			}
		}
	}()
	got, taken := make([]wire.Frame, 0, messages), 0
	for len(got) < messages {
		var f wire.Frame
		if err := b.Read(&f); err != nil {
			t.Fatalf("Read: %v", err)
		}
		if got = append(got, f); f.Op != wire.OpSend || f.To.IsZero() {
			continue
		}
		var msgs [20]any
		n := l.Batch(f.To, msgs[:r.IntN(len(msgs))])
		for _, msg := range msgs[:n] {
			got = append(got, wire.Frame{Op: wire.OpSend, From: want[len(got)].From, To: f.To, Payload: msg})
		}
		taken += n
	}
	for i := range want {
		if err := Same(want[i], got[i]); err != nil {
			t.Fatalf("signal %d: %v", i, err)
		}
	}
	if taken == 0 {
		t.Error("nothing was taken together")
	}
}
