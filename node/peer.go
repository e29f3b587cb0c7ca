package node

import (
	"fmt"

	"github.com/actornode/actornode/internal/erlflags"
	"github.com/actornode/actornode/internal/executor"
	"github.com/actornode/actornode/internal/fault"
	"github.com/actornode/actornode/internal/inbox"
	"github.com/actornode/actornode/internal/linkopt"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/internal/erpc"
	"github.com/actornode/actornode/node/internal/gencall"
	"github.com/actornode/actornode/node/internal/names"
	"github.com/actornode/actornode/node/internal/outbox"
	"github.com/actornode/actornode/node/internal/peers"
	"github.com/actornode/actornode/node/internal/reader"
	"github.com/actornode/actornode/node/internal/undelivered"
	"github.com/actornode/actornode/node/internal/values"
	"github.com/actornode/actornode/node/internal/waiting"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// peer is another node, as processes here use it: see package peers, which makes, keeps and
// ends the connection.
type peer struct {
	n    *Node // far from what the reader writes, for senders read it
	name Atom
	peers.Peer

	// The reader's.
	link   dist.Link
	exact  bool // it is a Go node: what it sends has the Go types that it has there
	reader *reader.Reader
	// reading is the reader with the frame at hand.
	reading acting
}

// NewPeer is part of peers.Host.
func (d *distribution) NewPeer(name Atom) (*peers.Peer, peers.Owner) {
	p := &peer{n: d.n, name: name}
	return &p.Peer, p
}

// Up is part of peers.Owner.
func (p *peer) Up(about dist.Peer) { p.n.dist.tellUp(NodeUp{p.name, about.Hidden}) }

// Read is part of peers.Owner.
func (p *peer) Read(link dist.Link) {
	p.newReader(link)
	p.reader.Run()
}

func (p *peer) newReader(link dist.Link) {
	d := p.n.dist
	p.link = link
	about := link.Peer()
	p.exact = about.Protocol != erlang || erlflags.Flags(about.Flags).Has(erlflags.GoValues)
	if h, ok := link.(linkopt.Hosted); ok {
		h.SetHost(p.n)
	}
	p.reading.node = p.n
	p.reader = reader.New(reader.Config{
		Peer: &p.Peer, Link: link, Node: p, Pool: p.n.pool, Env: p.n.env, Awake: d.cfg.Awake, Spins: &d.spins,
	})
}

// Leave is part of reader.Node.
func (p *peer) Leave() { p.n.dist.Leave() }

// Received is part of reader.Node.
func (p *peer) Received(f *dist.Frame, to reader.Target) any {
	if r, ok := f.Payload.(*linkopt.Request); ok {
		return p.called(to.(target).q, f, r)
	}
	return p.n.received(p.exact, nil, f.Payload)
}

// IsPlain is part of reader.Node.
func (p *peer) IsPlain(msg any) bool {
	_, reply := gencall.ReplyRef(msg)
	return !reply && p.n.traces() == nil && linkopt.UnreadableIn(msg) == nil
}

// Target is part of reader.Node.
func (p *peer) Target(to PID) reader.Target {
	if q := p.n.lookup(to); q != nil && !q.boxed && q.kind < kindGoroutine && !q.showsPeer {
		return target{q}
	}
	return nil
}

// target is a process as package reader knows it.
type target struct{ q *proc }

// Inbox is part of reader.Target, and so are the others.
func (t target) Inbox() *inbox.Inbox { return &t.q.in }

// Stages returns nil for a detached actor.
func (t target) Stages() *executor.Entity {
	if !t.q.onStage() {
		return nil
	}
	return &t.q.Entity
}

// Wake has the process run.
func (t target) Wake() { t.q.runner().wake(&t.q.node.acting) }

// Undeliverable makes a dead letter.
func (t target) Undeliverable(msg any) { t.q.node.undeliverable(t.q.pid(), msg) }

// Over is part of peers.Owner.
func (p *peer) Over() { p.n.dist.recent.Forget(p) }

// Remains is part of peers.Owner.
func (p *peer) Remains(r peers.Remains) {
	for _, l := range r.Links {
		p.n.breakLink(l.Near, l.Far, NoConnection)
	}
	for _, m := range r.Monitors {
		m.Fire(NoConnection)
	}
	for _, m := range r.Watchers {
		m.Forget()
	}
	for _, q := range r.Requests {
		q.Caller.Settle(nil, &ExitError{NoConnection})
	}
}

// Lose is part of outbox.Owner.
func (p *peer) Lose(frames []dist.Frame) {
	for _, f := range frames {
		p.n.lost(f)
	}
}

// Unfit is part of outbox.Owner. It is logged where nobody is told: the sender has gone on.
func (p *peer) Unfit(f *dist.Frame, why *wire.EncodeError) {
	if !p.tellUnfit(f, why) {
		p.n.cfg.Log.Warn("a signal was not sent: it holds a value that is not an Erlang term, or is too large", "peer", string(p.name),
			"signal", f.Op.String(), "error", why)
	}
}

// tellUnfit makes a dead letter of a message that cannot be sent, and gives the error to whoever waits for an answer. Of
// an error in the place of a reply the text is sent. It reports whether somebody has been told.
func (p *peer) tellUnfit(f *dist.Frame, why *wire.EncodeError) (told bool) {
	if plain, ok := values.TextReply(f); ok {
		p.signal(plain)
		return true
	}
	why = ofValue(why, f.Payload)
	switch f.Op {
	case dist.OpSend:
		p.n.bury(*f, deadletter.NotATerm)
		msg := gencall.Message(f)
		if ref, ok := gencall.RequestRef(msg); ok {
			told = p.answer(&p.n.acting, ref, nil, why)
		}
		told = unanswered(f.Payload, why) || told
		if _, ok := gencall.ReplyRef(msg); ok && f.Answer { // a caller waits
			again := *f
			again.Payload = wire.Tuple{msg.(wire.Tuple)[0], p.n.values.Reply(why)}
			p.signal(again)
			told = true
		}
		if f.ID != 0 {
			told = p.answer(&p.n.acting, p.n.origin.RefOf(f.ID), nil, why) || told
		}
	case dist.OpSpawn:
		p.n.bury(*f, deadletter.NotATerm)
		told = p.answer(&p.n.acting, f.Ref, nil, why)
	case dist.OpMonitor:
		p.down(&p.n.acting, &dist.Frame{Ref: f.Ref, Payload: wire.Atom("notsup")})
		told = true
	}
	return told
}

// ofValue is the error for a message as the error of the value in it that a program has sent, called or replied with: its
// path begins there.
func ofValue(why *wire.EncodeError, msg any) *wire.EncodeError {
	step := ""
	switch m := msg.(type) {
	case untyped:
		step = "{3}"
	case interface{ uncast() any }:
		step = "{2}"
	case wire.Tuple:
		if _, ok := gencall.RequestRef(m); ok {
			step = "{3}"
		} else if _, ok := gencall.ReplyRef(m); ok {
			step = "{2}"
		}
	}
	return &wire.EncodeError{Err: fault.Below(why.Err, step)}
}

// signal puts a control frame, whose order to links and monitors does not matter.
func (p *peer) signal(f dist.Frame) { p.Signal(f) }

// send puts a message of who, nil: of a plain goroutine, which is held up then
// as pace says.
func (p *peer) send(a *acting, f dist.Frame) error {
	p.n.traces().Away(a.pid(), f.To, f.Name, p.name, f.Payload)
	full, err := p.Box.Send(a.turn(), f)
	if err != nil {
		return p.unsent(f, err)
	}
	if full {
		p.pace(a)
	}
	return nil
}

// message is send for a message to a process there.
func (p *peer) message(a *acting, to PID, msg any) error {
	p.n.traces().Away(a.pid(), to, "", "", msg)
	from := a.sender()
	full, err := p.Box.Message(a.turn(), from, to, msg)
	if err != nil {
		return p.unsent(dist.Frame{Op: dist.OpSend, From: from, To: to, Payload: msg}, err)
	}
	if full {
		p.pace(a)
	}
	return nil
}

// unsent is for a frame that the box has not taken. The error is about what is in it, and is for the sender; that of a
// reply, f.Answer, is not.
func (p *peer) unsent(f dist.Frame, err error) error {
	if why, ok := err.(*wire.EncodeError); ok {
		if f.Answer {
			p.Unfit(&f, why)
		} else {
			p.tellUnfit(&f, why)
		}
		if _, itself := f.Payload.(wire.Tuple); itself {
			return err
		}
		return ofValue(why, f.Payload)
	}
	p.n.lost(f) // no error: as for any message to the dead
	return nil
}

// sendAnswer sends an answer, for which nobody is held up: see [ClusterLimits].Answers. It goes
// behind what its sender has sent before. Whoever waits for a reply, f.Answer, is told what is wrong with it.
func (p *peer) sendAnswer(a *acting, f dist.Frame) (err error) {
	p.n.traces().Away(a.pid(), f.To, f.Name, p.name, f.Payload)
	if f.Answer {
		_, err = p.Box.Put(a.turn(), f)
	} else {
		f.Answer = true
		_, err = p.Box.Send(a.turn(), f)
		f.Answer = false // it is its sender who is told
	}
	if err != nil {
		err = p.unsent(f, err)
	}
	return err
}

// pace holds who up while more waits for the peer than may: until there is room,
// the connection is lost or who is killed. Whatever a process does of its own
// accord ends with it; what its exit, or the peer, brings about waits for nobody.
// An actor gives up its stage before it waits.
func (p *peer) pace(a *acting) {
	sender := a.sender()
	space := p.Box.Space(sender)
	if space == nil {
		return
	}
	a.p.waitsFor(waiting.Space, At{Node: p.name})
	defer a.p.waitsNoMore()
	for ; space != nil; space = p.Box.Space(sender) {
		a.block()
		var killed <-chan struct{}
		if a.p != nil {
			killed = a.p.context().Done()
		}
		select {
		case <-space:
		case <-killed:
			return
		}
	}
}

// lost makes a dead letter of what will not be sent and of which nobody else is told.
func (n *Node) lost(f dist.Frame) {
	if !f.Lossy {
		n.bury(f, deadletter.NotConnected)
	}
}

// bury makes a dead letter of what a frame has in it, if that is a message.
func (n *Node) bury(f dist.Frame, why deadletter.Cause) {
	if l, ok := undelivered.Frame(f, why); ok {
		n.deadLetter(l)
	}
}

// hand gives a message to a process, which the reader may run itself.
func (p *peer) hand(q *proc, n *inbox.Node) {
	inline := p.reader.Inline()
	if inline == nil || q.boxed || !q.onStage() {
		q.intake().try(n)
		return
	}
	switch q.in.Push(n) {
	case mailbox.Wake:
		inline.Inject(&q.Entity)
	case mailbox.Closed:
		p.n.undeliverable(q.pid(), n.Msg)
	}
}

// breakLink is the exit signal of a link whose other end is on another node.
func (n *Node) breakLink(near uint64, far PID, reason any) {
	if q := n.numbered(near); q != nil {
		q.mu.Lock()
		d := n.farLinkBrokenLocked(q, far, reason)
		q.mu.Unlock()
		d.carryOutAll(&n.acting, false)
	}
}

// connectLink makes the link between near and far. The caller holds near.mu, and
// near is alive. False: the connection is over.
func (p *peer) connectLink(near *proc, far PID) bool {
	if near.hasLinkLocked(far) {
		return true
	}
	if !p.ConnectLink(near.id, near.pid(), far) {
		return false
	}
	near.addLinkLocked(far)
	return true
}

// exitLink tells far, if near was linked to it, that near has exited.
func (p *peer) exitLink(near uint64, far PID, reason any) {
	p.ExitLink(near, p.n.origin.PID(near), far, p.n.values.Outward(reason))
}

// cutLink takes the link away on behalf of near, whose mu the caller holds.
func (p *peer) cutLink(near uint64, far PID) { p.CutLink(near, p.n.origin.PID(near), far) }

// Ref is part of peers.Monitor, and so are Fire and Forget.
func (m *monitor) Ref() Ref { return m.ref }

// Fire delivers the Down of a monitor by a process here, unless it has been taken away.
func (m *monitor) Fire(reason any) { m.fire(&m.watcher.node.acting, m.pid, reason) }

// Forget takes the monitor off its target.
func (m *monitor) Forget() { m.forget() }

// watch says what m, a monitor of a process there, is about.
func (m *monitor) watch() (w peers.Watch) {
	if m.watcher != nil {
		w = peers.Watch{By: m.watcher.pid(), To: m.pid, Name: m.name}
	}
	return w
}

// watch makes m, a monitor of a process here over one there. False: the
// connection is over.
func (p *peer) watch(m *monitor) bool {
	if m.node {
		return p.WatchNode(m)
	}
	return p.Watch(m, m.watch())
}

// unwatch takes a monitor over a process there away.
func (p *peer) unwatch(m *monitor) { p.Unwatch(m, m.watch()) }

// tellDown sends the Down of m, a monitor of a process there, unless it has been
// taken away.
func (p *peer) tellDown(m *monitor, pid PID, reason any) {
	p.TellDown(m, m.frame(pid, p.n.values.Outward(reason)))
}

// frame is the Down of m, a monitor by a process there.
func (m *monitor) frame(pid PID, reason any) dist.Frame {
	return dist.Frame{Op: dist.OpDown, From: pid, Name: m.name, To: m.by, Ref: m.ref, Payload: reason}
}

// farCall is a call, or a spawn, that waits for an answer from there.
type farCall struct {
	peers.Request
	p    *peer
	t    ticket
	sent linkopt.Request // what has been sent, if the link takes it
}

// Settle is part of peers.Caller.
func (f *farCall) Settle(v any, err error) bool { return f.settle(&f.p.n.acting, v, err) }

// settle answers the call, as a. It reports whether the caller still waited.
func (f *farCall) settle(a *acting, v any, err error) bool {
	if e, exited := err.(*ExitError); exited {
		switch name := f.Watch.Name; {
		case f.Kind == peers.ByResult:
			if o, ok := erpc.Read(f.Ref, e.Reason); ok {
				v, err = o.Opened(f.p.n.values.ReadErrorTerm).Result()
			}
		case name != "" && e.Reason == NoProc && !names.IsAlias(name):
			err = fmt.Errorf("%w: %s", ErrNoName, name) // as of this node
		}
	}
	return f.t.settle(a, v, err)
}

// forget takes the call out of the tables; if its answer has not come, it will
// find nobody.
func (f *farCall) forget() { f.p.Forget(&f.Request) }

// ask makes t wait for the answer to f, of a process that w says.
func (p *peer) ask(a *acting, t ticket, kind peers.Answered, w peers.Watch, f dist.Frame) bool {
	ref := f.Ref
	if f.Op == dist.OpSend { // for a receipt
		ref = p.n.origin.RefOf(f.ID)
	}
	w.By = f.From
	return p.put(a, nil, &farCall{p: p, t: t, Request: peers.Request{Ref: ref, Watch: w, Kind: kind}}, f)
}

// put notes c and sends f in the given turn. False: the connection is over, and c is answered.
func (p *peer) put(a *acting, turn *outbox.Turn, c *farCall, f dist.Frame) bool {
	c.Caller = c
	ok, err := p.Ask(turn, &c.Request, f, func() { c.t.p.away = c })
	switch {
	case !ok:
		c.t.settle(a, nil, &ExitError{NoConnection})
	case err != nil:
		_ = p.unsent(f, err) // answers c, too
	}
	return ok
}

// askSoon is ask for a caller that then waits for a start, or a receipt.
func (p *peer) askSoon(a *acting, t ticket, f dist.Frame) {
	if p.DeferForRequest() {
		defer p.Box.EndDefer()
	}
	p.ask(a, t, peers.ByStart, peers.Watch{}, f)
}

// watchFor makes t wait for the exit of a process there.
func (p *peer) watchFor(a *acting, t ticket, from, to PID, name Atom) (ref Ref, ok bool) {
	ref = p.CallRef(p.n.refSeq.Add(refBatch))
	return ref, p.ask(a, t, peers.ByReply, peers.Watch{To: to, Name: name},
		dist.Frame{Op: dist.OpMonitor, From: from, To: to, Name: name, Ref: ref})
}

// call sends a request to a process there. The answer comes to an alias, if the
// peer knows aliases, so that one that comes late finds nobody.
func (p *peer) call(a *acting, t ticket, to PID, name, label Atom, body any) {
	from := a.sender()
	if label == gencall.Call && p.TakesRequests() {
		ref := p.CallRef(p.n.refSeq.Add(refBatch))
		c := &farCall{p: p, t: t, Request: peers.Request{Ref: ref, Watch: peers.Watch{By: from, To: to, Name: name},
			Kind: peers.ByReply}, sent: linkopt.Request{Ref: ref, Body: body}}
		p.put(a, a.turn(), c, dist.Frame{Op: dist.OpSend, From: from, To: to, Name: name, Payload: &c.sent, Token: a.p.token()})
		return
	}
	ref, ok := p.watchFor(a, t, from, to, name)
	if !ok {
		return
	}
	f := dist.Frame{Op: dist.OpSend, From: from, To: to, Name: name, Payload: gencall.MakeRequest(label, from, ref, body),
		Token: a.p.token()}
	if _, err := p.Box.Put(a.turn(), f); err != nil {
		_ = p.unsent(f, err) // answers, too
	}
}

// answer settles the call with the reference ref, as a. It reports whether there is one.
func (p *peer) answer(a *acting, ref Ref, v any, err error) bool {
	_, down := err.(*ExitError)
	return p.settle(a, ref, v, err, down)
}

// settle is answer where it is known whether the call's monitor is over.
func (p *peer) settle(a *acting, ref Ref, v any, err error, down bool) bool {
	f, ok := p.Answered(ref, down).(*farCall)
	return ok && f.settle(a, v, err)
}
