package linkkit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Batches tests links.BatchReader for a protocol that must batch most of the binaries, at least 1,000 of 4,000, and copy
// some of those sent by SendBytes of links.MessageWriter, at least 100.
func Batches(t *testing.T, p dist.Protocol) {
	taken, copied := (kit{p: p, has: MessageWriter | BatchReader}).batched(t)
	if taken < 1000 {
		t.Errorf("%d messages were taken together", taken)
	}
	if copied < 100 {
		t.Errorf("SendBytes took %d messages", copied)
	}
}

func (k kit) batch(t *testing.T) { k.batched(t) }

// batched reads like a node that batches messages to one process: all arrive once and in order, whatever comes between, and
// batched data does not change. Messages are sent in all possible ways.
func (k kit) batched(t *testing.T) (taken, copied int) {
	k.needs(t, BatchReader)
	a, b := k.pair(t)
	l := b.(links.BatchReader)
	const messages = 4000
	r := rand.New(rand.NewPCG(1, 2))
	froms, tos := wire.NewOrigin(A), wire.NewOrigin(B)
	want := make([]dist.Frame, messages)
	for i := range want {
		f := dist.Frame{Op: dist.OpSend, From: froms.PID(uint64(i%7 + 1)), To: tos.PID(uint64(i/200%3 + 1))}
		f.Payload = bytes.Repeat([]byte{byte(i)}, r.IntN(300))
		switch r.IntN(100) {
		case 0:
			f.Payload = i
		case 1:
			f.Op, f.Payload = dist.OpExit, wire.Atom("shutdown")
		case 2:
			f.To, f.Name = wire.PID{}, "name"
		case 3:
			f.To = tos.PID(1 << 32) // at the position of another one
		case 4:
			f.Token = wire.Tuple{0, 1}
		}
		want[i] = f
	}
	done := make(chan struct{})
	go func() { // ends with the frames, which the test reads
		defer close(done)
		for i := range want {
			err := error(nil)
			if quick(a, &want[i], i%3) {
				copied += i % 3 / 2
			} else {
				err = put(a, &want[i])
			}
			if err != nil {
				t.Errorf("Write: %v", err)
				return
			}
			if i%500 == 499 {
				_ = flush(a)
			}
		}
	}()
	got := make([]dist.Frame, 0, messages)
	for len(got) < messages {
		var f dist.Frame
		if err := b.Read(&f); err != nil {
			t.Fatalf("Read: %v", err)
		}
		if got = append(got, f); f.Op != dist.OpSend || f.To.IsZero() {
			continue
		}
		var msgs [20]any
		n := l.Batch(f.To, msgs[:r.IntN(len(msgs))])
		for _, msg := range msgs[:n] {
			got = append(got, dist.Frame{Op: dist.OpSend, From: want[len(got)].From, To: f.To, Payload: msg})
		}
		taken += n
	}
	for i := range want {
		if err := Same(want[i], got[i]); err != nil {
			t.Fatalf("signal %d: %v", i, err)
		}
	}
	<-done
	return taken, copied
}

// quick sends f by Send (how is 1) or SendBytes (2) if possible, and reports whether it did.
func quick(l dist.Link, f *dist.Frame, how int) bool {
	q, ok := l.(links.MessageWriter)
	b, binary := f.Payload.([]byte)
	if !ok || !binary || f.Op != dist.OpSend || f.Name != "" || f.Token != nil {
		return false
	}
	switch how {
	case 1:
		_, err := q.Send(f.From, f.To, b)
		return err == nil
	case 2:
		b = bytes.Clone(b)
		_, taken := q.SendBytes(f.From, f.To, b)
		for i := range b {
			b[i]++ // it belongs to the sender again
		}
		return taken
	}
	return false
}

// Together reads the same stream of bytes with two links, one of which batches, and reports a difference in the frames or
// the end.
func Together(one, other dist.Link) error {
	batch := other.(links.BatchReader)
	for i := 0; ; i++ {
		var f, g dist.Frame
		errF, errG := one.Read(&f), other.Read(&g)
		if (errF == nil) != (errG == nil) {
			return fmt.Errorf("signal %d: %v, and together: %v", i, errF, errG)
		}
		if errF != nil {
			return nil
		}
		if err := Same(f, g); err != nil {
			return fmt.Errorf("signal %d: %w", i, err)
		}
		if f.Op != dist.OpSend || f.To.IsZero() {
			continue
		}
		var msgs [100]any
		to := f.To
		for _, msg := range msgs[:batch.Batch(to, msgs[:])] {
			if i++; one.Read(&f) != nil {
				return fmt.Errorf("signal %d is none, and together a message", i)
			}
			if err := Same(f, dist.Frame{Op: dist.OpSend, From: f.From, To: to, Payload: msg}); err != nil {
				return fmt.Errorf("signal %d, together: %w", i, err)
			}
		}
	}
}

// Binaries returns signals for Together, most of them short binaries to one process.
func Binaries() (all []dist.Frame) {
	from, to := wire.NewOrigin(A), wire.NewOrigin(B)
	for i := range 30 {
		f := dist.Frame{Op: dist.OpSend, From: from.PID(uint64(i%3 + 1)), To: to.PID(5), Payload: bytes.Repeat([]byte{byte(i)}, i)}
		switch i {
		case 12:
			f.Payload = wire.Tuple{wire.Atom("first"), 1}
		case 20:
			f.To = to.PID(6)
		}
		all = append(all, f)
	}
	return all
}
