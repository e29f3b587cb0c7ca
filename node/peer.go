package node

import (
	"sync"
	"sync/atomic"

	"github.com/actornode/actornode/internal/executor"
	"github.com/actornode/actornode/internal/inbox"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/internal/admission"
	"github.com/actornode/actornode/node/internal/outbox"
	"github.com/actornode/actornode/node/internal/quota"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// peer is another node, from the first wish to reach it until the connection is
// lost. What goes to it waits in its outbox, also while it is being connected.
//
// Invariants:
//
//  1. A frame is put into the outbox with mu held where it says what a table
//     says: the other node learns of changes in the order in which they were made.
//  2. Once over, the tables are empty, and stay so: who adds to them is told
//     over instead.
//  3. A process here has another there among its links exactly if there is an
//     active one in links, unless the peer is over or the process is dead: both
//     are changed with both locked.
//  4. Locks are taken in this order: names, proc, dist, peer, outbox.
//  5. What the reader does never waits for anybody: see [peer.read].
type peer struct {
	n    *Node
	name Atom

	mu      sync.Mutex
	over    bool                  // see isOver
	unacked bool                  // more ends of links than may are not acknowledged
	ended   atomic.Bool           // over, for those who do not hold mu
	why     error                 // once over: the reason
	links   map[linkKey]unlinkID  // between processes here and there
	out     map[uint64]*monitor   // over processes there, by the number of the reference
	in      map[Ref]*monitor      // of processes there, over processes here
	calls   map[uint64]asked      // calls and spawns that wait for an answer, by reference
	downs   map[*monitor]struct{} // of processes here that want to be told when it is over
	link    dist.Link             // nil: being connected
	visit   uint64                // by which the link was made; 0: this node has dialled
	box     outbox.Box
	done    chan struct{} // closed when over
	ready   chan struct{} // closed when connected, or over
	gone    chan struct{} // closed when all that comes of the end is done
	release release
	flow    flow
	refused [quota.Kinds]atomic.Uint32 // see refuse

	// Guarded by dist.mu.
	named chan struct{} // closed when an attempt is over in which this node has said its name; nil: there is none
	dial  admission.Dial[peer]
	place *admission.Place // of link
	holds int              // reasons to keep it in dist.peers: that it is not over, that an attempt to connect it goes on or waits

	// The reader's.
	letters  inbox.Free // nodes to be used
	parcel   parcel
	reader   *executor.Guest // the reader as the pool knows it
	guest    *executor.Guest // nil: more than one message has come
	ahead    dist.Ahead      // nil: the link has none
	batch    dist.Batch      // nil: the link has none, or is not ahead
	spin     spinPolicy
	deferred int // frames whose answers have not been sent

	// The ticker's.
	seenIn, seenOut uint64
	silent          int
	backlog         quota.Backlog
	ending          bool // by endTelling
}

// linkKey is a link between a process here, by its number, and one there.
type linkKey struct {
	near uint64
	far  PID
}

// unlinkID is the state of a link of one of its ends: active, or the ID of an
// unlink of this end that has not been acknowledged. "Link Protocol" in the
// document of the distribution protocol says what signals make of it.
type unlinkID uint64

const active unlinkID = 0

// asked is what waits for an answer.
type asked struct {
	ticket
	what awaited
}

// awaited is what answers: a call is not over when the process for it has been
// started.
type awaited uint8

const (
	forStart  awaited = iota // the reply to a spawn
	forReply                 // a message, or the Down of the process that is called
	forResult                // the Down of a process of erpc, whose reason says how the function went
)

func newPeer(n *Node, name Atom) *peer {
	p := &peer{
		n: n, name: name, holds: 1,
		links: make(map[linkKey]unlinkID), out: make(map[uint64]*monitor), in: make(map[Ref]*monitor),
		calls: make(map[uint64]asked), downs: make(map[*monitor]struct{}),
		done: make(chan struct{}), ready: make(chan struct{}), gone: make(chan struct{}), release: release{told: make(chan struct{})},
	}
	p.dial.Of = p
	p.box.Init(n.dist.cfg.Queue, n.dist.quota)
	return p
}

// signal puts a control frame; the caller holds p.mu, or order does not matter.
func (p *peer) signal(f dist.Frame) { p.box.Put(nil, f) }

// send puts a message of who, nil: of a plain goroutine, which is held up then
// as pace says.
func (p *peer) send(a *acting, f dist.Frame) {
	if t := p.n.traces(); t != nil {
		t.away(a.p, f.To, At{Name: f.Name, Node: p.name}, f.Payload)
	}
	if p.post(a, f) {
		p.pace(a)
	}
}

// message is send for a message to a process there.
func (p *peer) message(a *acting, to PID, msg any) {
	if t := p.n.traces(); t != nil {
		t.away(a.p, to, At{}, msg)
	}
	from := a.sender()
	full, err := p.box.Message(a.turn(), from, to, msg)
	if err != nil {
		p.n.lost(dist.Frame{Op: dist.OpSend, From: from, To: to, Payload: msg})
	}
	if full {
		p.pace(a)
	}
}

// sendAnswer sends an answer, for which nobody is held up: see [ClusterLimits].Answers. It goes
// behind what its sender has sent before.
func (p *peer) sendAnswer(a *acting, f dist.Frame) {
	if t := p.n.traces(); t != nil {
		t.away(a.p, f.To, At{Name: f.Name, Node: p.name}, f.Payload)
	}
	f.Answer = true
	p.post(a, f)
}

// post is send without being held up. full: it would have been.
func (p *peer) post(a *acting, f dist.Frame) (full bool) {
	full, err := p.box.Put(a.turn(), f)
	if err != nil {
		p.n.lost(f) // no error: as for any message to the dead
	}
	return full
}

// pace holds who up while more waits for the peer than may: until there is room,
// the connection is lost or who is killed. Whatever a process does of its own
// accord ends with it; what its exit, or the peer, brings about waits for nobody.
// An actor gives up its stage before it waits.
func (p *peer) pace(a *acting) {
	sender := a.sender()
	for room := p.box.Space(sender); room != nil; room = p.box.Space(sender) {
		a.block()
		var killed <-chan struct{}
		if a.p != nil {
			killed = a.p.context().Done()
		}
		select {
		case <-room:
		case <-killed:
			return
		}
	}
}

// lost makes a dead letter of what will not be sent and of which nobody else is told.
func (n *Node) lost(f dist.Frame) {
	if !f.Lossy {
		n.bury(f, CauseNotConnected)
	}
}

func (n *Node) bury(f dist.Frame, why Cause) {
	switch {
	case f.Op == dist.OpSend:
		n.dead.add(DeadLetter{Cause: why, To: f.To, Name: f.Name, Alias: f.Ref, Message: f.Payload})
	case f.Op == dist.OpSpawn && f.Spawn.Function == executeCast:
		n.dead.add(DeadLetter{Cause: why, Name: f.Spawn.Module, Message: wire.Tuple(f.Spawn.Args)})
	}
}

// requestRef finds the reference in a request that call has made.
func requestRef(msg any) (Ref, bool) {
	if t, ok := msg.(wire.Tuple); ok && len(t) == 3 {
		if from, ok := t[1].(wire.Tuple); ok && len(from) == 2 {
			return aliasOf(from[1])
		}
	}
	return Ref{}, false
}

// read is the reader's goroutine: started when the peer is connected, ended by
// its end, waited for by Node.Stop. It is the only one, so nothing may hold it up:
// a bounded mailbox that makes its senders wait refuses what comes from here.
//
// What a message sets off that has come alone the reader does itself, as a guest of
// the pool, and sends what comes of it; what a parcel does too, if that is little. If a
// handler keeps it, another goroutine is the reader from then on, and this one ends with
// the handler.
func (p *peer) read() {
	reader := true
	defer func() {
		if reader {
			p.n.dist.wg.Done()
		}
	}()
	p.reader, p.guest = p.n.pool.Guest(func() { go p.readOn() }), nil
	p.ahead, _ = p.link.(dist.Ahead)
	if p.ahead != nil {
		p.batch, _ = p.link.(dist.Batch)
	}
	p.spin.link, _ = p.link.(dist.Keen)
	var f dist.Frame // one for all, which nobody keeps
	yield := p.yieldWhileSpinning
	for {
		if p.deferred >= mostDeferred || p.ahead == nil || !p.ahead.More() {
			p.flushAnswers()
		}
		if p.guest != nil { // one has come alone, so perhaps somebody waits for the next
			p.spinForNext(yield)
		}
		err := p.link.Read(&f)
		if p.isOver() { // what comes late would be out of order
			p.flushAnswers()
			return
		}
		more, packed := false, false
		if err == nil {
			p.flow.read(1)
			more = p.ahead != nil && p.ahead.More()
			packed = p.pack(&f, more)
		}
		p.guest = nil
		if packed && p.parcel.owed == 0 {
			if p.deferred > 0 {
				p.deferred++
			}
			continue
		}
		p.deferAnswers()
		if !packed {
			if !more && p.parcel.q == nil {
				p.guest = p.reader
			}
			p.deliverParcel()
			if err == nil {
				err = p.handle(&f)
			}
		}
		if err != nil {
			p.end(err)
		}
		if p.owes() && (p.deferred > 1 || !packed && p.parcel.owed > 0) { // a handler may take long
			p.flushAnswers()
			p.deferAnswers()
		}
		reader = false // now there may be another
		if !p.help() {
			return
		}
		reader = true
		if err != nil {
			p.flushAnswers()
			return
		}
	}
}

// readOn is read in the place of a reader that a handler keeps.
func (p *peer) readOn() {
	p.flushAnswers()
	p.read()
}

// hand gives a message to a process, which the reader may run itself.
func (p *peer) hand(q *proc, n *inbox.Node) {
	if p.guest == nil || q.boxed || q.kind != staged {
		q.tryDeliver(n)
		return
	}
	switch q.in.Push(n) {
	case mailbox.Wake:
		p.guest.Inject(&q.Entity)
	case mailbox.Closed:
		p.n.undeliverable(q.pid(), n.Msg)
	}
}

// end is the loss of the connection: every link breaks with noconnection, every
// monitor fires, every call fails.
func (p *peer) end(why error) { p.finish(why, false) }

// fail is end unless p is connected by now.
func (p *peer) fail(why error) { p.finish(why, true) }

func (p *peer) finish(why error, unlessUp bool) {
	p.mu.Lock()
	up := p.link != nil
	if p.over || unlessUp && up {
		p.mu.Unlock()
		return
	}
	p.over, p.why = true, why
	p.ended.Store(true)
	links, out, in, calls, downs := p.links, p.out, p.in, p.calls, p.downs
	p.links, p.out, p.in, p.calls, p.downs = nil, nil, nil, nil, nil
	if !up {
		close(p.ready)
	}
	close(p.done)
	p.mu.Unlock()
	left := p.box.Close() // first: what the writer puts into a closed link nobody would miss
	p.n.dist.forgetRecent(p)
	if up {
		p.link.Close()
	}
	for key, unlinking := range links {
		if unlinking == active {
			p.n.breakLink(key, NoConnection)
		}
	}
	for _, m := range out {
		m.fire(&p.n.acting, m.pid, NoConnection)
	}
	for _, m := range in {
		m.forget()
	}
	for _, t := range calls {
		t.settle(&p.n.acting, nil, &ExitError{NoConnection})
	}
	p.Lose(left)
	for m := range downs {
		m.fire(&p.n.acting, PID{}, why.Error())
	}
	p.n.dist.release(p) // only now it can be connected again
	p.n.dist.lost.set()
	if up && !p.n.stopped.Load() {
		p.n.cfg.Log.Info("node down", "peer", string(p.name), "reason", why.Error(), "unsent_signals", len(left))
	}
}

// breakLink is the exit signal of a link whose other end is on another node.
func (n *Node) breakLink(key linkKey, reason any) {
	if q := n.numbered(key.near); q != nil {
		q.mu.Lock()
		d := n.farLinkBrokenLocked(q, key.far, reason)
		q.mu.Unlock()
		d.carryOutAll(&n.acting, false)
	}
}

// connectLink makes the link between near and far. The caller holds near.mu, and
// near is alive. False: the connection is over.
func (p *peer) connectLink(near *proc, far PID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return false
	}
	if !near.addLinkLocked(far) {
		return true
	}
	p.links[linkKey{near.id, far}] = active // the end of an earlier unlink means nothing any more
	p.signal(dist.Frame{Op: dist.OpLink, From: near.pid(), To: far})
	return true
}

// exitLink tells far, if near was linked to it, that near has exited.
func (p *peer) exitLink(near uint64, far PID, reason any) {
	key := linkKey{near, far}
	p.mu.Lock()
	defer p.mu.Unlock()
	if unlinking, ok := p.links[key]; ok && unlinking == active {
		p.signal(dist.Frame{Op: dist.OpExit, From: p.n.origin.PID(near), To: far, Payload: reason})
	}
	delete(p.links, key)
}

// cutLink takes the link away on behalf of near, whose mu the caller holds.
func (p *peer) cutLink(near uint64, far PID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := linkKey{near, far}
	if unlinking, ok := p.links[key]; !ok || unlinking != active {
		return
	}
	id := p.n.dist.unlinks.Add(1)
	p.links[key] = unlinkID(id)
	if q := p.n.dist.quota; len(p.links) > 2*q.Of.Links {
		p.unacked = true
		q.Ask()
	}
	p.signal(dist.Frame{Op: dist.OpUnlink, ID: id, From: p.n.origin.PID(near), To: far})
}

// watch makes m, a monitor of a process here over one there. False: the
// connection is over.
func (p *peer) watch(m *monitor) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return false
	}
	if m.node {
		p.downs[m] = struct{}{}
		return true
	}
	p.out[m.ref.Number()] = m
	p.signal(dist.Frame{Op: dist.OpMonitor, From: m.watcher.pid(), To: m.pid, Name: m.name, Ref: m.ref})
	return true
}

// unwatch takes a monitor over a process there away.
func (p *peer) unwatch(m *monitor) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.downs, m)
	if p.out[m.ref.Number()] == m {
		delete(p.out, m.ref.Number())
		p.signal(dist.Frame{Op: dist.OpDemonitor, From: m.watcher.pid(), To: m.pid, Name: m.name, Ref: m.ref})
	}
}

// tellDown sends the Down of m, a monitor of a process there, unless it has been
// taken away.
func (p *peer) tellDown(m *monitor, pid PID, reason any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.in[m.ref] != m {
		return
	}
	delete(p.in, m.ref)
	p.signal(dist.Frame{Op: dist.OpDown, From: pid, Name: m.name, To: m.by, Ref: m.ref, Payload: reason})
}

// farCall is a call, or a spawn, that waits for an answer from there.
type farCall struct {
	p    *peer
	ref  Ref
	from PID
	to   PID
	name Atom // instead of to; neither: nobody is monitored that is known here
}

// forget takes the call out of the tables; if its answer has not come, it will
// find nobody.
func (f *farCall) forget() {
	p := f.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, waits := p.calls[f.ref.Number()]; waits {
		delete(p.calls, f.ref.Number())
		f.demonitorLocked()
	}
}

func (f *farCall) demonitorLocked() {
	if f.name != "" || !f.to.IsZero() {
		f.p.signal(dist.Frame{Op: dist.OpDemonitor, From: f.from, To: f.to, Name: f.name, Ref: f.ref})
	}
}

// ask makes t wait for the answer to f: what away says is sent.
func (p *peer) ask(a *acting, t ticket, what awaited, away *farCall, f dist.Frame) bool {
	ref := f.Ref
	if f.Op == dist.OpSend { // for a receipt
		ref = p.n.origin.RefOf(f.ID)
	}
	away.p, away.ref, away.from = p, ref, f.From
	p.mu.Lock()
	if p.over {
		p.mu.Unlock()
		t.settle(a, nil, &ExitError{NoConnection})
		return false
	}
	t.p.away = away
	p.calls[ref.Number()] = asked{t, what}
	p.signal(f)
	p.mu.Unlock()
	return true
}

// watchFor makes t wait for the exit of a process there.
func (p *peer) watchFor(a *acting, t ticket, from, to PID, name Atom) (ref Ref, ok bool) {
	ref = p.n.newRef()
	return ref, p.ask(a, t, forReply, &farCall{to: to, name: name},
		dist.Frame{Op: dist.OpMonitor, From: from, To: to, Name: name, Ref: ref})
}

// call sends a request to a process there. The answer comes to an alias, if the
// peer knows aliases, so that one that comes late finds nobody.
func (p *peer) call(a *acting, t ticket, to PID, name, label Atom, body any) {
	from := a.sender()
	ref, ok := p.watchFor(a, t, from, to, name)
	if !ok {
		return
	}
	tag := wire.ImproperList{Head: []any{alias_}, Tail: ref}
	p.post(a, dist.Frame{Op: dist.OpSend, From: from, To: to, Name: name,
		Payload: wire.Tuple{label, wire.Tuple{from, tag}, body}, Token: a.p.token()})
}

// answer settles the call with the reference ref. It reports whether there is one.
func (p *peer) answer(ref Ref, v any, err error) bool {
	if !p.n.origin.Equal(ref.Origin()) {
		return false
	}
	p.mu.Lock()
	t, ok := p.calls[ref.Number()]
	if ok {
		delete(p.calls, ref.Number())
		if a := t.p.away; a != nil && (err == nil || !isExitError(err)) {
			a.demonitorLocked()
		}
	}
	p.mu.Unlock()
	if e, exited := err.(*ExitError); exited && ok && t.what == forResult {
		v, err = outcome(ref, e)
	}
	return ok && t.settle(&p.n.acting, v, err)
}

func isExitError(err error) bool { _, ok := err.(*ExitError); return ok }
