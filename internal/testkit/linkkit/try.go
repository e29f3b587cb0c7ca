package linkkit

import (
	"bytes"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/internal/wire/socket"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// try runs many senders that use Try on a link whose peer does not read at first, and call Flush only when Try requests it:
// everything arrives, in order for each sender, and only the flushing sender blocks.
func (k kit) try(t *testing.T) {
	k.needs(t, TryFlusher)
	a, b := k.pairOverTCP(t)
	p := a.(links.TryFlusher)
	const senders, messages = 8, 1500
	wake := make(chan struct{}, 1)
	froms, to := wire.NewOrigin(A), wire.NewOrigin(B).PID(1)
	var all sync.WaitGroup
	for s := range senders {
		all.Add(1)
		go func() { // ends with its messages, which the test awaits
			defer all.Done()
			for i := range messages {
				f := dist.Frame{Op: dist.OpSend, From: froms.PID(uint64(s + 1)), To: to,
					Payload: wire.Tuple{s, i, bytes.Repeat([]byte{byte(i)}, i*i%2000)}}
				if _, err := a.Write(&f); err != nil {
					t.Errorf("Write: %v", err)
					return
				}
				if p.Try() {
					select {
					case wake <- struct{}{}:
					default:
					}
				}
			}
		}()
	}
	within(t, all.Wait, "Try waits for a peer that does not read")
	done := make(chan struct{})
	defer close(done)
	go func() { // ends with the test
		for {
			select {
			case <-wake:
				if err := flush(a); err != nil {
					return
				}
			case <-done:
				return
			}
		}
	}()
	c := read(b, senders*messages)
	due := make([]int, senders)
	for range senders * messages {
		m := next(t, c).Payload.(wire.Tuple)
		s, i := m[0].(int), m[1].(int)
		if i != due[s] || !bytes.Equal(m[2].([]byte), bytes.Repeat([]byte{byte(i)}, i*i%2000)) {
			t.Fatalf("message %d of sender %d, where %d should come", i, s, due[s])
		}
		due[s]++
	}
}

// pairOverTCP is pair over a connection buffered by the system.
func (k kit) pairOverTCP(t *testing.T) (a, b dist.Link) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	ca, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	cb, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	ha, hb := hands("secret")
	oa, ob := k.meetOver(t, ca, cb, ha, hb)
	if oa.err != nil || ob.err != nil {
		t.Fatalf("Dial: %v; Accept: %v", oa.err, ob.err)
	}
	return oa.link, ob.link
}

// within fails the test if f does not return.
func within(t *testing.T, f func(), otherwise string) {
	t.Helper()
	done := make(chan struct{})
	go func() { // ends with f
		f()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal(otherwise)
	}
}

// await lets one end wait for the other: nothing comes at first, then a frame does, and Read returns it.
func (k kit) await(t *testing.T) {
	k.needs(t, BusyReader)
	a, b := k.pairOverTCP(t)
	w := b.(links.BusyReader)
	between := 0
	for between == 0 { // the time may be over before the first check
		if w.Await(time.Millisecond, func() { between++ }) {
			t.Fatal("Await says that something has come")
		}
		if !socket.Spins {
			break
		}
	}
	f := dist.Frame{Op: dist.OpSend, From: wire.NewOrigin(A).PID(1), To: wire.NewOrigin(B).PID(1), Payload: "ball"}
	if _, err := a.Write(&f); err != nil {
		t.Fatal(err)
	}
	go a.Flush(false)
	if w.Await(patience, nil) != socket.Spins {
		t.Error("Await does not see what has come, or does where it cannot look")
	}
	var got dist.Frame
	if err := b.Read(&got); err != nil || got.To != f.To {
		t.Fatalf("Read: %v, %v", got, err)
	}
}
