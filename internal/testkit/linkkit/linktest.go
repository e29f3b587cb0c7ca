package linkkit

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"reflect"
	"testing"
	"time"

	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// patience bounds every wait, like testkit.Limit. Package testkit defines flags, which must not be added to users' tests.
const patience = 5 * time.Minute

// The two nodes of a test. A dials B.
var (
	A = wire.NodeID{Name: "a@host", Creation: 7}
	B = wire.NodeID{Name: "b@host", Creation: 1 << 31}
)

// Has returns the optional interfaces of the links of p.
func Has(t *testing.T, p dist.Protocol) Optional {
	a, _ := kit{p: p}.pair(t)
	return Of(a)
}

// Test runs all tests of the kit against p, whose links must have exactly the optional interfaces in has.
func Test(t *testing.T, p dist.Protocol, has Optional) { kit{p: p, has: has}.run(t) }

// Whole is Test for a protocol whose peers accept messages only in one piece.
func Whole(t *testing.T, p dist.Protocol, has Optional) { kit{p: p, has: has, whole: true}.run(t) }

func (k kit) run(t *testing.T) {
	t.Run("Optional", k.optional)
	t.Run("Handshake", k.handshake)
	t.Run("Verdicts", k.verdicts)
	t.Run("Cookies", k.cookies)
	t.Run("Proved", k.proved)
	t.Run("Name", k.name)
	t.Run("Silence", k.silence)
	t.Run("Cancel", k.cancel)
	t.Run("Cut", k.cut)
	t.Run("Garbage", k.garbage)
	t.Run("Ops", k.ops)
	t.Run("Terms", k.terms)
	t.Run("Order", k.order)
	t.Run("Large", k.large)
	t.Run("Lanes", k.lanes)
	t.Run("Crowd", k.crowd)
	t.Run("Ahead", k.ahead)
	t.Run("Batch", k.batch)
	t.Run("Try", k.try)
	t.Run("Await", k.await)
	t.Run("NoTerm", k.noTerm)
	t.Run("Limit", k.limit)
	t.Run("Tick", k.tick)
	t.Run("Close", k.close)
}

type kit struct {
	p     dist.Protocol
	has   Optional
	whole bool // the peers accept messages only in one piece
}

// hands returns the handshakes of both ends, which tests may change.
func hands(cookie string) (a, b dist.Handshake) {
	same := func(wire.Atom) (string, string) { return cookie, cookie }
	return dist.Handshake{Local: A, Peer: B.Name, Cookies: same}, dist.Handshake{Local: B, Cookies: same}
}

// outcome is the result of one end of a handshake.
type outcome struct {
	link dist.Link
	err  error
}

// meet runs a handshake over a pipe.
func (k kit) meet(t *testing.T, a, b dist.Handshake) (oa, ob outcome) {
	t.Helper()
	ca, cb := net.Pipe()
	return k.meetOver(t, ca, cb, a, b)
}

func (k kit) meetOver(t *testing.T, ca, cb net.Conn, a, b dist.Handshake) (oa, ob outcome) {
	t.Helper()
	done := make(chan outcome, 1)
	go func() { // ends with the handshake, which meetOver awaits
		l, err := k.p.Accept(t.Context(), cb, b)
		done <- outcome{l, err}
	}()
	oa.link, oa.err = k.p.Dial(t.Context(), ca, a)
	select {
	case ob = <-done:
	case <-time.After(patience):
		t.Fatal("Accept does not return when Dial has")
	}
	for _, o := range []outcome{oa, ob} {
		if o.err == nil {
			t.Cleanup(func() { _ = o.link.Close() })
		}
	}
	return oa, ob
}

// pair returns two ends of a link.
func (k kit) pair(t *testing.T) (a, b dist.Link) {
	t.Helper()
	ha, hb := hands("secret")
	oa, ob := k.meet(t, ha, hb)
	if oa.err != nil || ob.err != nil {
		t.Fatalf("Dial: %v; Accept: %v", oa.err, ob.err)
	}
	return oa.link, ob.link
}

func (k kit) handshake(t *testing.T) {
	for _, hidden := range []bool{false, true} {
		ha, hb := hands("secret")
		ha.Hidden = hidden
		hb.Hidden = !hidden
		var asked []wire.Atom
		hb.Admit = func(id wire.NodeID) dist.Verdict {
			if id != A {
				t.Errorf("Admit is asked about %v, not %v", id, A)
			}
			return dist.Welcome
		}
		hb.Cookies = func(peer wire.Atom) (string, string) {
			asked = append(asked, peer)
			return "secret", "secret"
		}
		oa, ob := k.meet(t, ha, hb)
		if oa.err != nil || ob.err != nil {
			t.Fatalf("Dial: %v; Accept: %v", oa.err, ob.err)
		}
		pa, pb := oa.link.Peer(), ob.link.Peer()
		if pa.ID != B || pb.ID != A {
			t.Errorf("peers are %v and %v, not %v and %v", pa.ID, pb.ID, B, A)
		}
		if pb.Hidden != hidden || pa.Hidden == hidden {
			t.Errorf("Hidden is %v at the accepting side and %v at the other, where the dialling one is %v", pb.Hidden, pa.Hidden, hidden)
		}
		if pa.Protocol != k.p.Name() || pb.Flags != pa.Flags {
			t.Errorf("peers %+v and %+v", pa, pb)
		}
		if len(asked) == 0 || asked[0] != A.Name {
			t.Errorf("Cookies is asked for %v", asked)
		}
	}
}

func (k kit) verdicts(t *testing.T) {
	for v, want := range map[dist.Verdict]error{dist.Welcome: nil, dist.Simultaneous: nil, dist.Alive: nil,
		dist.Busy: dist.ErrBusy, dist.NotAllowed: dist.ErrNotAllowed, dist.Full: dist.ErrNotAllowed} {
		ha, hb := hands("secret")
		hb.Admit = func(wire.NodeID) dist.Verdict { return v }
		oa, ob := k.meet(t, ha, hb)
		if !errors.Is(oa.err, want) || !errors.Is(ob.err, want) {
			t.Errorf("verdict %d: Dial says %v, Accept %v, expected %v", v, oa.err, ob.err, want)
		}
	}
}

// proved checks when Handshake.Proved is called, and that its result counts.
func (k kit) proved(t *testing.T) {
	for _, c := range []struct {
		cookie string // known to the dialling side
		says   error
		asked  int
	}{{"secret", nil, 1}, {"secret", dist.ErrBusy, 1}, {"wrong", nil, 0}} {
		ha, hb := hands(c.cookie)
		hb.Cookies = func(wire.Atom) (string, string) { return "secret", "secret" }
		asked := 0
		hb.Proved = func(peer wire.NodeID) error {
			if asked++; peer != A {
				t.Errorf("asked about %v", peer)
			}
			return c.says
		}
		ca, cb := net.Pipe()
		oa, ob := k.meetOver(t, ca, cb, ha, hb)
		if asked != c.asked {
			t.Errorf("%+v: asked %d times", c, asked)
		}
		switch good := c.cookie == "secret" && c.says == nil; {
		case good != (oa.err == nil) || good != (ob.err == nil):
			t.Errorf("%+v: Dial says %v, Accept %v", c, oa.err, ob.err)
		case c.says != nil && !errors.Is(ob.err, c.says):
			t.Errorf("%+v: Accept says %v", c, ob.err)
		}
	}
}

func (k kit) cookies(t *testing.T) {
	for _, c := range []struct {
		aIn, aOut, bIn, bOut string
		ok                   bool
	}{
		{"x", "x", "x", "x", true},
		{"x", "y", "y", "x", true},
		{"", "", "", "", false}, // a well-known cookie does not count
		{"", "x", "x", "", false},
		{"x", "", "", "x", false},
		{"x", "x", "y", "y", false},
		{"x", "y", "x", "x", false}, // the dialling side does not know
		{"y", "x", "x", "x", false}, // the accepting side does not
	} {
		ha, hb := hands("")
		ha.Cookies = func(wire.Atom) (string, string) { return c.aIn, c.aOut }
		hb.Cookies = func(wire.Atom) (string, string) { return c.bIn, c.bOut }
		ca, cb := net.Pipe()
		oa, ob := k.meetOver(t, ca, cb, ha, hb)
		if c.ok {
			if oa.err != nil || ob.err != nil {
				t.Errorf("%+v: Dial says %v, Accept %v", c, oa.err, ob.err)
			}
			continue
		}
		if !errors.Is(oa.err, dist.ErrCookie) && !errors.Is(ob.err, dist.ErrCookie) {
			t.Errorf("%+v: Dial says %v, Accept %v, expected a wrong cookie", c, oa.err, ob.err)
		}
		if oa.err == nil { // the end that proved itself may notice later
			t.Errorf("%+v: Dial succeeds", c)
		}
		if ob.err == nil {
			if err := ob.link.Read(new(dist.Frame)); err == nil {
				t.Errorf("%+v: the accepting side goes on", c)
			}
		}
	}
}

func (k kit) name(t *testing.T) {
	ha, hb := hands("secret")
	ha.Peer = "other@host"
	oa, ob := k.meet(t, ha, hb)
	if !errors.Is(oa.err, dist.ErrPeerName) {
		t.Errorf("another node answers, and Dial says %v", oa.err)
	}
	if ob.err == nil {
		t.Error("Accept succeeds, with a peer that wanted another")
	}
}

// unanswered runs one end against a connection on which no peer answers.
func (k kit) unanswered(t *testing.T, do func(end ender, h dist.Handshake)) {
	ha, hb := hands("secret")
	ha.Limits.Timeout = 50 * time.Millisecond
	hb.Limits.Timeout = ha.Limits.Timeout
	do(k.p.Dial, ha)
	do(k.p.Accept, hb)
}

type ender = func(ctx context.Context, conn net.Conn, h dist.Handshake) (dist.Link, error)

func (k kit) silence(t *testing.T) {
	k.unanswered(t, func(end ender, h dist.Handshake) {
		conn, other := net.Pipe()
		defer other.Close()
		if _, err := end(t.Context(), conn, h); err == nil {
			t.Error("a handshake with a silent peer succeeds")
		}
		if _, err := conn.Write([]byte{0}); err == nil {
			t.Error("the connection is open after a handshake that failed")
		}
	})
}

func (k kit) cancel(t *testing.T) {
	k.unanswered(t, func(end ender, h dist.Handshake) {
		h.Limits.Timeout = time.Hour
		conn, other := net.Pipe()
		defer other.Close()
		why := errors.New("changed my mind")
		ctx, cancel := context.WithCancelCause(t.Context())
		timer := time.AfterFunc(10*time.Millisecond, func() { cancel(why) })
		defer timer.Stop()
		if _, err := end(ctx, conn, h); !errors.Is(err, why) {
			t.Errorf("a handshake whose context is cancelled says %v", err)
		}
	})
}

// cutConn is a connection that ends after some bytes.
type cutConn struct {
	net.Conn
	left int
}

func (c *cutConn) Write(b []byte) (int, error) {
	if len(b) >= c.left {
		n, _ := c.Conn.Write(b[:c.left])
		c.left = 0
		_ = c.Close()
		return n, net.ErrClosed
	}
	c.left -= len(b)
	return c.Conn.Write(b)
}

// cut cuts the connection after each byte of the handshake, in each direction.
func (k kit) cut(t *testing.T) {
	for _, dialled := range []bool{true, false} {
		for n := 1; ; n++ {
			ha, hb := hands("secret")
			ca, cb := net.Pipe()
			if dialled {
				ca = &cutConn{ca, n}
			} else {
				cb = &cutConn{cb, n}
			}
			oa, ob := k.meetOver(t, ca, cb, ha, hb)
			if oa.err == nil && ob.err == nil {
				break
			}
			if n > 10_000 {
				t.Fatal("no handshake ends within 10,000 bytes")
			}
		}
	}
}

func (k kit) garbage(t *testing.T) {
	for i := range 200 {
		k.unanswered(t, func(end ender, h dist.Handshake) {
			conn, other := net.Pipe()
			go func() { // ends with the connection
				b := make([]byte, 4096)
				for {
					if _, err := other.Read(b); err != nil {
						return
					}
				}
			}()
			go func() { // ends with the connection
				b := make([]byte, 1+i)
				_, _ = rand.Read(b)
				if i%2 == 0 { // a short length, which is read
					b[0] = 0
				}
				_, _ = other.Write(b)
				_ = other.Close()
			}()
			if l, err := end(t.Context(), conn, h); err == nil {
				_ = l.Close()
				t.Error("a handshake with noise succeeds")
			}
		})
	}
}

// read reads n frames on a new goroutine.
func read(l dist.Link, n int) <-chan outcomeOfRead {
	c := make(chan outcomeOfRead, n)
	go func() { // ends with n frames or the link
		defer close(c)
		for range n {
			var f dist.Frame
			err := l.Read(&f)
			c <- outcomeOfRead{f, err}
			if err != nil {
				return
			}
		}
	}()
	return c
}

type outcomeOfRead struct {
	f   dist.Frame
	err error
}

func next(t *testing.T, c <-chan outcomeOfRead) dist.Frame {
	t.Helper()
	select {
	case o, ok := <-c:
		if !ok || o.err != nil {
			t.Fatalf("Read: %v", o.err)
		}
		return o.f
	case <-time.After(patience):
		t.Fatal("Read does not return what was written")
	}
	return dist.Frame{}
}

// frames returns a frame of each Op and shape that p takes, from node here to
// node there.
func frames(p dist.Peer, here, there wire.Origin) []dist.Frame {
	from, to, ref := here.PID(1<<40|5), there.PID(77), here.RefOf(1<<60|99)
	long := here.Ref(1, 2, 3, 4, 5)
	reason := wire.Tuple{wire.Atom("shutdown"), []byte("reason"), from}
	token := wire.Tuple{1, 42, 3, from, 4}
	l := []dist.Frame{
		{Op: dist.OpSend, From: from, To: to, Payload: 1},
		{Op: dist.OpSend, From: from, To: to, Payload: nil, Token: token},
		{Op: dist.OpSend, From: from, Name: "name", Payload: wire.Atom("x")},
		{Op: dist.OpSend, From: from, Name: "ж name", Payload: wire.Atom("x"), Token: token},
		{Op: dist.OpSend, To: to, Payload: "no sender"},
		{Op: dist.OpSend, Name: "name", Payload: "no sender"},
		{Op: dist.OpSend, From: from, To: to, Payload: 2, Urgent: true},
		{Op: dist.OpLink, From: from, To: to},
		{Op: dist.OpExit, From: from, To: to, Payload: reason},
		{Op: dist.OpExit, From: from, To: to, Payload: wire.Atom("normal"), Token: token},
		{Op: dist.OpSignal, From: from, To: to, Payload: reason},
		{Op: dist.OpSignal, From: from, To: to, Payload: wire.Atom("kill"), Token: token},
		{Op: dist.OpGroupLeader, Leader: there.PID(3), To: to},
	}
	if p.Acks {
		l = append(l, dist.Frame{Op: dist.OpUnlink, From: from, To: to, ID: 1},
			dist.Frame{Op: dist.OpUnlink, From: from, To: to, ID: 1<<64 - 1},
			dist.Frame{Op: dist.OpUnlinkAck, From: from, To: to, ID: 1 << 62},
			dist.Frame{Op: dist.OpUnlinkAck, From: from, To: to, ID: 256})
	} else {
		l = append(l, dist.Frame{Op: dist.OpUnlink, From: from, To: to})
	}
	if p.Alias {
		l = append(l, dist.Frame{Op: dist.OpSend, From: from, Ref: ref, Payload: wire.List{1, 2}},
			dist.Frame{Op: dist.OpSend, From: from, Ref: long, Payload: wire.List{1, 2}, Token: token})
	}
	if p.Monitor {
		l = append(l, dist.Frame{Op: dist.OpMonitor, From: from, To: to, Ref: ref},
			dist.Frame{Op: dist.OpMonitor, From: from, Name: "name", Ref: long},
			dist.Frame{Op: dist.OpDemonitor, From: from, To: to, Ref: ref},
			dist.Frame{Op: dist.OpDemonitor, From: from, Name: "name", Ref: ref},
			dist.Frame{Op: dist.OpDown, From: from, To: to, Ref: ref, Payload: reason},
			dist.Frame{Op: dist.OpDown, Name: "name", To: to, Ref: ref, Payload: wire.Atom("noproc")})
	}
	if p.Receipts {
		l = append(l, dist.Frame{Op: dist.OpSend, From: from, To: to, Payload: 1, ID: 1},
			dist.Frame{Op: dist.OpSend, From: from, Name: "name", Payload: 1, ID: 1<<64 - 1, Token: token},
			dist.Frame{Op: dist.OpReceipt, From: from, To: to, ID: 1, Payload: dist.Delivered},
			dist.Frame{Op: dist.OpReceipt, To: to, ID: 300, Payload: wire.Tuple{wire.Atom("full"), 3}})
	}
	if p.Spawn {
		s := dist.Spawn{Module: "m", Function: "f", Args: []any{}, Leader: from}
		all := dist.Spawn{Module: "m", Function: "f", Args: []any{1, 2, reason}, Leader: there.PID(9), Link: true, Monitor: true,
			Name: "new", Options: wire.List{wire.Tuple{wire.Atom("priority"), wire.Atom("low")}, wire.Atom("other")}}
		l = append(l, dist.Frame{Op: dist.OpSpawn, Ref: ref, From: from, Spawn: &s},
			dist.Frame{Op: dist.OpSpawn, Ref: ref, From: from, Spawn: &all, Token: token},
			dist.Frame{Op: dist.OpSpawnReply, Ref: there.RefOf(1), To: to, From: from, Linked: true},
			dist.Frame{Op: dist.OpSpawnReply, Ref: there.RefOf(1), To: to, From: from, Watched: true, Token: token},
			dist.Frame{Op: dist.OpSpawnReply, Ref: there.RefOf(1), To: to, Payload: wire.Atom("system_limit")})
	}
	return l
}

// Same reports how got differs from want, a frame that was written.
func Same(want, got dist.Frame) error {
	if want.Op == dist.OpSend || want.Op == dist.OpSignal {
		if got.From.IsZero() || want.From.IsZero() {
			got.From = want.From
		}
		got.Urgent = want.Urgent
	}
	if (want.Spawn == nil) != (got.Spawn == nil) {
		return fmt.Errorf("field Spawn is %v, expected %v", got.Spawn, want.Spawn)
	}
	if want.Spawn != nil {
		w, g := *want.Spawn, *got.Spawn
		if !wire.Equal(wire.List(w.Args), wire.List(g.Args)) || !wire.Equal(w.Options, g.Options) {
			return fmt.Errorf("field Spawn is %+v, expected %+v", g, w)
		}
		w.Args, w.Options, g.Args, g.Options = nil, nil, nil, nil
		if !reflect.DeepEqual(w, g) {
			return fmt.Errorf("field Spawn is %+v, expected %+v", g, w)
		}
		want.Spawn, got.Spawn = nil, nil
	}
	if (want.Token == nil) != (got.Token == nil) || !wire.Equal(want.Token, got.Token) {
		return fmt.Errorf("field Token is %s, expected %s", wire.Format(got.Token), wire.Format(want.Token))
	}
	if !samePayload(want.Payload, got.Payload) {
		return fmt.Errorf("field Payload is %.1000s, expected %.1000s", wire.Format(got.Payload), wire.Format(want.Payload))
	}
	want.Token, got.Token, want.Payload, got.Payload = nil, nil, nil, nil
	if !reflect.DeepEqual(want, got) {
		return fmt.Errorf("%+v, expected %+v", got, want)
	}
	return nil
}

// samePayload reports whether two payloads are the same, including unreadable ones.
func samePayload(want, got any) bool {
	switch w := want.(type) {
	case *links.Unreadable:
		g, ok := got.(*links.Unreadable)
		return ok && w.Error() == g.Error() && wire.Equal(w.Term, g.Term)
	case *links.Request:
		g, ok := got.(*links.Request)
		return ok && w.Ref == g.Ref && w.Wait == g.Wait && samePayload(w.Body, g.Body)
	case *links.Reply:
		g, ok := got.(*links.Reply)
		return ok && samePayload(w.Value, g.Value)
	}
	return wire.Equal(want, got)
}

func (k kit) ops(t *testing.T) {
	a, b := k.pair(t)
	oa, ob := wire.NewOrigin(A), wire.NewOrigin(B)
	for range 3 { // later ones may be encoded differently
		k.cross(t, a, b, frames(a.Peer(), oa, ob))
		k.cross(t, b, a, frames(b.Peer(), ob, oa))
	}
	bad := []dist.Frame{{}, {Op: 200}, {Op: dist.OpSend, From: oa.PID(1)}, {Op: dist.OpLink, From: oa.PID(1)}, {Op: dist.OpSpawn}}
	if a.Peer().Acks { // otherwise it needs no ID
		bad = append(bad, dist.Frame{Op: dist.OpUnlink, From: oa.PID(1), To: ob.PID(1)})
	}
	if a.Peer().Monitor { // otherwise it is dropped, whatever its content
		bad = append(bad, dist.Frame{Op: dist.OpMonitor, From: oa.PID(1), To: ob.PID(1)})
	}
	for _, f := range bad {
		n, err := a.Write(&f)
		if !errors.As(err, new(*wire.EncodeError)) {
			t.Errorf("Write of %+v says %v, no EncodeError", f, err)
		}
		if n != 0 {
			t.Errorf("%d bytes are buffered after frames that cannot be written", n)
		}
	}
	k.cross(t, a, b, frames(a.Peer(), oa, ob)[:1])
}

// put writes f when it is its turn.
func put(l dist.Link, f *dist.Frame) error {
	for {
		_, err := l.Write(f)
		if !errors.Is(err, dist.ErrLater) {
			return err
		}
		if _, err := l.Flush(false); err != nil {
			return err
		}
	}
}

// flush sends all waiting frames.
func flush(l dist.Link) error {
	for {
		if left, err := l.Flush(false); left == 0 || err != nil {
			return err
		}
	}
}

// cross sends frames and compares those received.
func (k kit) cross(t *testing.T, from, to dist.Link, l []dist.Frame) {
	t.Helper()
	c := read(to, len(l))
	for i := range l {
		if err := put(from, &l[i]); err != nil {
			t.Errorf("Write of %+v: %v", l[i], err)
			return
		}
		if i%3 == 2 || i == len(l)-1 {
			if err := flush(from); err != nil {
				t.Fatalf("Flush: %v", err)
			}
		}
	}
	for i := range l {
		if err := Same(l[i], next(t, c)); err != nil {
			t.Errorf("frame %d, %s: %v", i, l[i].Op, err)
		}
	}
}

func (k kit) order(t *testing.T) {
	a, b := k.pair(t)
	const n = 20_000
	c := read(b, n)
	from, to := wire.NewOrigin(A).PID(1), wire.NewOrigin(B).PID(1)
	go func() { // ends with the frames, which the test awaits
		for i := range n {
			f := dist.Frame{Op: dist.OpSend, From: from, To: to, Payload: wire.Tuple{i, wire.Atom(fmt.Sprint("atom", i%3000))}}
			n, err := a.Write(&f)
			if err != nil {
				t.Errorf("Write: %v", err)
			}
			if n > 1<<12 {
				_ = flush(a)
			}
		}
		_ = flush(a)
	}()
	for i := range n {
		if f := next(t, c); !wire.Equal(f.Payload, wire.Tuple{i, wire.Atom(fmt.Sprint("atom", i%3000))}) {
			t.Fatalf("message %d is %s", i, wire.Format(f.Payload))
		}
	}
}

func (k kit) large(t *testing.T) {
	a, b := k.pair(t)
	from, to := wire.NewOrigin(A).PID(1), wire.NewOrigin(B).PID(1)
	blob := make([]byte, 5<<20)
	_, _ = rand.Read(blob)
	var l []dist.Frame
	for _, n := range []int{1 << 10, 64<<10 - 100, 64<<10 - 1, 64 << 10, 128 << 10, 128<<10 + 1, len(blob)} {
		l = append(l, dist.Frame{Op: dist.OpSend, From: from, To: to, Payload: bytes.Clone(blob[:n])},
			dist.Frame{Op: dist.OpExit, From: from, To: to, Payload: wire.Tuple{wire.Atom("x"), bytes.Clone(blob[:n])}})
	}
	many := make(wire.List, 100_000)
	for i := range many {
		many[i] = wire.Tuple{wire.Atom(fmt.Sprint("atom", i)), i}
	}
	l = append(l, dist.Frame{Op: dist.OpSend, From: from, Name: "x", Payload: many})
	k.cross(t, a, b, l)
	k.cross(t, a, b, l[:1])
}

func (k kit) noTerm(t *testing.T) {
	a, b := k.pair(t)
	f := dist.Frame{Op: dist.OpSend, From: wire.NewOrigin(A).PID(1), Name: "x"}
	f.Payload = wire.Tuple{wire.Atom("first_atom"), 1}
	k.cross(t, a, b, []dist.Frame{f})
	for range 3 {
		bad := f
		bad.Payload = wire.Tuple{wire.Atom("first_atom"), wire.Atom("new_atom"), make(chan int)}
		if _, err := a.Write(&bad); !errors.As(err, new(*wire.EncodeError)) {
			t.Fatalf("Write of a channel says %v", err)
		}
		f.Payload = wire.Tuple{wire.Atom("new_atom"), wire.Atom("first_atom"), 2}
		k.cross(t, a, b, []dist.Frame{f})
	}
}

func (k kit) limit(t *testing.T) {
	ha, hb := hands("secret")
	hb.Limits.Message = 200 << 10
	oa, ob := k.meet(t, ha, hb)
	if oa.err != nil || ob.err != nil {
		t.Fatalf("Dial: %v; Accept: %v", oa.err, ob.err)
	}
	f := dist.Frame{Op: dist.OpSend, From: wire.NewOrigin(B).PID(1), Name: "x", Payload: make([]byte, 300<<10)}
	if _, err := ob.link.Write(&f); !errors.As(err, new(*wire.EncodeError)) {
		t.Errorf("Write beyond the limit says %v", err)
	}
	f.Payload = make([]byte, 150<<10)
	k.cross(t, ob.link, oa.link, []dist.Frame{f})
	f.From = wire.NewOrigin(A).PID(1)
	k.cross(t, oa.link, ob.link, []dist.Frame{f})
	c := read(ob.link, 1)
	f.Payload = make([]byte, 300<<10)
	switch _, err := oa.link.Write(&f); {
	case errors.As(err, new(*wire.EncodeError)): // it knows what the peer accepts
		return
	case err != nil:
		t.Fatalf("Write: %v", err)
	}
	go func() { _ = flush(oa.link) }() // ends with the link
	select {
	case o := <-c:
		if o.err == nil {
			t.Error("a message beyond the limit is read")
		}
	case <-time.After(patience):
		t.Error("Read does not return")
	}
}

func (k kit) tick(t *testing.T) {
	a, b := k.pair(t)
	_, out := a.Traffic()
	in, _ := b.Traffic()
	f := dist.Frame{Op: dist.OpSend, From: wire.NewOrigin(A).PID(1), Name: "x", Payload: 1}
	c := read(b, 1)
	for range 3 {
		if _, err := a.Flush(true); err != nil {
			t.Fatalf("Flush: %v", err)
		}
		_, now := a.Traffic()
		if _, err := a.Flush(false); err != nil {
			t.Fatalf("Flush: %v", err)
		}
		if _, then := a.Traffic(); then != now {
			t.Errorf("%d bytes go though nothing waits and no tick is wanted", then-now)
		}
	}
	if _, now := a.Traffic(); now <= out {
		t.Errorf("%d bytes out after three ticks, %d before", now, out)
	}
	if n, err := a.Write(&f); err != nil || n == 0 {
		t.Fatalf("Write: %d bytes, %v", n, err)
	}
	if _, err := a.Flush(true); err != nil { // of the written frame, not a tick
		t.Fatalf("Flush: %v", err)
	}
	if n, _ := a.Write(&dist.Frame{}); n != 0 {
		t.Errorf("Flush leaves %d bytes", n)
	}
	if err := Same(f, next(t, c)); err != nil {
		t.Error(err)
	}
	if now, _ := b.Traffic(); now <= in {
		t.Errorf("%d bytes in after three ticks and a message, %d before", now, in)
	}
}

func (k kit) close(t *testing.T) {
	a, b := k.pair(t)
	ca, cb := read(a, 1), read(b, 1)
	flushed := make(chan error, 1)
	go func() { // ends with the link; only the first frame is read
		f := dist.Frame{Op: dist.OpSend, From: wire.NewOrigin(A).PID(1), Name: "x", Payload: make([]byte, 1<<20)}
		for {
			if err := put(a, &f); err != nil {
				flushed <- err
				return
			}
			if err := flush(a); err != nil {
				flushed <- err
				return
			}
		}
	}()
	if o := <-cb; o.err != nil {
		t.Fatalf("Read: %v", o.err)
	}
	if err := a.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	_ = a.Close()
	for _, c := range []<-chan outcomeOfRead{ca, read(b, 1)} {
		select {
		case o := <-c:
			for o.err == nil { // drain frames in flight
				t.Fatalf("Read returns %v after Close", o.f.Op)
			}
		case <-time.After(patience):
			t.Fatal("Read does not return after Close")
		}
	}
	select {
	case err := <-flushed:
		if errors.As(err, new(*wire.EncodeError)) {
			t.Errorf("Flush after Close says %v", err)
		}
	case <-time.After(patience):
		t.Fatal("Flush does not return after Close")
	}
}
