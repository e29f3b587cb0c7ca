package session

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/actornode/actornode/deploy/attack/internal/raw"
	"github.com/actornode/actornode/internal/wire/etfcodec"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// act takes a step.
func (f *fuzz) act() {
	p := f.peers[f.r.IntN(len(f.peers))]
	switch x := f.r.IntN(1000); {
	case f.far != nil && x >= 60 && x < 66:
	case x < 60:
		f.note("all waits")
		f.settle()
		return
	case x < 64:
		f.pass([]time.Duration{300, 1300, 2100}[f.r.IntN(3)] * time.Millisecond)
		return
	case x < 66:
		f.net.mu.Lock()
		f.net.how[p.name] = answer(f.r.IntN(3))
		f.note("a dial to %s: answer %d", p.name, f.net.how[p.name])
		f.net.mu.Unlock()
		return
	}
	if len(p.conns) == 0 || len(p.conns) < 3 && f.far == nil && f.r.IntN(40) == 0 {
		f.open(p)
		return
	}
	c := p.conns[f.r.IntN(len(p.conns))]
	if c.lazy && f.r.IntN(15) > 0 { // its handshake takes long, and others overtake it
		if len(p.conns) == 1 {
			f.open(p)
			return
		}
		c = p.conns[len(p.conns)-1]
	}
	switch {
	case c.stage == up:
		f.signal(c)
	case f.r.IntN(25) == 0:
		f.badShake(c)
	case f.r.IntN(25) == 0:
		f.drop(c)
	default:
		f.advance(c)
	}
}

// grammar lists what a connected peer may do, with weights.
var grammar = []struct {
	weight int
	name   string
	do     func(*fuzz, *conn)
	cut    bool // also while the connection of its session is gone
}{
	{90, "send", (*fuzz).sendEcho, true},
	{40, "send Go values", (*fuzz).sendGo, false},
	{60, "call", (*fuzz).callNamed, true},
	{60, "call own", (*fuzz).callOwn, false},
	{40, "spawn", (*fuzz).spawn, false},
	{12, "spawn that fails", (*fuzz).spawnNone, false},
	{50, "link", (*fuzz).link, false},
	{40, "unlink", (*fuzz).unlink, false},
	{25, "exit", (*fuzz).exit, false},
	{25, "exit/2", (*fuzz).exit2, false},
	{45, "monitor", (*fuzz).monitor, false},
	{25, "demonitor", (*fuzz).demonitor, false},
	{90, "agent", (*fuzz).command, false},
	{25, "unlink ack", (*fuzz).ack, false},
	{30, "answer", (*fuzz).answer, false},
	{10, "group leader", (*fuzz).leader, false},
	{30, "begin a long message", (*fuzz).begin, false},
	{80, "go on with a long message", (*fuzz).goOn, false},
	{20, "tick", (*fuzz).tick, true},
	{20, "dead", (*fuzz).toDead, false},
	{15, "to services", (*fuzz).services, false},
	{10, "receipt", (*fuzz).receipt, false},
	{5, "large", (*fuzz).large, false},
	{8, "slow", (*fuzz).slowly, false},
	{8, "atoms", (*fuzz).atomsTold, false},
	{8, "packed", (*fuzz).packed, false},
	{10, "release", (*fuzz).release, false},
	{14, "cut", (*fuzz).cutOff, true},
	{5, "close", (*fuzz).closes, false},
	{12, "again", (*fuzz).again, true},
	{30, "wrong", (*fuzz).wrongFrame, false},
	{6, "unreadable", (*fuzz).unreadable, false},
	{25, "chaos", (*fuzz).mutated, false},
}

func (f *fuzz) signal(c *conn) {
	if c.chaos {
		switch f.r.IntN(6) {
		case 0:
			f.closes(c)
		case 1:
			f.tick(c)
		default:
			f.mutated(c)
		}
		return
	}
	if c.cut && f.r.IntN(3) == 0 {
		f.again(c)
		return
	}
	sum := 0
	for _, g := range grammar {
		sum += g.weight
	}
	x := f.r.IntN(sum)
	for _, g := range grammar {
		if x -= g.weight; x < 0 {
			if c.cut && !g.cut {
				return
			}
			f.tally.kinds[g.name]++
			g.do(f, c)
			return
		}
	}
}

// say sends a signal.
func (f *fuzz) say(c *conn, s dist.Frame) {
	f.note("%s: %s", c, text(&s))
	c.frame(c.encode(&s))
}

func text(s *dist.Frame) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", s.Op)
	for _, x := range []struct {
		name string
		is   bool
		v    any
	}{{"from", !s.From.IsZero(), s.From}, {"to", !s.To.IsZero(), s.To}, {"name", s.Name != "", s.Name},
		{"ref", !s.Ref.IsZero(), s.Ref},
		{"id", s.ID != 0, s.ID}, {"leader", !s.Leader.IsZero(), s.Leader}, {"spawn", s.Spawn != nil, s.Spawn}} {
		if x.is {
			fmt.Fprintf(&b, " %s=%v", x.name, x.v)
		}
	}
	switch p := s.Payload.(type) {
	case nil:
	case *links.Request:
		fmt.Fprintf(&b, " request %v %s", p.Ref, brief(p.Body))
	case *links.Reply:
		fmt.Fprintf(&b, " reply %s", brief(p.Value))
	default:
		fmt.Fprintf(&b, " %s", brief(p))
	}
	return b.String()
}

// pick returns a living process of one of the kinds, and makes sure that its next signals can be predicted; nil: there
// is none.
func (f *fuzz) pick(c *conn, kinds ...wire.Atom) *proc {
	var all []*proc
	for _, p := range f.procs {
		if p.alive && !p.chaos && slices.Contains(kinds, p.kind) {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return nil
	}
	p := all[f.r.IntN(len(all))]
	if p.busy || p.toucher != nil && p.toucher != c {
		f.settle()
	}
	if !p.alive || c.stage != up {
		return nil
	}
	p.toucher = c
	return p
}

var (
	every = []wire.Atom{"echo", "counter", "agent"}
	calls = wire.Atom("$gen_call")
)

func (f *fuzz) me(c *conn) wire.PID { return c.pid(f.r.IntN(4)) }

func (f *fuzz) payload() any {
	switch f.r.IntN(8) {
	case 0:
		return f.r.IntN(1 << 20)
	case 1:
		return wire.Atom(fmt.Sprint("a", f.r.IntN(400)))
	case 2:
		return bytes.Repeat([]byte{byte(f.r.IntN(256))}, f.r.IntN(600))
	case 3:
		return wire.List{1, 2.5, wire.Tuple{}, wire.Atom("x")}
	case 4:
		return wire.Tuple{f.payload(), f.payload()}
	case 5:
		return wire.NewMap(wire.Atom("k"), f.r.IntN(9))
	case 6:
		return int64(f.r.Uint64())
	}
	return wire.Tuple{wire.Atom("n"), f.step}
}

func (f *fuzz) sendEcho(c *conn) {
	p := f.pick(c, "echo")
	if p == nil {
		return
	}
	me := f.me(c)
	for range 1 + f.r.IntN(6) {
		v := f.payload()
		s := dist.Frame{Op: dist.OpSend, From: me, To: p.pid, Payload: wire.Tuple{me, v}, Urgent: c.nat != nil && f.r.IntN(9) == 0}
		w := want{op: dist.OpSend, from: p.pid, to: me, payload: wire.Tuple{p.pid, v}}
		if p.name != "" && f.r.IntN(2) == 0 {
			s.To, s.Name = wire.PID{}, p.name
			if c.cut { // when the session continues, the name may belong to another process, or to none
				w.from, w.optional = wire.PID{}, true
				w.like = func(payload any) bool {
					t, ok := payload.(wire.Tuple)
					return ok && len(t) == 2 && wire.Equal(t[1], v)
				}
			}
		}
		f.say(c, s)
		c.want(w)
	}
}

// sendGo sends values of a type that the node has registered, as a Go node does.
func (f *fuzz) sendGo(c *conn) {
	if !c.goNode || f.far != nil {
		return
	}
	p := f.pick(c, "echo")
	if p == nil {
		return
	}
	me := f.me(c)
	b, asTerm := f.typed(me)
	f.say(c, dist.Frame{Op: dist.OpSend, From: me, To: p.pid, Payload: raw.Bytes(b)})
	c.want(want{op: dist.OpSend, from: p.pid, to: me, payload: wire.Tuple{p.pid, asTerm.(wire.Tuple)[1]}})
}

// typed returns {me, V} for an echo, where V has values of the registered type: as bytes, and as a reader that does not
// know the type decodes it.
func (f *fuzz) typed(me wire.PID) (b []byte, asTerm any) {
	v := fuzzed{ID: f.r.IntN(1 << 20), Text: fmt.Sprint("t", f.step), Any: f.payload()}
	v.Next = &fuzzed{ID: f.step, Many: []fuzzed{{ID: 1}, {Text: "x"}}}
	b, err := (&pack.Encoder{Types: fuzzTypes}).Append(nil, wire.Tuple{me, []any{v, &v, wire.List{[]fuzzed{v}}}[f.r.IntN(3)]})
	if err == nil {
		asTerm, _, err = pack.Decode(b)
	}
	if err != nil {
		f.fail("a Go value: %v", err)
	}
	return b, asTerm
}

func (f *fuzz) callNamed(c *conn) {
	me, ref := f.me(c), c.ref()
	w := want{op: dist.OpSend, to: me}
	var name wire.Atom
	var req any
	unhandled := false
	switch f.r.IntN(4) {
	case 0:
		name, req = "echo", f.payload()
		w.payload = wire.Tuple{ref, req}
	case 1:
		name, req = "counter", wire.Atom("get")
		w.payload = wire.Tuple{ref, 0}
	case 2:
		name, req = "net_kernel", wire.Tuple{wire.Atom("is_auth"), c.p.name}
		w.payload = wire.Tuple{ref, wire.Atom("yes")}
	case 3:
		name, req, unhandled = "counter", wire.Tuple{wire.Atom("ask"), 1}, true
		w.payload = wire.Tuple{ref, wire.Tuple{wire.AtomError, wire.Tuple{wire.Atom("unhandled_request"), req}}}
	}
	var tag any = ref
	if f.r.IntN(2) == 0 {
		tag = wire.ImproperList{Head: []any{wire.Atom("alias")}, Tail: ref}
		w.payload = wire.Tuple{tag, w.payload.(wire.Tuple)[1]}
		w.to, w.ref = wire.PID{}, ref
	}
	inOne := c.goNode && f.r.IntN(2) == 0
	if inOne {
		tag = aliasTag(ref)
		w.payload = wire.Tuple{tag, w.payload.(wire.Tuple)[1]}
		w.to, w.ref = wire.PID{}, ref
	}
	if unhandled && (c.nat != nil || c.goNode) { // between Go nodes an error is a value of its own
		w.like = func(payload any) bool {
			t, ok := payload.(wire.Tuple)
			if !ok || len(t) != 2 || !wire.Equal(t[0], tag) {
				return false
			}
			m, ok := t[1].(wire.Map)
			return ok && strings.Contains(wire.Format(m), "$reply") && strings.Contains(wire.Format(m), "does not handle calls of type")
		}
	}
	c.want(w)
	if inOne {
		f.say(c, dist.Frame{Op: dist.OpSend, From: me, Name: name, Payload: &links.Request{Ref: ref, Body: req}})
		return
	}
	f.say(c, dist.Frame{Op: dist.OpSend, From: me, Name: name, Payload: wire.Tuple{calls, wire.Tuple{me, tag}, req}})
}

func (f *fuzz) callOwn(c *conn) {
	p := f.pick(c, "counter")
	if p == nil {
		return
	}
	me := f.me(c)
	for range 1 + f.r.IntN(4) {
		ref := c.ref()
		n := f.r.IntN(100)
		p.total += n
		add := wire.Tuple{wire.Atom("add"), n}
		if c.goNode && f.r.IntN(2) == 0 {
			c.want(want{op: dist.OpSend, ref: ref, payload: wire.Tuple{aliasTag(ref), p.total}})
			f.say(c, dist.Frame{Op: dist.OpSend, From: me, To: p.pid, Payload: &links.Request{Ref: ref, Body: add}})
			continue
		}
		c.want(want{op: dist.OpSend, to: me, payload: wire.Tuple{ref, p.total}}) // the sender is not given
		f.say(c, dist.Frame{Op: dist.OpSend, From: me, To: p.pid,
			Payload: wire.Tuple{calls, wire.Tuple{me, ref}, add}})
	}
	if f.far == nil && f.r.IntN(10) == 0 {
		f.say(c, dist.Frame{Op: dist.OpSend, From: me, To: p.pid,
			Payload: wire.Tuple{calls, wire.Tuple{me, c.ref()}, wire.Atom("crash")}})
		f.die(p, wire.Atom("crash"))
		f.settle()
	}
}

// spawn starts a process.
func (f *fuzz) spawn(c *conn) {
	alive := 0
	for _, p := range f.procs {
		if p.alive {
			alive++
		}
	}
	if alive > 24 || c.slow {
		return
	}
	me, ref := f.me(c), c.ref()
	s := &dist.Spawn{Module: "demo", Leader: me, Args: []any{}, Link: f.r.IntN(3) == 0, Monitor: f.r.IntN(3) == 0}
	switch f.r.IntN(3) {
	case 0:
		s.Function = "echo"
	case 1:
		s.Function = "counter"
	case 2:
		s.Function = "echo"
		if f.far == nil {
			s.Module, s.Function = "fuzz", "agent"
		}
	}
	if f.r.IntN(4) == 0 {
		s.Name = wire.Atom(fmt.Sprint("name", f.r.IntN(5)))
		f.calm()
		if c.stage != up {
			return
		}
	}
	if f.r.IntN(6) == 0 {
		s.Options = wire.List{wire.Tuple{wire.Atom("priority"), wire.Atom("low")}}
	}
	q := &proc{kind: s.Function, name: s.Name, chaos: s.Name == "" && !s.Link && !s.Monitor && f.r.IntN(8) == 0}
	if s.Name != "" {
		if f.names[s.Name] != nil {
			c.want(want{op: dist.OpSpawnReply, to: me, ref: ref, payload: wire.Atom("badarg")})
			f.say(c, dist.Frame{Op: dist.OpSpawn, From: me, Ref: ref, Spawn: s})
			f.settle()
			return
		}
		f.names[s.Name] = q
	}
	c.want(want{op: dist.OpSpawnReply, to: me, ref: ref, loose: true, on: func(r *dist.Frame) {
		if r.From.IsZero() {
			f.fail("%s: no process: %s", c, brief(r.Payload))
		}
		if r.Linked != s.Link || r.Watched != s.Monitor {
			f.fail("%s: the reply to a spawn says linked %v, monitored %v", c, r.Linked, r.Watched)
		}
		q.pid, q.alive = r.From, true
		f.procs = append(f.procs, q)
		if s.Link {
			c.state.links[link{q.pid, me}] = 0
		}
		if s.Monitor {
			c.state.mons = append(c.state.mons, &mon{ref: ref, by: me, over: q})
		}
	}})
	f.say(c, dist.Frame{Op: dist.OpSpawn, From: me, Ref: ref, Spawn: s})
	f.settle() // its pid is needed
}

// spawnNone starts a process that ends at once, or that cannot start.
func (f *fuzz) spawnNone(c *conn) {
	me, ref := f.me(c), c.ref()
	s := &dist.Spawn{Module: "demo", Function: "exit", Leader: me, Args: []any{f.payload()}, Link: f.r.IntN(2) == 0,
		Monitor: f.r.IntN(2) == 0}
	reply := want{op: dist.OpSpawnReply, to: me, ref: ref, loose: true}
	reason := s.Args[0]
	switch f.r.IntN(4) {
	case 0:
		s.Module, s.Function = "lists", "nosuch"
		reason = wire.Tuple{wire.Atom("undef"), wire.List{wire.Tuple{s.Module, s.Function, wire.List(s.Args), wire.List{}}}}
	case 1:
		s.Options = wire.List{wire.Atom("nosuch")}
		reply.loose, reply.payload = false, wire.Atom("badopt")
	case 2:
		s.Function, s.Args = "add", []any{1, 2}
		reason = wire.Atom("normal")
	}
	w := c.want(reply)
	if reply.loose && s.Link {
		exit := c.want(want{op: dist.OpExit, to: me, payload: reason, first: w})
		w.on = func(r *dist.Frame) { exit.from = r.From }
	}
	if reply.loose && s.Monitor {
		c.want(want{op: dist.OpDown, to: me, ref: ref, payload: reason, first: w})
	}
	f.say(c, dist.Frame{Op: dist.OpSpawn, From: me, Ref: ref, Spawn: s})
}

func (f *fuzz) link(c *conn) {
	p := f.pick(c, every...)
	if p == nil {
		return
	}
	me := f.me(c)
	l := link{p.pid, me}
	if _, ok := c.state.links[l]; !ok {
		c.state.links[l] = 0
	}
	f.say(c, dist.Frame{Op: dist.OpLink, From: me, To: p.pid})
}

func (f *fuzz) unlink(c *conn) {
	p := f.pick(c, every...)
	if p == nil {
		return
	}
	me := f.me(c)
	l := link{p.pid, me}
	c.state.nextID++
	id := c.state.nextID
	if f.r.IntN(20) == 0 {
		id = 1<<64 - 1
	}
	if was, ok := c.state.links[l]; ok && was == 0 {
		delete(c.state.links, l)
	}
	c.want(want{op: dist.OpUnlinkAck, from: p.pid, to: me, id: id, loose: true})
	f.say(c, dist.Frame{Op: dist.OpUnlink, ID: id, From: me, To: p.pid})
}

func (f *fuzz) reason() any {
	switch f.r.IntN(4) {
	case 0:
		return wire.Atom("normal")
	case 1:
		return wire.Atom("kill")
	}
	return f.payload()
}

// calm makes sure that nothing is under way.
func (f *fuzz) calm() {
	for _, p := range f.procs {
		if p.busy || p.toucher != nil {
			f.settle()
			return
		}
	}
}

// exit ends a process of the peer, which may be linked.
func (f *fuzz) exit(c *conn) {
	p := f.pick(c, every...)
	if p == nil {
		return
	}
	f.calm()
	if !p.alive || c.stage != up {
		return
	}
	me, reason := f.me(c), f.reason()
	l := link{p.pid, me}
	id, ok := c.state.links[l]
	delete(c.state.links, l)
	s := dist.Frame{Op: dist.OpExit, From: me, To: p.pid, Payload: reason}
	if c.erl != nil {
		s.ID = uint64(f.r.IntN(2))
	}
	f.say(c, s)
	if ok && id == 0 {
		f.broken(p, me, reason)
	}
	f.settle()
}

func (f *fuzz) exit2(c *conn) {
	p := f.pick(c, every...)
	if p == nil {
		return
	}
	f.calm()
	if !p.alive || c.stage != up {
		return
	}
	me, reason := f.me(c), f.reason()
	s := dist.Frame{Op: dist.OpSignal, From: me, To: p.pid, Payload: reason}
	if c.erl != nil {
		s.ID = uint64(f.r.IntN(2))
	} else if p.name != "" {
		s.To, s.Name = wire.PID{}, p.name
	}
	f.say(c, s)
	if reason == wire.Atom("kill") {
		f.die(p, wire.Atom("killed"))
	} else {
		f.broken(p, me, reason)
	}
	f.settle()
}

func (f *fuzz) monitor(c *conn) {
	me, ref := f.me(c), c.ref()
	if f.r.IntN(3) == 0 {
		f.calm()
		if c.stage != up {
			return
		}
		name := wire.Atom(fmt.Sprint("name", f.r.IntN(5)))
		m := &mon{ref: ref, by: me, over: f.names[name], name: name}
		f.say(c, dist.Frame{Op: dist.OpMonitor, From: me, Name: name, Ref: ref})
		if m.over == nil || !m.over.alive {
			f.down(c, m, wire.Atom("noproc"))
			f.settle()
		} else {
			c.state.mons = append(c.state.mons, m)
			m.over.toucher = c
		}
		return
	}
	p := f.pick(c, every...)
	if p == nil {
		return
	}
	f.say(c, dist.Frame{Op: dist.OpMonitor, From: me, To: p.pid, Ref: ref})
	c.state.mons = append(c.state.mons, &mon{ref: ref, by: me, over: p})
}

func (f *fuzz) demonitor(c *conn) {
	if len(c.state.mons) == 0 {
		return
	}
	i := f.r.IntN(len(c.state.mons))
	m := c.state.mons[i]
	if m.over.busy || m.over.toucher != nil {
		f.settle()
		if c.stage != up || i >= len(c.state.mons) || c.state.mons[i] != m {
			return
		}
	}
	m.over.toucher = c
	c.state.mons = slices.Delete(c.state.mons, i, i+1)
	s := dist.Frame{Op: dist.OpDemonitor, From: m.by, To: m.over.pid, Name: m.name, Ref: m.ref}
	f.say(c, s)
	if f.r.IntN(4) == 0 {
		f.say(c, s)
	}
}

// unnumbered is the ID of an unlink of the node that has not arrived yet.
const unnumbered = 1<<64 - 1

// command makes an agent do something.
func (f *fuzz) command(c *conn) {
	p := f.pick(c, "agent")
	if p == nil {
		return
	}
	me, far := f.me(c), f.me(c)
	n := f.step
	f.calm() // its boss changes, its traps too
	if !p.alive || c.stage != up {
		return
	}
	p.boss = me
	do := func(t ...any) {
		f.say(c, dist.Frame{Op: dist.OpSend, From: me, To: p.pid, Payload: wire.Tuple(append([]any{me}, t...))})
	}
	did := func() {
		c.want(want{op: dist.OpSend, from: p.pid, to: me, payload: wire.Tuple{p.pid, wire.Atom("did"), n}})
	}
	l := link{p.pid, far}
	id, ok := c.state.links[l]
	switch f.r.IntN(9) {
	case 0, 1:
		do(wire.Atom("link"), far, n)
		if !ok || id != 0 {
			c.want(want{op: dist.OpLink, from: p.pid, to: far, loose: true})
			c.state.links[l] = 0
		}
		did()
	case 2, 3:
		do(wire.Atom("unlink"), far, n)
		if ok && id == 0 {
			c.want(want{op: dist.OpUnlink, from: p.pid, to: far, loose: true, on: func(s *dist.Frame) { c.state.links[l] = s.ID }})
			c.state.links[l] = unnumbered
		}
		did()
	case 4:
		do(wire.Atom("monitor"), far, n)
		m := &overFar{far: far}
		p.over = append(p.over, m)
		c.want(want{op: dist.OpMonitor, from: p.pid, to: far, loose: true, on: func(s *dist.Frame) { m.ref = s.Ref }})
		did()
	case 5:
		do(wire.Atom("call"), far, n)
		m := &overFar{far: far, number: n}
		p.calls = append(p.calls, m)
		c.want(want{op: dist.OpMonitor, from: p.pid, to: far, loose: true, on: func(s *dist.Frame) { m.ref = s.Ref }})
		c.want(want{op: dist.OpSend, from: p.pid, to: far, loose: true})
		did()
	case 6:
		do(wire.Atom("send"), far, n)
		c.want(want{op: dist.OpSend, from: p.pid, to: far, payload: wire.Tuple{p.pid, wire.Atom("sent"), n}})
		did()
	case 7:
		do(wire.Atom("exit"), far, n)
		c.want(want{op: dist.OpSignal, from: p.pid, to: far, payload: wire.Atom("told")})
		did()
	case 8:
		if f.r.IntN(3) > 0 {
			p.trap = f.r.IntN(2) == 0
			do(wire.Atom("trap"), wire.Atom(fmt.Sprint(p.trap)), n)
			did()
			break
		}
		reason := f.payload()
		do(wire.Atom("stop"), reason)
		f.die(p, reason)
	}
	f.settle()
}

// ack acknowledges an unlink of the node, or one that did not happen.
func (f *fuzz) ack(c *conn) {
	for l, id := range c.state.links {
		if id == 0 || id == unnumbered || f.r.IntN(2) == 0 {
			continue
		}
		p := f.proc(l.near)
		if p != nil && (p.busy || p.toucher != nil && p.toucher != c) {
			return
		}
		if f.r.IntN(4) == 0 {
			id += 1000
		} else {
			delete(c.state.links, l)
		}
		f.say(c, dist.Frame{Op: dist.OpUnlinkAck, ID: id, From: l.far, To: l.near})
		return
	}
	if p := f.pick(c, every...); p != nil {
		f.say(c, dist.Frame{Op: dist.OpUnlinkAck, ID: 1 << 40, From: f.me(c), To: p.pid})
	}
}

// answer answers a call of an agent, or reports that a monitored process has exited.
func (f *fuzz) answer(c *conn) {
	p := f.pick(c, "agent")
	if p == nil {
		return
	}
	f.calm()
	if !p.alive || c.stage != up {
		return
	}
	mine := func(m *overFar) bool { return m.far.Origin().NodeID() == c.self() && !m.ref.IsZero() }
	if i := slices.IndexFunc(p.calls, mine); i >= 0 {
		m := p.calls[i]
		p.calls = slices.Delete(p.calls, i, i+1)
		v := f.payload()
		reply := dist.Frame{Op: dist.OpSend, From: m.far, Ref: m.ref,
			Payload: wire.Tuple{wire.ImproperList{Head: []any{wire.Atom("alias")}, Tail: m.ref}, v}}
		if c.nat == nil && c.flags()&(1<<34) == 0 || f.r.IntN(3) == 0 {
			reply = dist.Frame{Op: dist.OpDown, From: m.far, To: p.pid, Ref: m.ref, Payload: v}
			f.report(p, wire.Atom("failed"), m.number, v)
		} else {
			f.report(p, wire.Atom("answer"), m.number, v)
			if c.goNode && f.r.IntN(2) == 0 {
				reply.Payload = &links.Reply{Value: v}
			}
		}
		f.say(c, reply)
		if f.r.IntN(3) == 0 {
			f.say(c, reply)
		}
		f.settle()
		return
	}
	if i := slices.IndexFunc(p.over, mine); i >= 0 {
		m := p.over[i]
		p.over = slices.Delete(p.over, i, i+1)
		v := f.payload()
		f.report(p, wire.Atom("down"), v)
		s := dist.Frame{Op: dist.OpDown, From: m.far, To: p.pid, Ref: m.ref, Payload: v}
		f.say(c, s)
		f.say(c, s)
		f.settle()
	}
}

func (f *fuzz) leader(c *conn) {
	if p := f.pick(c, every...); p != nil {
		f.say(c, dist.Frame{Op: dist.OpGroupLeader, From: f.me(c), To: p.pid, Leader: f.me(c)})
	}
}

// begin sends the first of the frames of a long message.
func (f *fuzz) begin(c *conn) {
	p := f.pick(c, "echo")
	if p == nil || len(c.state.frags) >= 4 || c.erl != nil && !c.headed {
		return
	}
	me := c.pid(10 + f.r.IntN(1000))
	v := bytes.Repeat([]byte{byte(f.step)}, 1+f.r.IntN(4000))
	msg := wire.Tuple{me, v}
	q := &pending{then: func() {
		if p.alive {
			c.want(want{op: dist.OpSend, from: p.pid, to: me, payload: wire.Tuple{p.pid, v}})
		}
	}}
	if c.erl != nil {
		control, payload := erlang(&dist.Frame{Op: dist.OpSend, From: me, To: p.pid, Payload: msg})
		enc := new(etfcodec.Encoder)
		first, _ := enc.AppendBare([]byte{0}, control)
		rest, _ := enc.AppendBare(nil, payload[0])
		pieces := f.pieces(rest)
		first = append(first, pieces[0]...)
		left := uint64(len(pieces))
		seq := uint64(f.step)
		q.frames = append(q.frames, raw.Fragment(true, seq, left, first))
		for i, b := range pieces[1:] {
			q.frames = append(q.frames, raw.Fragment(false, seq, left-1-uint64(i), b))
		}
	} else {
		stream := -1
		for i := range 8 {
			if !slices.ContainsFunc(c.state.frags, func(q *pending) bool { return q.frames[0][1] == byte(i) }) {
				stream = i
				break
			}
		}
		body, _ := pack.Append(nil, msg)
		q.frames = append(q.frames, raw.SignalFrame(byte(dist.OpSend)|raw.Parts, me, p.pid, stream, len(body)))
		for _, b := range f.pieces(body) {
			bits := byte(raw.OpPart)
			if f.r.IntN(4) == 0 {
				bits |= raw.Packed
				b = f.zipped(b)
			}
			q.frames = append(q.frames, append([]byte{bits, byte(stream)}, b...))
		}
	}
	f.note("%s: begins a message of %d bytes to %v in %d frames", c, len(v), p.pid, len(q.frames))
	c.frame(q.frames[0])
	if q.frames = q.frames[1:]; len(q.frames) == 0 {
		q.then()
		return
	}
	c.state.frags = append(c.state.frags, q)
}

// pieces cuts b into pieces, none of which is empty.
func (f *fuzz) pieces(b []byte) (all [][]byte) {
	for len(b) > 0 {
		n := min(len(b), 1+f.r.IntN(1500))
		all = append(all, b[:n])
		b = b[n:]
	}
	return all
}

// zipped compresses b. The encoder has channels, which belong to the bubble.
func (f *fuzz) zipped(b []byte) []byte {
	if f.zip == nil {
		f.zip, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<16),
			zstd.WithEncoderLevel(zstd.SpeedFastest))
	}
	return f.zip.EncodeAll(b, nil)
}

// goOn sends the next frame of a long message.
func (f *fuzz) goOn(c *conn) {
	if len(c.state.frags) == 0 {
		return
	}
	i := f.r.IntN(len(c.state.frags))
	q := c.state.frags[i]
	last := len(q.frames) == 1
	if last {
		f.calm()
		if c.stage != up {
			return
		}
	}
	f.note("%s: goes on with a long message, %d frames to come", c, len(q.frames)-1)
	c.frame(q.frames[0])
	q.frames = q.frames[1:]
	if last {
		c.state.frags = slices.Delete(c.state.frags, i, i+1)
		q.then()
		f.settle()
	}
}

func (f *fuzz) tick(c *conn) {
	f.note("%s: ticks", c)
	if !c.cut {
		c.tick()
	}
}

// toDead sends to a process that has ended.
func (f *fuzz) toDead(c *conn) {
	var all []*proc
	for _, p := range f.procs {
		if !p.alive && !p.chaos {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return
	}
	p := all[f.r.IntN(len(all))]
	me := f.me(c)
	switch f.r.IntN(6) {
	case 0:
		f.say(c, dist.Frame{Op: dist.OpSend, From: me, To: p.pid, Payload: f.payload()})
	case 1:
		c.want(want{op: dist.OpExit, from: p.pid, to: me, payload: wire.Atom("noproc")})
		f.say(c, dist.Frame{Op: dist.OpLink, From: me, To: p.pid})
	case 2:
		ref := c.ref()
		c.want(want{op: dist.OpDown, from: p.pid, to: me, ref: ref, payload: wire.Atom("noproc")})
		f.say(c, dist.Frame{Op: dist.OpMonitor, From: me, To: p.pid, Ref: ref})
	case 3:
		c.want(want{op: dist.OpUnlinkAck, from: p.pid, to: me, id: 9, loose: true})
		f.say(c, dist.Frame{Op: dist.OpUnlink, ID: 9, From: me, To: p.pid})
	case 4:
		f.say(c, dist.Frame{Op: dist.OpSignal, From: me, To: p.pid, Payload: f.payload()})
	case 5:
		f.say(c, dist.Frame{Op: dist.OpSend, From: me, Ref: c.ref(), Payload: f.payload()})
	}
}

// services sends the node's services messages that they do not know.
func (f *fuzz) services(c *conn) {
	if c.slow {
		return
	}
	name := []wire.Atom{"net_kernel", "rex", "demo", "echo", "nobody", "actornode", "user"}[f.r.IntN(7)]
	me := f.me(c)
	var v any = f.payload()
	switch f.r.IntN(5) {
	case 0:
		v = wire.Tuple{me, wire.Tuple{wire.Atom("call"), wire.Atom("m"), wire.Atom("f"), v, me}}
	case 1:
		v = wire.Tuple{wire.Atom("$gen_cast"), v}
	case 2:
		v = wire.Tuple{wire.Atom("io_request"), me, c.ref(), v}
	case 3:
		v = wire.Tuple{wire.Atom("system"), wire.Tuple{me, c.ref()}, v}
	}
	if name == "echo" {
		if _, ok := v.(wire.Tuple); ok {
			v = wire.Atom("nothing")
		}
	}
	// The answer, if there is one, may be anything.
	w := &want{op: dist.OpSend, to: me, loose: true, optional: true}
	if f.far != nil { // it may take its time
		c.p.late = append(c.p.late, w)
	} else {
		c.state.wants = append(c.state.wants, w)
	}
	f.say(c, dist.Frame{Op: dist.OpSend, From: me, Name: name, Payload: v})
	f.settle()
}

// receipt sends a message whose sender wants a receipt.
func (f *fuzz) receipt(c *conn) {
	if c.nat == nil {
		return
	}
	p := f.pick(c, "echo")
	if p == nil {
		return
	}
	me := f.me(c)
	id := uint64(f.step + 1)
	s := dist.Frame{Op: dist.OpSend, From: me, To: p.pid, ID: id, Payload: wire.Atom("nothing")}
	w := want{op: dist.OpReceipt, id: id, payload: dist.Delivered}
	if f.r.IntN(3) == 0 {
		s.To, s.Name = wire.PID{}, "nobody"
		w.loose = true
	}
	c.want(w)
	f.say(c, s)
}

// large sends a message whose answer comes in fragments.
func (f *fuzz) large(c *conn) {
	p := f.pick(c, "echo")
	if p == nil || c.slow || c.nat != nil {
		return
	}
	me := f.me(c)
	v := bytes.Repeat([]byte{7}, 60<<10+f.r.IntN(200<<10))
	c.want(want{op: dist.OpSend, from: p.pid, to: me, payload: wire.Tuple{p.pid, v}})
	f.note("%s: %d bytes to %v", c, len(v), p.pid)
	c.frame(c.encode(&dist.Frame{Op: dist.OpSend, From: me, To: p.pid, Payload: wire.Tuple{me, v}}))
	f.settle()
}

// slowly stops reading, or starts again.
func (f *fuzz) slowly(c *conn) {
	f.calm()
	if c.stage != up {
		return
	}
	c.slow = !c.slow
	f.note("%s: reads %v", c, !c.slow)
	if !c.slow {
		f.settle()
	}
}

// atomsTold uses the cache of atoms.
func (f *fuzz) atomsTold(c *conn) {
	if !c.headed {
		return
	}
	me := f.me(c)
	at, segment := byte(f.r.IntN(256)), byte(f.r.IntN(8))
	v := f.payload()
	enc := new(etfcodec.Encoder)
	for i := range 1 + f.r.IntN(3) {
		b := []byte{131, 68, 1, segment | 8, at, 4, 'e', 'c', 'h', 'o'}
		c.atomTold[int(segment)<<8|int(at)] = true
		if i > 0 { // the node knows it by now
			b = []byte{131, 68, 1, segment, at}
		}
		ref := c.ref()
		b = append(b, 104, 4, 97, 6)
		b, _ = enc.AppendBare(b, me)
		b = append(b, 119, 0, 82, 0)
		b, _ = enc.AppendBare(b, wire.Tuple{calls, wire.Tuple{me, ref}, v})
		c.want(want{op: dist.OpSend, to: me, payload: wire.Tuple{ref, v}})
		f.note("%s: to echo by an atom at %d/%d", c, segment, at)
		c.frame(b)
	}
}

// packed sends a compressed message.
func (f *fuzz) packed(c *conn) {
	p := f.pick(c, "echo")
	if p == nil || c.nat == nil {
		return
	}
	me := f.me(c)
	v := bytes.Repeat([]byte{'z'}, 100+f.r.IntN(20000))
	body, _ := pack.Append(nil, wire.Tuple{me, v})
	b := raw.SignalFrame(byte(dist.OpSend)|raw.Packed, me, p.pid)
	c.want(want{op: dist.OpSend, from: p.pid, to: me, payload: wire.Tuple{p.pid, v}})
	f.note("%s: %d bytes, compressed", c, len(v))
	c.frame(append(b, f.zipped(body)...))
}

// release answers, rightly or not, the request that the node makes to each peer.
func (f *fuzz) release(c *conn) {
	if len(c.state.asked) == 0 {
		return
	}
	s := c.state.asked[0]
	me := f.me(c)
	switch f.r.IntN(4) {
	case 0:
		f.say(c, dist.Frame{Op: dist.OpSpawnReply, To: s.From, Ref: s.Ref, Payload: wire.Atom("notsup")})
	case 1:
		f.say(c, dist.Frame{Op: dist.OpSpawnReply, To: s.From, Ref: s.Ref, From: me})
	case 2:
		f.say(c, dist.Frame{Op: dist.OpDown, To: s.From, Ref: s.Ref, From: me, Payload: f.payload()})
	case 3:
		f.say(c, dist.Frame{Op: dist.OpDown, To: s.From, Ref: s.Ref, From: me,
			Payload: wire.Tuple{s.Ref, wire.Atom("return"), "27"}})
	}
	if f.r.IntN(3) == 0 {
		c.state.asked = c.state.asked[1:]
	}
}

// cutOff breaks a connection, as a fault does.
func (f *fuzz) cutOff(c *conn) {
	f.calm()
	if c.stage != up || c.cut {
		return
	}
	f.settle()
	half := f.r.IntN(2) == 0
	f.note("%s: cut, inside a frame: %v", c, half)
	if half {
		b := c.encode(&dist.Frame{Op: dist.OpSend, From: f.me(c), Name: "nobody", Payload: wire.Atom("cut")})
		if c.session {
			framed := c.nat.Framed(b)
			c.sent = append(c.sent, framed...)
			if f.r.IntN(2) == 0 { // damaged instead of cut
				framed[5] ^= 1
				c.send(framed)
			} else {
				c.send(framed[:len(framed)/2])
			}
			f.settle2(c)
		} else {
			c.send([]byte{0, 0, 0}[:1+f.r.IntN(2)])
		}
	}
	if c.session {
		f.lose(c, true)
		f.settle()
		return
	}
	c.chaos = true
	if f.r.IntN(2) == 0 {
		c.end.reset()
	} else {
		_ = c.end.Close()
	}
	f.ended(c)
	f.settle()
}

// settle2 is settle for steps in which the node may find the connection of c broken.
func (f *fuzz) settle2(c *conn) {
	c.cut = true
	f.settle()
	c.cut = false
}

// closes ends a connection on purpose.
func (f *fuzz) closes(c *conn) {
	f.calm()
	if c.stage != up || c.cut {
		return
	}
	f.settle()
	if c.stage != up {
		return
	}
	kind := f.r.IntN(3)
	f.note("%s: ends the connection, %d", c, kind)
	if c.session {
		f.goodbye(c)
		return
	}
	switch kind {
	case 0:
		_ = c.end.Close()
	case 1:
		c.end.reset()
	case 2:
		c.end.closeWrite()
	}
	f.ended(c)
	f.settle()
}

// goodbye ends a session. The node is left to close the connection: if it writes to it meanwhile, it would take its end
// for a cut.
func (f *fuzz) goodbye(c *conn) {
	c.frame(append([]byte{raw.OpBye, 9}, "bye"...))
	c.slow, c.doomed, c.told = false, "its goodbye", []byte("we have said it")
	f.sever(c)
	f.settle()
}

// again continues a session.
func (f *fuzz) again(c *conn) {
	if c.session && !c.slow {
		f.resume(c)
	}
}

// pass lets time pass. Connected peers send ticks.
func (f *fuzz) pass(d time.Duration) {
	f.settle()
	f.note("%v pass", d)
	for _, p := range f.peers {
		for _, c := range p.conns {
			if c.stage == up && !c.cut {
				c.tick()
				if left := f.grace() - d; c.slow && left < 0 {
					c.slow = false
				}
			}
		}
	}
	f.settle()
	if f.far != nil { // the clock is not the bubble's: nothing there waits for time
		return
	}
	time.Sleep(d)
	for _, p := range f.peers {
		for _, c := range p.conns {
			if since := time.Since(c.since); c.cut && since > f.grace()-50*time.Millisecond && since < f.grace()+50*time.Millisecond {
				time.Sleep(100 * time.Millisecond)
			}
		}
	}
	for _, p := range f.peers {
		for _, c := range slices.Clone(p.conns) {
			if c.cut && time.Since(c.since) > f.grace() {
				f.ended(c)
			}
		}
	}
	f.settle()
}

// end ends an episode: all peers leave, and nothing may be left.
func (f *fuzz) end() {
	f.settle()
	f.note("the end")
	for i := 0; i < 8; i++ { // those in a handshake go on or give up
		f.pass(1100 * time.Millisecond)
	}
	for _, p := range f.peers {
		f.net.mu.Lock()
		f.net.how[p.name] = refuses
		f.net.mu.Unlock()
	}
	f.serve()
	f.leave()
	if f.far != nil {
		return
	}
	for range 12 { // until the time of grace, of dials and of requests is over
		f.pass(2 * time.Second)
	}
	there := f.there()
	for _, p := range f.procs {
		if !p.chaos && p.alive != there[p.pid] {
			f.fail("%v, an %s, is there: %v", p.pid, p.kind, there[p.pid])
		}
	}
	f.procs = nil
	f.pass(time.Second)
	f.leftovers()
}

// leave ends all connections.
func (f *fuzz) leave() {
	for _, p := range f.peers {
		for _, c := range slices.Clone(p.conns) {
			c.slow = false
			if c.stage != up {
				f.drop(c)
				continue
			}
			c.chaos = true
			if c.session && !c.cut {
				f.goodbye(c)
				continue
			}
			_ = c.end.Close()
			f.ended(c)
			f.settle()
		}
	}
}

// there returns the processes that the node has, and kills those that are not its own.
func (f *fuzz) there() map[wire.PID]bool {
	there := make(map[wire.PID]bool)
	for i := range f.n.Infos() {
		there[i.PID] = true
		switch i.Name {
		case "demo", "echo", "counter", "rex", "net_kernel":
		default:
			f.n.Exit(i.PID, node.Kill)
		}
	}
	return there
}
