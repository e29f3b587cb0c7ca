package main

import (
	"bytes"
	"errors"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire"
)

// A short soak, over each protocol; its limit of memory is that of a long one. The throughput is not judged.
func TestSoak(t *testing.T) {
	for _, proto := range []string{"native", "erlang"} {
		var out, errs bytes.Buffer
		status := command([]string{"soak", "seconds=1", "rate=200000", "least=1", "faults=0", "proto=" + proto}, &out, &errs)
		require.Equal(t, contract.Done, status, "%s%s", &out, &errs)
		assert.Contains(t, out.String(), "resident at the start")
	}
}

// Errors are detected: a gap, a repetition, a stranger; memory that grows.
func TestSoakFails(t *testing.T) {
	s := soaked{next: make([]int, 2)}
	require.NoError(t, s.take(soakMessage(1, 0, 64)))
	require.ErrorContains(t, s.take(soakMessage(1, 0, 64)), "number 0 came where 1 was due")
	require.ErrorContains(t, s.take(soakMessage(0, 1, 64)), "number 1 came where 0 was due")
	require.ErrorContains(t, s.take(soakMessage(2, 0, 64)), "none of ours")
	require.ErrorContains(t, s.take(wire.Tuple{wire.Atom("data"), "x", 0, nil}), "none of ours")
	p, err := contract.Parse(soakParams, []string{"grow=1", "rate=60"})
	require.NoError(t, err)
	var out bytes.Buffer
	was := look{10 << 20, 0, 5}
	require.NoError(t, judge(p, &out, was, look{11 << 20, 0, 5}, 1, 1, 1e9))
	require.ErrorContains(t, judge(p, &out, was, look{12 << 20, 0, 5}, 1, 1, 1e9), "grown by 2.0 MiB")
	require.ErrorContains(t, judge(p, &out, was, look{10 << 20, 0, 6}, 1, 1, 1e9), "goroutines")
	require.ErrorContains(t, judge(p, &out, was, was, 1, 1, 2e9), "30 messages a minute went through, of 60")
	p, err = contract.Parse(soakParams, []string{"rate=60", "least=50"})
	require.NoError(t, err)
	require.NoError(t, judge(p, &out, was, was, 1, 1, 2e9))
	require.ErrorContains(t, judge(p, &out, was, was, 1, 1, 3e9), "at least 50% must")
	var errs bytes.Buffer
	assert.Equal(t, contract.Misused, command([]string{"soak", "minuets=1"}, &out, &errs))
}

// soakArgs returns the parameters of a short soak.
func soakArgs(t *testing.T, more ...string) []string {
	seed := strconv.FormatUint(testkit.Seed(t)>>1|1, 10)
	return append([]string{"faultrate=6000", "rate=60000", "least=1", "grow=256", "heap=64", "seed=" + seed}, more...)
}

// A short soak with faults, over both protocols; nothing in it depends on the speed of the machine.
func TestSoakFaults(t *testing.T) {
	var out, errs bytes.Buffer
	status := command(append([]string{"soak"}, soakArgs(t, "count=400", "proto=mixed")...), &out, &errs)
	require.Equal(t, contract.Done, status, "%s%s", &out, &errs)
	for _, k := range soakKinds {
		assert.Contains(t, out.String(), " "+k.name)
	}
	assert.Contains(t, out.String(), "resident at the start")
}

// badSoak runs a soak in which fault number 2, after the warm-up, is bad.
func badSoak(t *testing.T, bad func(*fault) error) error {
	p, err := contract.Parse(soakParams, soakArgs(t, "count=3", "heap=1"))
	require.NoError(t, err)
	var out bytes.Buffer
	s, err := newSoakStand(p, &out, []soakKind{{"bad", 1, func(f *fault) error {
		if f.number == 2 {
			return bad(f)
		}
		return nil
	}}})
	require.NoError(t, err)
	s.patience = testkit.Limit
	return s.whole(t.Context())
}

// A soak finds whatever is left over, and names it.
func TestSoakFindsWhatIsLeft(t *testing.T) {
	over := make(chan struct{})
	var kept []byte
	var file *os.File
	var third *soakNode
	t.Cleanup(func() {
		close(over)
		require.NoError(t, file.Close())
		require.NoError(t, third.Stop())
		require.NotEmpty(t, kept)
	})
	err := badSoak(t, func(f *fault) (err error) {
		f.s.lingers = time.Second // nothing left over ever goes away
		go func() { <-over }()
		kept = make([]byte, 4<<20)
		if file, err = os.Open(os.DevNull); err != nil {
			return err
		}
		x, y := f.s.nodes[0], f.s.nodes[1]
		far, err := y.Spawn(node.ActorFunc(soakActor))
		if err != nil {
			return err
		}
		pid, err := x.SpawnOpt(node.Options{Name: "left"}, node.ProcessFunc(func(p *node.Process) error {
			p.Alias()
			p.Link(far)
			p.Monitor(far)
			node.SendRequest(p, far, 1, wire.Tuple{wire.Atom("never")})
			if _, err := p.SendAfter(time.Hour, p.Self(), 1); err != nil {
				return err
			}
			<-over
			return nil
		}))
		if err != nil {
			return err
		}
		if third, err = f.s.node(f.ctx, "third@127.0.0.1", "native", node.Distribution{}); err != nil {
			return err
		}
		return errors.Join(x.Send(pid, 1), x.Connect(f.ctx, third.Name()), x.scope.Join(f.ctx, x, "left", pid))
	})
	require.Error(t, err)
	for _, row := range []string{"goroutines", "heap in use", "open files", "processes", "messages that wait", "names", "aliases",
		"links", "monitors", "groups", "members of groups", "timers", "calls waiting", "peers",
		"new: name left on near@127.0.0.1", "repeat with seed="} {
		if row == "open files" && openFiles() < 0 {
			continue
		}
		assert.ErrorContains(t, err, row)
	}
}

// A message that arrives twice, one that is lost while the connection stays, and a lost connection that has Grace.
func TestSoakFindsWhatIsLost(t *testing.T) {
	for _, c := range []struct {
		bad  func(*fault) error
		want string
	}{
		{func(f *fault) error {
			return f.s.nodes[0].Send(f.s.traffic.streams[0].sink, soakMessage(0, 0, 1))
		}, "number 0 came where"},
		{func(f *fault) error {
			return f.s.nodes[0].Send(f.s.traffic.streams[1].sink, soakMessage(1, 1<<40, 1))
		}, "came where"},
		{func(f *fault) error {
			f.s.nodes[0].Disconnect(farName)
			return f.s.connect(f.ctx)
		}, "which has Grace, has been lost"},
		{func(*fault) error { return errors.New("this is wrong") }, "fault 2, bad: this is wrong"},
	} {
		require.ErrorContains(t, badSoak(t, c.bad), c.want)
	}
}

// With a new connection messages may have been lost, once; none may arrive twice.
func TestSoakGaps(t *testing.T) {
	s := soaked{next: make([]int, 2), gap: make([]bool, 2), senders: map[node.Atom][]int{"a@h": {0}}, never: "b@h",
		renewing: new(atomic.Bool)}
	require.NoError(t, s.take(soakMessage(0, 0, 1)))
	require.ErrorContains(t, s.take(soakMessage(0, 2, 1)), "number 2 came where 1 was due")
	require.NoError(t, s.up("a@h"))
	require.NoError(t, s.up("other@h"))
	require.ErrorContains(t, s.take(soakMessage(0, 0, 1)), "number 0 came where 1 was due")
	require.NoError(t, s.take(soakMessage(0, 5, 1)))
	require.ErrorContains(t, s.take(soakMessage(0, 7, 1)), "number 7 came where 6 was due")
	require.ErrorContains(t, s.take(soakMessage(1, 1, 1)), "number 1 came where 0 was due", "of another node")
	require.ErrorContains(t, s.up("b@h"), "Grace")
	require.Equal(t, 4, s.lost)
}

// The faults of a seed are the same each time.
func TestSoakSeed(t *testing.T) {
	kinds := func(seed string) (names []string) {
		p, err := contract.Parse(soakParams, []string{"seed=" + seed})
		require.NoError(t, err)
		s, err := newSoakStand(p, nil, soakKinds)
		require.NoError(t, err)
		for range 50 {
			f := s.next(t.Context())
			names = append(names, f.kind.name+strconv.Itoa(f.r.Int()))
		}
		return names
	}
	assert.Equal(t, kinds("7"), kinds("7"))
	assert.NotEqual(t, kinds("7"), kinds("8"))
	p, err := contract.Parse(soakParams, []string{"kinds=cut,bend"})
	require.NoError(t, err)
	_, err = newSoakStand(p, nil, soakKinds)
	require.ErrorContains(t, err, `"bend" is no kind of fault`)
}

// The network applies to connections what the faults ask for.
func TestSoakNet(t *testing.T) {
	w := newSoakNet()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	forget, err := w.Announce(t.Context(), discovery.Announcement{Name: "a@h", Endpoints: []discovery.Endpoint{{Addr: l.Addr().String()}}})
	require.NoError(t, err)
	join := func() (near, far net.Conn, r *relay) {
		at, err := w.Find(t.Context(), "a@h")
		require.NoError(t, err)
		near, err = soakDialler{net: w, me: "b@h"}.Dial(t.Context(), at[0].Addr, "a@h")
		require.NoError(t, err)
		far, err = l.Accept()
		require.NoError(t, err)
		testkit.Until(t, func() string {
			if len(w.all()) != 1 {
				return "there is no connection"
			}
			return ""
		})
		r = w.all()[0]
		assert.Equal(t, 0, w.side(r, "b@h"))
		assert.Equal(t, 1, w.side(r, "a@h"))
		assert.Equal(t, -1, w.side(r, "c@h"))
		return near, far, r
	}
	reads := func(c net.Conn, want string) {
		b := make([]byte, len(want))
		c.SetReadDeadline(time.Now().Add(testkit.Limit))
		for n := 0; n < len(b); {
			k, err := c.Read(b[n:])
			require.NoError(t, err)
			n += k
		}
		assert.Equal(t, want, string(b))
	}
	ends := func(c net.Conn) {
		c.SetReadDeadline(time.Now().Add(testkit.Limit))
		n, err := c.Read(make([]byte, 1))
		require.Error(t, err)
		require.Zero(t, n)
		require.False(t, os.IsTimeout(err), "the connection is open")
	}
	write := func(c net.Conn, text string) {
		_, err := c.Write([]byte(text))
		require.NoError(t, err)
	}
	none := func() {
		testkit.Until(t, func() string {
			if len(w.all()) > 0 {
				return "there still is a connection"
			}
			return ""
		})
	}

	near, far, r := join()
	write(near, "to")
	reads(far, "to")
	r.lanes[1].hold()
	r.lanes[1].slow.Store(true)
	write(far, "fro")
	write(far, "fro")
	w.heal()
	reads(near, "frofro")
	r.lanes[0].left.Store(3)
	write(near, "12345")
	reads(far, "12")
	ends(far)
	ends(near)
	none()

	near, far, r = join()
	r.vanish(1)
	ends(far)
	write(near, "to nobody")
	require.Len(t, w.all(), 1, "the other end is open")
	near.Close()
	none()

	near, far, _ = join()
	write(near, "last")
	near.(*net.TCPConn).CloseWrite()
	reads(far, "last")
	ends(far)
	write(far, "answer")
	reads(near, "answer")
	far.Close()
	ends(near)
	none()

	w.shut("a@h", time.Hour)
	at, err := w.Find(t.Context(), "a@h")
	require.NoError(t, err)
	near, err = net.Dial("tcp", at[0].Addr)
	require.NoError(t, err)
	ends(near)
	forget()
	_, err = w.Find(t.Context(), "a@h")
	require.Error(t, err)
	l.Close()
	w.wg.Wait()
	assert.Empty(t, w.dialled)
}
