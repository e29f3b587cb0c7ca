package node

import (
	"fmt"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/internal/kernel/flow"
	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/internal/wire/fault"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/deadletter"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// peer is another node, as processes here use it: see package peers, which makes, keeps and
// ends the connection.
type peer struct {
	n *Node // far from what the reader writes, for senders read it
	peers.RemotePeer

	// The reader's.
	link   dist.Link
	via    *PeerMessage // of what comes, without the message
	exact  bool         // it is a Go node: what it sends has the Go types that it has there
	reader *peers.Reader
	// reading is the reader with the frame at hand.
	reading process.Acting
}

// NewPeer is part of peers.ClusterHost.
func (d *distribution) NewPeer(name Atom) (*peers.Peer, peers.ClusterOwner) {
	p := &peer{n: d.n}
	p.System, p.Values, p.Reports, p.Count = &d.n.sys, d.n.values, &d.n.reports, d.n.counts.Add
	return &p.RemotePeer.Peer, p
}

// Up is part of peers.ClusterOwner.
func (p *peer) Up(about dist.Peer) {
	p.n.watchers.Tell(NodeUp{p.Name, about.Hidden, about.Foreign()})
	if !about.Hidden {
		p.n.watchers.TellServer(peers.LinkUp(p.Name))
	}
}

// Read is part of peers.ClusterOwner.
func (p *peer) Read(link dist.Link) {
	p.newReader(link)
	p.reader.Run()
}

func (p *peer) newReader(link dist.Link) {
	d := p.n.dist
	p.link = link
	about := link.Peer()
	p.via = &PeerMessage{Peer: p.Name, Addr: about.Addr, by: p.Asker(), over: p}
	p.exact = about.Protocol != erlang || erlflags.Flags(about.Flags).Has(erlflags.GoValues)
	if h, ok := link.(links.Hosted); ok {
		h.SetHost(p)
	}
	p.reading.System = &p.n.sys
	p.reader = peers.NewReader(peers.ReaderConfig{
		Peer: &p.RemotePeer.Peer, Link: link, Node: p, Pool: p.n.sys.Pool, Env: p.n.sys.Env, Awake: d.cfg.Awake, Spins: &d.spins,
	})
}

// Leave is part of peers.ReaderNode.
func (p *peer) Leave() { p.n.dist.Leave() }

// Received is part of peers.ReaderNode.
func (p *peer) Received(f *dist.Frame, to peers.ReaderTarget) any {
	if r, ok := f.Payload.(*links.Request); ok {
		return p.called(to.(target).q, f, r)
	}
	return p.read(f.Payload)
}

// IsPlain is part of peers.ReaderNode.
func (p *peer) IsPlain(msg any) bool {
	_, reply := calls.ReplyRef(msg)
	return !reply && p.n.sys.Traces() == nil && links.UnreadableIn(msg) == nil
}

// Target is part of peers.ReaderNode.
func (p *peer) Target(to PID) peers.ReaderTarget {
	if q := p.n.sys.Lookup(to); q != nil && !q.Boxed && q.Kind < process.Goroutine && !q.ShowsPeer && !p.IsLimited() {
		return target{q}
	}
	return nil
}

// target is a process as package peers knows it.
type target struct{ q *process.Process }

// Inbox is part of peers.ReaderTarget, and so are the others.
func (t target) Inbox() *inbox.Inbox { return &t.q.Inbox }

// Stages returns nil for a detached actor.
func (t target) Stages() *executor.Entity {
	if !t.q.OnStage() {
		return nil
	}
	return &t.q.Entity
}

// Wake has the process run.
func (t target) Wake() { t.q.Runner().Wake(&t.q.System.Plain) }

// Undeliverable makes a dead letter.
func (t target) Undeliverable(msg any) { t.q.System.Undeliverable(t.q.PID(), msg) }

// Over is part of peers.ClusterOwner.
func (p *peer) Over() {
	p.n.dist.recent.Forget(p)
	if p.Name == p.n.dist.cfg.NamedBy {
		p.n.nameLost(p.Why())
	}
}

// Remains is part of peers.ClusterOwner.
func (p *peer) Remains(r peers.Remains) {
	for _, l := range r.Links {
		p.LinkLost(l.Near, l.Far, NoConnection)
	}
	for _, m := range r.Monitors {
		m.Fire(NoConnection)
	}
	for _, m := range r.Watchers {
		m.Forget()
	}
	if len(r.Requests) > 0 {
		lost := p.lost()
		for _, q := range r.Requests {
			q.Caller.Settle(nil, lost)
		}
	}
	p.n.watchers.TellServer(peers.LinkDown(p.Name))
}

// lost is the error of a call whose answer cannot come, for the connection is over.
func (p *peer) lost() *ExitError {
	return &ExitError{Reason: NoConnection, Node: p.Name, Cause: p.Why()}
}

// Lose is part of flow.Owner.
func (p *peer) Lose(frames []dist.Frame) {
	for _, f := range frames {
		p.lose(f)
	}
}

// Unfit is part of flow.Owner. It is logged where nobody is told: the sender has gone on. The caller of a function whose
// result cannot be sent gets the error.
func (p *peer) Unfit(f *dist.Frame, why *wire.EncodeError) (instead any) {
	if f.Op == dist.OpDown {
		ours := &wire.EncodeError{Err: fault.Below(why.Err, "{3}")}
		if o, ok := erpc.Unsent(f.Payload, p.n.values.ErrorTerm(fmt.Errorf("node: the result cannot be sent: %w", ours))); ok {
			return o
		}
	}
	if !p.tellUnfit(f, why) {
		p.n.cfg.Log.Warn("a signal was not sent: it holds a value that is not an Erlang term, or is too large", "peer", string(p.Name),
			"signal", f.Op.String(), "error", why)
	}
	return nil
}

// tellUnfit makes a dead letter of a message that cannot be sent, and gives the error to whoever waits for an answer. Of
// an error in the place of a reply the text is sent. It reports whether somebody has been told.
func (p *peer) tellUnfit(f *dist.Frame, why *wire.EncodeError) (told bool) {
	if plain, ok := values.TextReply(f); ok {
		p.Signal(plain)
		return true
	}
	why = ofValue(why, f.Payload)
	switch f.Op {
	case dist.OpSend:
		p.bury(*f, deadletter.NotATerm, why)
		msg := calls.Message(f)
		if ref, ok := calls.RequestRef(msg); ok {
			told = p.answer(&p.n.sys.Plain, ref, nil, why)
		}
		told = unanswered(f.Payload, why) || told
		if _, ok := calls.ReplyRef(msg); ok && f.Answer { // a caller waits
			again := *f
			again.Payload = wire.Tuple{msg.(wire.Tuple)[0], p.n.values.Reply(why)}
			p.Signal(again)
			told = true
		}
		if f.ID != 0 {
			told = p.answer(&p.n.sys.Plain, p.n.sys.Origin.RefOf(f.ID), nil, why) || told
		}
	case dist.OpSpawn:
		p.bury(*f, deadletter.NotATerm, why)
		told = p.answer(&p.n.sys.Plain, f.Ref, nil, why)
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
		if _, ok := calls.RequestRef(m); ok {
			step = "{3}"
		} else if _, ok := calls.ReplyRef(m); ok {
			step = "{2}"
		}
	}
	return &wire.EncodeError{Err: fault.Below(why.Err, step)}
}

// send puts a message into the queue to the peer. A sender with nothing else to do waits where the queue is full: see pace.
func (p *peer) send(a *process.Acting, f dist.Frame) error {
	p.n.sys.Traces().Away(a.PID(), f.To, f.Name, p.Name, f.Payload)
	full, err := p.Box.Send(a.OutboxTurn(), f)
	if err != nil {
		return p.unsent(f, err)
	}
	if full {
		p.PaceAfter(a, f.Payload)
	}
	return nil
}

// message is send for a message to a process there.
func (p *peer) message(a *process.Acting, to PID, msg any) error {
	p.n.sys.Traces().Away(a.PID(), to, "", "", msg)
	from := a.Sender()
	full, err := p.Box.Message(a.OutboxTurn(), from, to, msg)
	if err != nil {
		return p.unsent(dist.Frame{Op: dist.OpSend, From: from, To: to, Payload: msg}, err)
	}
	if full {
		p.PaceAfter(a, msg)
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
	p.lose(f) // no error: as for any message to the dead
	return nil
}

// sendAnswer sends an answer, for which nobody is held up: see [ClusterLimits].Answers. It goes
// behind what its sender has sent before. Whoever waits for a reply, f.Answer, is told what is wrong with it.
func (p *peer) sendAnswer(a *process.Acting, f dist.Frame) (err error) {
	p.n.sys.Traces().Away(a.PID(), f.To, f.Name, p.Name, f.Payload)
	if f.Answer {
		_, err = p.Box.Put(a.OutboxTurn(), f)
	} else {
		f.Answer = true
		_, err = p.Box.Send(a.OutboxTurn(), f)
		f.Answer = false // it is its sender who is told
	}
	if err != nil {
		err = p.unsent(f, err)
	}
	return err
}

// lose makes a dead letter of what will not be sent and of which nobody else is told.
func (p *peer) lose(f dist.Frame) {
	if !f.Lossy {
		p.bury(f, deadletter.NotConnected, p.Why())
	}
}

// bury makes a dead letter of what a frame has in it, if that is a message.
func (p *peer) bury(f dist.Frame, cause deadletter.Cause, why error) {
	if l, ok := watch.LetterOfFrame(f, cause); ok {
		l.Node, l.Why = p.Name, why
		p.n.sys.DeadLetter(l)
	}
}

// hand gives a message to a process, which the reader may run itself.
func (p *peer) hand(q *process.Process, n *inbox.Node) {
	inline := p.reader.Inline()
	if inline == nil || q.Boxed || !q.OnStage() {
		q.Intake().Try(n)
		return
	}
	switch q.Inbox.Push(n) {
	case mailbox.Wake:
		inline.Inject(&q.Entity)
	case mailbox.Closed:
		p.n.sys.Undeliverable(q.PID(), n.Msg)
	}
}

// farCall is a call, or a spawn, that waits for an answer from there.
type farCall struct {
	peers.Request
	p    *peer
	t    process.Ticket
	sent links.Request // what has been sent, if the link takes it
}

// Settle is part of peers.Caller.
func (f *farCall) Settle(v any, err error) bool { return f.settle(&f.p.n.sys.Plain, v, err) }

// settle answers the call, as a. It reports whether the caller still waited.
func (f *farCall) settle(a *process.Acting, v any, err error) bool {
	if e, exited := err.(*ExitError); exited {
		switch name := f.Watch.Name; {
		case f.Kind == peers.ByResult:
			if o, ok := erpc.ReadOutcome(f.Ref, e.Reason); ok {
				v, err = o.Opened(f.p.n.values.ReadErrorTerm).Result()
			}
		case name != "" && e.Reason == NoProc && !tables.IsAlias(name):
			err = fmt.Errorf("%w: %s", ErrNoName, name) // as of this node
		}
	}
	return f.t.Settle(a, v, err)
}

// Forget takes the call out of the tables; if its answer has not come, it will
// find nobody.
func (f *farCall) Forget() { f.p.Forget(&f.Request) }

// ask makes t wait for the answer to f, of a process that w says.
func (p *peer) ask(a *process.Acting, t process.Ticket, kind peers.Answered, w peers.Watch, f dist.Frame) bool {
	ref := f.Ref
	if f.Op == dist.OpSend { // for a receipt
		ref = p.n.sys.Origin.RefOf(f.ID)
	}
	w.By = f.From
	return p.put(a, nil, &farCall{p: p, t: t, Request: peers.Request{Ref: ref, Watch: w, Kind: kind}}, f)
}

// put notes c and sends f in the given turn. False: the connection is over, and c is answered.
func (p *peer) put(a *process.Acting, turn *flow.Turn, c *farCall, f dist.Frame) bool {
	c.Caller = c
	ok, err := p.Ask(turn, &c.Request, f, func() { c.t.Call.Away = c })
	switch {
	case !ok:
		c.t.Settle(a, nil, p.lost())
	case err != nil:
		_ = p.unsent(f, err) // answers c, too
	}
	return ok
}

// askSoon is ask for a caller that then waits for a start, or a receipt.
func (p *peer) askSoon(a *process.Acting, t process.Ticket, f dist.Frame) {
	if p.DeferForRequest() {
		defer p.Box.EndDefer()
	}
	p.ask(a, t, peers.ByStart, peers.Watch{}, f)
}

// watchFor makes t wait for the exit of a process there.
func (p *peer) watchFor(a *process.Acting, t process.Ticket, from, to PID, name Atom) (ref Ref, ok bool) {
	ref = p.CallRef(p.n.sys.NewNumber())
	return ref, p.ask(a, t, peers.ByReply, peers.Watch{To: to, Name: name},
		dist.Frame{Op: dist.OpMonitor, From: from, To: to, Name: name, Ref: ref})
}

// call sends a request to a process there. The answer comes to an alias, if the
// peer knows aliases, so that one that comes late finds nobody.
func (p *peer) call(a *process.Acting, t process.Ticket, to PID, name, label Atom, body any) {
	from := a.Sender()
	if label == calls.Call && p.TakesRequests() {
		ref := p.CallRef(p.n.sys.NewNumber())
		c := &farCall{p: p, t: t, Request: peers.Request{Ref: ref, Watch: peers.Watch{By: from, To: to, Name: name},
			Kind: peers.ByReply}, sent: links.Request{Ref: ref, Body: body}}
		p.put(a, a.OutboxTurn(), c, dist.Frame{Op: dist.OpSend, From: from, To: to, Name: name, Payload: &c.sent,
			Token: a.Process.Token()})
		return
	}
	ref, ok := p.watchFor(a, t, from, to, name)
	if !ok {
		return
	}
	f := dist.Frame{Op: dist.OpSend, From: from, To: to, Name: name, Payload: calls.MakeRequest(label, from, ref, body),
		Token: a.Process.Token()}
	if _, err := p.Box.Put(a.OutboxTurn(), f); err != nil {
		_ = p.unsent(f, err) // answers, too
	}
}

// answer settles the call with the reference ref, as a. It reports whether there is one.
func (p *peer) answer(a *process.Acting, ref Ref, v any, err error) bool {
	_, down := err.(*ExitError)
	return p.settle(a, ref, v, err, down)
}

// settle is answer where it is known whether the call's monitor is over.
func (p *peer) settle(a *process.Acting, ref Ref, v any, err error, down bool) bool {
	f, ok := p.Answered(ref, down).(*farCall)
	return ok && f.settle(a, v, err)
}
