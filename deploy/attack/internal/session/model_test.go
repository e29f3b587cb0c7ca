package session

import (
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/actornode/actornode/deploy/attack/internal/raw"
	"github.com/actornode/actornode/internal/daemon/demo"
	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// peer is a node that the fuzzer plays.
type peer struct {
	name     wire.Atom
	creation uint32
	conns    []*conn
	refs     uint32
	late     []*want // may still come over any connection: it was under way when one ended
}

// state is the state of a peer's link.
type state struct {
	wants  []*want
	links  map[link]uint64 // 0: active; else the ID of an unlink for which the node awaits an acknowledgement
	mons   []*mon
	frags  []*pending
	nextID uint64
	asked  []dist.Frame // spawns that the node has asked for
}

// link is one between a process of the node and one of a peer.
type link struct{ near, far wire.PID }

// mon is a monitor of a peer on a process of the node.
type mon struct {
	ref  wire.Ref
	by   wire.PID
	over *proc
	name wire.Atom
}

// pending is a message whose frames have not all been sent.
type pending struct {
	frames [][]byte
	then   func()
}

// proc is a process of the node that a peer has started.
type proc struct {
	pid     wire.PID
	kind    wire.Atom // echo, counter, agent
	name    wire.Atom
	alive   bool
	chaos   bool // nothing about it can be predicted
	trap    bool
	total   int
	boss    wire.PID   // of an agent: the process that it reports to
	over    []*overFar // of an agent: monitors on processes of peers
	calls   []*overFar // of an agent: calls to processes of peers
	busy    bool       // it does something by itself: the next signal must wait
	toucher *conn      // who has acted on it since everything last came to rest
}

// overFar is a monitor of an agent on a process of a peer, or a call to one.
type overFar struct {
	ref    wire.Ref // known when it has arrived
	far    wire.PID
	number int
}

// want is a signal that must come, or may.
type want struct {
	op        dist.Op
	from, to  wire.PID // from zero: any
	ref       wire.Ref
	id        uint64
	payload   any
	loose     bool                   // any payload
	like      func(payload any) bool // instead of payload
	optional  bool
	unordered bool  // in no order to others of the same process
	first     *want // must have come before this one
	on        func(*dist.Frame)
	done      bool
}

// fits reports whether a payload is what w wants.
func (w *want) fits(payload any) bool {
	if w.like != nil {
		return w.like(payload)
	}
	return wire.Equal(w.payload, payload)
}

func (w *want) String() string {
	text := fmt.Sprintf("%s from %v to %v", w.op, w.from, w.to)
	if !w.ref.IsZero() {
		text += fmt.Sprint(" by ", w.ref)
	}
	if !w.loose {
		text += " with " + brief(w.payload)
	}
	return text
}

func brief(t any) string {
	s := wire.Format(t)
	return s[:min(len(s), 160)]
}

// finding is the reason for which an episode ends early.
type finding string

// fuzz is an episode.
type fuzz struct {
	seed, episode uint64
	skip          map[int]bool
	trace         io.Writer

	r        *rand.Rand // of the present step
	net      *network
	n        *node.Node
	log      logged
	peers    []*peer
	procs    []*proc
	names    map[wire.Atom]*proc
	conns    int
	step     int
	steps    int
	began    observe.Stats
	routines int
	tally    *tally
	severing bool
	good     bool      // the peers do nothing wrong
	noted    bool      // the step has done something
	leaving  wire.Atom // whose link is severed
	zip      *zstd.Encoder
	far      *raw.Daemon // nil: the node is n, in the bubble
	ups      int         // the daemon's number of links when everything last came to rest
}

// tally counts over all episodes.
type tally struct {
	steps, idle, wrong, chaos, signals, ups, resumes, settles int
	kinds                                                     map[string]int
}

// logged keeps the last lines of a log.
type logged struct {
	mu    sync.Mutex
	lines []string
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) == 40 {
		l.lines = l.lines[1:]
	}
	l.lines = append(l.lines, string(b[:min(len(b), 300)]))
	return len(b), nil
}

func (f *fuzz) fail(format string, args ...any) { panic(finding(fmt.Sprintf(format, args...))) }

func (f *fuzz) note(format string, args ...any) {
	f.noted = true
	if f.trace != nil {
		fmt.Fprintf(f.trace, "%5d  "+format+"\n", append([]any{f.step}, args...)...)
	}
}

const tick = time.Minute

// grace is how long sessions wait for a connection: in the bubble, where time costs nothing, and with a daemon, whose
// clock runs while the model computes.
func (f *fuzz) grace() time.Duration {
	if f.far != nil {
		return tick / 2
	}
	return 5 * time.Second
}

// play runs the episode, in a bubble, and returns the finding.
func (f *fuzz) play() (found string) {
	defer func() {
		if cause := recover(); cause != nil {
			text, ok := cause.(finding)
			if !ok {
				stack := make([]byte, 1<<16)
				text = finding(fmt.Sprintf("panic: %v\n%s", cause, stack[:runtime.Stack(stack, false)]))
			}
			found = string(text)
		}
	}()
	if f.far == nil {
		f.start()
	}
	for f.step = 0; f.step < f.steps; f.step++ {
		if f.skip[f.step] {
			continue
		}
		f.r = rand.New(rand.NewPCG(f.seed, f.episode<<20|uint64(f.step)))
		f.noted = false
		f.act()
		f.tally.steps++
		if !f.noted {
			f.tally.idle++
		}
	}
	f.r = rand.New(rand.NewPCG(f.seed, f.episode))
	f.end()
	return ""
}

func (f *fuzz) start() {
	f.net = &network{how: make(map[wire.Atom]answer)}
	f.names = make(map[wire.Atom]*proc)
	r := rand.New(rand.NewPCG(f.seed, f.episode<<20|1<<19))
	n, err := node.Start(node.Config{Name: host, Creation: 77, Workers: 2, Blocked: time.Hour,
		Log: slog.New(slog.NewTextHandler(&f.log, &slog.HandlerOptions{Level: slog.LevelInfo})),
		Distribution: &node.Distribution{Cookie: cookie, Finder: f.net, Transport: f.net,
			Timing: node.Timing{Awake: -1, TickTime: tick, Grace: f.grace()},
			Limits: node.Limits{Link: dist.LinkLimits{Message: 1 << 20, Fragments: 8, Partial: 2 << 20}}}})
	if err != nil {
		f.fail("start: %v", err)
	}
	f.n = n
	if _, err := demo.Start(bare, n); err != nil {
		f.fail("demo: %v", err)
	}
	if err := rpc.ExportBehaviour(n, wire.Export{Module: "fuzz", Function: "agent", Arity: 0}, newAgent); err != nil {
		f.fail("agent: %v", err)
	}
	synctest.Wait()
	f.began = n.Stats()
	f.routines, _ = inBubble()
	f.meet(r)
}

// meet makes the peers.
func (f *fuzz) meet(r *rand.Rand) {
	names := []wire.Atom{"alpha@127.0.0.1", "zulu@127.0.0.1", "beta@127.0.0.1", "yankee@127.0.0.1",
		"gamma@127.0.0.1", "x@127.0.0.1", "delta@127.0.0.1", "whiskey@127.0.0.1"}
	for i := range 1 + r.IntN(8) {
		f.peers = append(f.peers, &peer{name: names[i], creation: uint32(1 + i)})
	}
	for _, p := range f.peers {
		if f.far == nil {
			f.net.how[p.name] = answer(r.IntN(3))
		}
	}
}

// link returns the connection that is the link of a peer; nil: none.
func (p *peer) link() *conn {
	for _, c := range p.conns {
		if c.stage == up && !c.severed {
			return c
		}
	}
	return nil
}

// settle waits until everything is at rest, takes what has arrived and compares it with the model.
func (f *fuzz) settle() {
	f.tally.settles++
	if f.far != nil {
		f.await()
	}
	for more := f.far == nil; more; {
		synctest.Wait()
		more = f.drain()
	}
	f.check()
	for _, p := range f.procs {
		p.busy, p.toucher = false, nil
	}
}

// drain takes what has arrived. It reports whether there was anything.
func (f *fuzz) drain() (more bool) {
	f.net.mu.Lock()
	dialled := f.net.dialled
	f.net.dialled = nil
	f.net.mu.Unlock()
	for _, d := range dialled {
		more = true
		i := slices.IndexFunc(f.peers, func(p *peer) bool { return p.name == d.peer })
		c := f.newConn(f.peers[i], false, d.end)
		c.since = time.Now()
		c.stage = called
		f.note("the node dials %s", c)
	}
	each := func(do func(c *conn)) {
		for _, p := range f.peers {
			for _, c := range slices.Clone(p.conns) {
				do(c)
			}
		}
	}
	each(func(c *conn) {
		c.slow = c.slow && !c.end.over()
		if c.slow || c.cut {
			return
		}
		was, over := len(c.in), c.over
		c.in, c.over = c.end.take(c.in)
		more = more || len(c.in) > was || over != c.over
	})
	// First which peers are connected and which are not, because others hear of it.
	each(func(c *conn) {
		if c.stage == proved && c.erl != nil {
			f.acked(c)
		}
		if c.stage == done && !c.over {
			for _, d := range slices.Clone(c.p.conns) {
				if d.stage == up && d.cut {
					f.ended(d)
				}
			}
			f.newState(c)
		}
	})
	each(func(c *conn) {
		if c.stage == up && c.over && !c.cut {
			f.sever(c)
		}
	})
	each(func(c *conn) {
		if c.stage == up && !c.slow && !c.cut {
			f.read(c)
		}
	})
	return more
}

// read takes the frames that have arrived.
func (f *fuzz) read(c *conn) {
	for {
		b, ok, err := c.next()
		if err != nil {
			f.fail("%s: %v", c, err)
		}
		if !ok {
			return
		}
		got, ok, err := c.decode(b)
		if err != nil {
			f.fail("%s: %v", c, err)
		}
		if ok {
			f.tally.signals++
			for _, s := range signals(got) {
				f.note("    %s has got %s", c, text(&s))
				f.got(c, &s)
			}
		}
	}
}

// got compares a signal of the node with what is wanted.
func (f *fuzz) got(c *conn, s *dist.Frame) {
	switch {
	case s.Op == dist.OpSpawn && s.Spawn.Module == "erpc": // the node asks for the release
		c.state.asked = append(c.state.asked, *s)
		return
	case s.Op == dist.OpDemonitor:
		return
	case f.far != nil && (s.Name == "pg" || s.Op == dist.OpMonitor): // services of the daemon
		return
	}
	if c.severed || f.match(c.state.wants, s) || f.match(c.p.late, s) || c.chaos {
		return
	}
	if p := f.proc(s.From); p != nil && p.chaos {
		return
	}
	f.note("wanted: %v", c.state.wants)
	f.fail("%s has got what nothing called for: %s from %v%v to %v by %v: %s", c, s.Op, s.From, s.Name, s.To, s.Ref,
		brief(s.Payload))
}

func (f *fuzz) match(wants []*want, s *dist.Frame) bool {
	for _, w := range wants {
		if w.done || w.op != s.Op || !w.from.IsZero() && w.from != s.From || w.to != s.To || !w.ref.IsZero() && w.ref != s.Ref ||
			w.ref.IsZero() && w.op != dist.OpMonitor && !s.Ref.IsZero() || w.id != 0 && w.id != s.ID {
			continue
		}
		if !w.loose && !w.fits(s.Payload) {
			if w.from.IsZero() || w.optional || w.unordered {
				continue
			}
			f.fail("%s from %v to %v comes out of order: %s, where %s must be", s.Op, s.From, s.To, brief(s.Payload), brief(w.payload))
		}
		if w.first != nil && !w.first.done {
			f.fail("%v has come before %v", w, w.first)
		}
		w.done = true
		if w.on != nil {
			w.on(s)
		}
		return true
	}
	return false
}

// check compares the node with the model, when everything is at rest.
func (f *fuzz) check() {
	for _, p := range f.peers {
		for _, c := range slices.Clone(p.conns) {
			f.checkConn(c)
		}
		p.late = slices.DeleteFunc(p.late, func(w *want) bool { return w.done })
		if n := len(p.late); n > 64 {
			p.late = p.late[n-64:]
		}
	}
	var model, is []wire.Atom
	for _, p := range f.peers {
		if c := p.link(); c != nil {
			model = append(model, p.name)
		}
		ups := 0
		for _, c := range p.conns {
			if c.stage == up {
				ups++
			}
		}
		if ups > 1 {
			f.fail("%s has %d links: %v", p.name, ups, p.conns)
		}
	}
	if f.far != nil {
		return // await has seen the number
	}
	slices.Sort(model)
	if is = f.n.AllNodes(); !slices.Equal(model, is) {
		f.fail("the node is connected to %v, and should be to %v", is, model)
	}
}

func (f *fuzz) checkConn(c *conn) {
	if c.doomed != "" && !c.over && !c.cut {
		f.fail("%s lives on after %s", c, c.doomed)
	}
	if c.stage != up {
		if c.over {
			if _, more := c.message(); !more && !c.wrong && !f.aged(c) && len(c.p.conns) == 1 && c.erl != nil &&
				f.net.how[c.p.name] == refuses {
				f.fail("%s: the node has ended a handshake in stage %s in which nothing was wrong", c, c.stage)
			}
			c.stage = gone
			c.p.conns = slices.DeleteFunc(c.p.conns, func(d *conn) bool { return d == c })
		}
		return
	}
	if c.over && !c.cut {
		c.in, _ = c.end.take(c.in)
		if c.nat != nil && c.doomed != "" && len(c.told) < 2 {
			f.fail("%s has been cut off without a word after %s", c, c.doomed)
		}
		if c.doomed == "" && !c.chaos && !f.replaced(c) {
			f.fail("%s has been cut off, and had done nothing wrong: %q", c, c.told)
		}
		f.ended(c)
		return
	}
	if c.severed {
		f.fail("%s lives on, and should not", c)
	}
	if c.slow || c.cut {
		return
	}
	c.state.wants = slices.DeleteFunc(c.state.wants, func(w *want) bool { return w.done })
	for _, w := range c.state.wants {
		if !w.optional && !c.chaos {
			f.fail("%s has not got %v", c, w)
		}
	}
	c.state.wants = c.state.wants[:0]
}

// replaced reports whether another connection of the peer may have replaced c.
func (f *fuzz) replaced(c *conn) bool {
	for _, d := range c.p.conns {
		if d != c && (d.stage == up || d.stage == proved || d.stage == called || d.stage == posed) {
			return true
		}
	}
	return false
}

func (f *fuzz) proc(pid wire.PID) *proc {
	for _, p := range f.procs {
		if p.pid == pid {
			return p
		}
	}
	return nil
}

// want adds a signal that must come to a link.
func (c *conn) want(w want) *want {
	if c.chaos {
		w.optional = true
	}
	c.state.wants = append(c.state.wants, &w)
	return &w
}

// report expects a message from an agent to its boss.
func (f *fuzz) report(p *proc, t ...any) {
	if p.boss.IsZero() {
		return
	}
	w := want{op: dist.OpSend, from: p.pid, to: p.boss, unordered: f.severing, payload: wire.Tuple(append([]any{p.pid}, t...))}
	for _, q := range f.peers {
		if q.name != p.boss.Node() {
			continue
		}
		if c := q.link(); c != nil && !(c.over && !c.cut) && f.leaving != q.name && c.self() == p.boss.Origin().NodeID() &&
			c.doomed == "" {
			c.want(w)
			return
		}
		w.optional = true
		q.late = append(q.late, &w)
	}
}

// die models the end of a process of the node.
func (f *fuzz) die(p *proc, reason any) {
	if !p.alive {
		return
	}
	p.alive = false
	if p.name != "" {
		delete(f.names, p.name)
	}
	for _, q := range f.peers {
		c := q.link()
		if c == nil {
			continue
		}
		for _, w := range c.state.wants { // a message that it has not sent yet need not come any more
			if w.from == p.pid && w.op == dist.OpSend {
				w.optional = true
			}
		}
		for l, id := range c.state.links {
			if l.near != p.pid {
				continue
			}
			if id == 0 {
				c.want(want{op: dist.OpExit, from: p.pid, to: l.far, payload: reason})
			}
			delete(c.state.links, l)
		}
		for _, m := range c.state.mons {
			if m.over == p {
				f.down(c, m, reason)
			}
		}
		c.state.mons = slices.DeleteFunc(c.state.mons, func(m *mon) bool { return m.over == p })
	}
}

func (f *fuzz) down(c *conn, m *mon, reason any) {
	w := want{op: dist.OpDown, to: m.by, ref: m.ref, payload: reason}
	if m.name == "" && m.over != nil {
		w.from = m.over.pid
	}
	c.want(w)
}

// broken models the exit signal of a link, or of exit/2, to a process.
func (f *fuzz) broken(p *proc, far wire.PID, reason any) {
	switch {
	case !p.alive:
	case p.trap:
		f.report(p, wire.Atom("exit"), far, reason)
	case reason != wire.Atom("normal"):
		f.die(p, reason)
	}
}

const noconnection = wire.Atom("noconnection")

// sever ends a link in the model.
func (f *fuzz) sever(c *conn) {
	if c.severed {
		return
	}
	c.severed = true
	f.severing, f.leaving = true, c.p.name
	defer func() { f.severing, f.leaving = false, "" }()
	for _, w := range c.state.wants {
		if w.op == dist.OpSend && !w.done {
			w.optional = true
			c.p.late = append(c.p.late, w)
		}
	}
	for l, id := range c.state.links {
		if p := f.proc(l.near); id == 0 && p != nil {
			f.broken(p, l.far, noconnection)
		}
	}
	for _, p := range f.procs {
		if !p.alive {
			continue
		}
		for _, m := range p.over {
			if m.far.Node() == c.p.name {
				f.report(p, wire.Atom("down"), noconnection)
			}
		}
		for _, m := range p.calls {
			if m.far.Node() == c.p.name {
				f.report(p, wire.Atom("failed"), m.number, noconnection)
			}
		}
		p.over = slices.DeleteFunc(p.over, func(m *overFar) bool { return m.far.Node() == c.p.name })
		p.calls = slices.DeleteFunc(p.calls, func(m *overFar) bool { return m.far.Node() == c.p.name })
	}
}

// ended handles the end of a link.
func (f *fuzz) ended(c *conn) {
	f.note("%s is over", c)
	was := c.stage
	if was == up {
		f.sever(c)
	}
	c.stage = gone
	_ = c.end.Close()
	c.p.conns = slices.DeleteFunc(c.p.conns, func(d *conn) bool { return d == c })
}

// self returns the identity that a connection claims.
func (c *conn) self() wire.NodeID {
	if c.erl != nil {
		return c.erl.Self
	}
	return c.nat.Us.ID
}

func (c *conn) pid(i int) wire.PID { return wire.NewOrigin(c.self()).PID(uint64(100 + i)) }

func (c *conn) ref() wire.Ref {
	c.p.refs++
	return wire.NewOrigin(c.self()).Ref(c.p.refs, 5, 9)
}

// newConn adds a connection of a peer.
func (f *fuzz) newConn(p *peer, native bool, e *end) *conn {
	f.conns++
	c := &conn{p: p, id: f.conns, end: e, parts: make(map[uint64]*parts), goNode: f.r.IntN(2) == 0}
	self := wire.NodeID{Name: p.name, Creation: p.creation}
	if native {
		c.nat = raw.NewNative(nil, self, host)
		for i := range c.nat.Us.Nonce { // random, and repeatable
			c.nat.Us.Nonce[i] = byte(f.r.Uint32())
		}
		c.heard = pack.Decoder{Dict: new(pack.DecodeDict)}
		if c.goNode {
			c.nat.Us.Flags |= raw.GoTypes | raw.Requests
		}
	} else {
		c.erl = raw.NewErlang(nil, self)
		c.headed = f.r.IntN(2) == 0
		c.erl.Flags = c.flags()
		c.dec.Atoms = func(i byte) (any, bool) {
			if int(i) >= len(c.atomAt) {
				return nil, false
			}
			return c.atomAt[i], true
		}
	}
	p.conns = append(p.conns, c)
	return c
}

func (f *fuzz) newState(c *conn) {
	c.state = &state{links: make(map[link]uint64)}
	c.stage = up
	c.lazy = false
	f.tally.ups++
}
