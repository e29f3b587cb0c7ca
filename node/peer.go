package node

import (
	"errors"
	"fmt"
	"sync"

	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/wire"
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
//  3. mu is never locked together with the mu of a proc.
type peer struct {
	n    *Node
	name Atom

	mu    sync.Mutex
	over  bool
	why   error                // once over: the reason
	links map[linkKey]*farLink // between processes here and there
	out   map[uint64]*monitor  // over processes there, by the number of the reference
	in    map[Ref]*monitor     // of processes there, over processes here
	calls map[uint64]asked     // calls and spawns that wait for an answer, by reference
	downs map[*proc]int        // processes here that asked to be told when it is over
	link  wire.Link            // nil: being connected
	id    wire.NodeID          // of the life that is connected
	box   outbox
	done  chan struct{} // closed when over
	ready chan struct{} // closed when connected, or over
	gone  chan struct{} // closed when all that comes of the end is done

	// Guarded by dist.mu.
	dialing bool // this node has an attempt of its own under way
	wanted  bool // this node wants to reach the peer
	holds   int  // reasons to keep it in dist.peers: that it is not over, that dialing goes on

	// The ticker's.
	seenIn, seenOut uint64
	silent          int
}

// linkKey is a link between a process here, by its number, and one there.
type linkKey struct {
	near uint64
	far  PID
}

// farLink is one end's view of a link between nodes: "Link Protocol" in the
// distribution protocol's document. An exit signal counts only if the link is
// active and no unlink of this side waits for its acknowledgement.
type farLink struct {
	active  bool
	unlinks uint64 // ID of the unlink that has not been acknowledged; 0: none
}

// asked is what waits for an answer. call: not that of a spawn, but the Down of
// the process that was spawned.
type asked struct {
	ticket
	call bool
}

func newPeer(n *Node, name Atom) *peer {
	return &peer{
		n: n, name: name, holds: 1,
		links: make(map[linkKey]*farLink), out: make(map[uint64]*monitor), in: make(map[Ref]*monitor),
		calls: make(map[uint64]asked), downs: make(map[*proc]int),
		box:  outbox{wake: make(chan struct{}, 1), limit: n.dist.cfg.Queue},
		done: make(chan struct{}), ready: make(chan struct{}), gone: make(chan struct{}),
	}
}

// outbox is what waits to be written.
type outbox struct {
	mu     sync.Mutex
	frames []wire.Frame
	bytes  int  // of messages, estimated
	tick   bool // a tick is due
	over   bool
	room   chan struct{} // closed when there is room again; nil: nobody waits
	wake   chan struct{} // capacity 1: for the writer
	limit  int
}

// errOver says that the connection is over.
var errOver = errors.New("node: the connection is over")

// put adds a frame. size is what it counts for, 0 for what must never wait. It
// returns what to wait for if the box is over its limit.
func (b *outbox) put(f wire.Frame, size int) (room <-chan struct{}, err error) {
	b.mu.Lock()
	if b.over {
		b.mu.Unlock()
		return nil, errOver
	}
	b.frames = append(b.frames, f)
	b.bytes += size
	if size > 0 && b.bytes > b.limit {
		if b.room == nil {
			b.room = make(chan struct{})
		}
		room = b.room
	}
	first := len(b.frames) == 1
	b.mu.Unlock()
	if first {
		b.rouse()
	}
	return room, nil
}

func (b *outbox) rouse() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take returns all that waits; spent is the slice of the time before, to be used
// again.
func (b *outbox) take(spent []wire.Frame) (frames []wire.Frame, tick bool) {
	clear(spent)
	b.mu.Lock()
	defer b.mu.Unlock()
	frames, tick = b.frames, b.tick
	b.frames, b.bytes, b.tick = spent[:0], 0, false
	b.release()
	return frames, tick
}

// release lets those go on who wait for room. The caller holds mu.
func (b *outbox) release() {
	if b.room != nil {
		close(b.room)
		b.room = nil
	}
}

// close ends the box and returns what was not written.
func (b *outbox) close() []wire.Frame {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	left := b.frames
	b.frames = nil
	b.release()
	b.rouse()
	return left
}

// signal puts a control frame; the caller holds p.mu, or order does not matter.
func (p *peer) signal(f wire.Frame) { p.box.put(f, 0) }

// send puts a message. A sender that goes past the limit of what may wait for
// the peer is held up until there is room.
func (p *peer) send(c *Context, f wire.Frame) error {
	room, err := p.box.put(f, 1+mailbox.Size(f.Payload))
	if err != nil {
		p.n.lost(f)
		return nil // as for any message to the dead
	}
	if room != nil {
		if c != nil {
			c.block()
		}
		<-room
	}
	return nil
}

// lost makes a dead letter of a message that will not be sent.
func (n *Node) lost(f wire.Frame) {
	if f.Op == wire.OpSend {
		n.dead.add(DeadLetter{Cause: CauseNotConnected, To: f.To, Name: f.Name, Alias: f.Ref, Message: f.Payload})
	}
}

// write is the writer's goroutine: started when the peer is connected, ended by
// its end, waited for by Node.Stop.
func (p *peer) write() {
	defer p.n.dist.wg.Done()
	var batch []wire.Frame
	for {
		select {
		case <-p.box.wake:
		case <-p.done:
			return
		}
		var tick bool
		batch, tick = p.box.take(batch)
		for i := range batch {
			err := p.link.Write(&batch[i])
			var unfit *wire.EncodeError
			if errors.As(err, &unfit) {
				p.unfit(batch[i], unfit)
				err = nil
			}
			if err == nil && p.link.Buffered() >= flushAt {
				err = p.link.Flush()
			}
			if err != nil {
				p.end(fmt.Errorf("cannot write: %w", err))
				return
			}
		}
		var err error
		if len(batch) > 0 {
			err = p.link.Flush()
		} else if tick {
			err = p.link.Tick()
		}
		if err != nil {
			p.end(fmt.Errorf("cannot write: %w", err))
			return
		}
	}
}

// flushAt is how many bytes are written at once, at least.
const flushAt = 64 << 10

// unfit tells of a signal that holds what cannot be sent. A message is a dead
// letter; a reason is replaced, for its receiver must be told.
func (p *peer) unfit(f wire.Frame, err *wire.EncodeError) {
	if f.Op == wire.OpSend {
		p.n.dead.add(DeadLetter{Cause: CauseNotATerm, To: f.To, Name: f.Name, Alias: f.Ref, Message: f.Payload})
	}
	p.n.cfg.Log.Warn("not sent: no term", "peer", string(p.name), "signal", f.Op.String(), "error", err)
	if f.Op == wire.OpExit || f.Op == wire.OpDown || f.Op == wire.OpSignal {
		f.Payload = fmt.Sprintf("%v", f.Payload)
		p.signal(f)
	}
}

// read is the reader's goroutine: started when the peer is connected, ended by
// its end, waited for by Node.Stop.
func (p *peer) read() {
	defer p.n.dist.wg.Done()
	for {
		f, err := p.link.Read()
		if err == nil {
			err = p.handle(&f)
		}
		if err != nil {
			p.end(err)
			return
		}
	}
}

// end is the loss of the connection: every link breaks with noconnection, every
// monitor fires, every call fails.
func (p *peer) end(why error) {
	p.mu.Lock()
	if p.over {
		p.mu.Unlock()
		return
	}
	p.over, p.why = true, why
	links, out, in, calls, downs := p.links, p.out, p.in, p.calls, p.downs
	p.links, p.out, p.in, p.calls, p.downs = nil, nil, nil, nil, nil
	up := p.link != nil
	if !up {
		close(p.ready)
	}
	close(p.done)
	p.mu.Unlock()
	if up {
		p.link.Close()
	}
	left := p.box.close()
	for key, l := range links {
		if l.active {
			p.n.breakLink(key, NoConnection)
		}
	}
	for _, m := range out {
		m.fire(nil, m.pid, NoConnection)
	}
	for _, m := range in {
		m.forget()
	}
	for _, t := range calls {
		t.settle(nil, nil, &ExitError{NoConnection})
	}
	for _, f := range left {
		p.n.lost(f)
	}
	for q, times := range downs {
		for range times {
			q.signal(nil, NodeDown{Node: p.name, Reason: why.Error()})
		}
	}
	if !p.n.stopped.Load() {
		p.n.cfg.Log.Info("node down", "peer", string(p.name), "reason", why.Error(), "not sent", len(left))
	}
	p.n.dist.release(p) // last: only now it can be connected again
}

// breakLink is the exit signal of a link whose other end is on another node.
func (n *Node) breakLink(key linkKey, reason any) {
	p := n.table.get(key.near)
	if p == nil {
		return
	}
	p.mu.Lock()
	had := p.status.Load() == alive && p.removeLinkLocked(key.far)
	trap := p.cold != nil && p.cold.trap
	p.mu.Unlock()
	switch {
	case !had:
	case trap:
		p.signal(nil, Exited{key.far, reason})
	case reason != Normal:
		p.exit(nil, reason)
	}
}

// connectLink makes the link between near and far, which near has noted already.
// False: the connection is over.
func (p *peer) connectLink(near *proc, far PID) bool {
	key := linkKey{near.id, far}
	p.mu.Lock()
	if p.over {
		p.mu.Unlock()
		return false
	}
	l := p.links[key]
	if l == nil {
		l = &farLink{}
		p.links[key] = l
	}
	if !l.active {
		l.active = true
		p.signal(wire.Frame{Op: wire.OpLink, From: near.pid(), To: far})
	}
	p.mu.Unlock()
	if near.status.Load() != alive { // killed meanwhile, perhaps before p knew of the link
		p.exitLink(near.id, far, near.reason())
	}
	return true
}

// exitLink tells far, if near was linked to it, that near has exited.
func (p *peer) exitLink(near uint64, far PID, reason any) {
	key := linkKey{near, far}
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.links[key]
	if l == nil {
		return
	}
	delete(p.links, key)
	if l.active {
		p.signal(wire.Frame{Op: wire.OpExit, From: p.n.origin.PID(near), To: far, Payload: reason})
	}
}

// cutLink takes the link away on behalf of near.
func (p *peer) cutLink(near uint64, far PID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.links[linkKey{near, far}]
	if l == nil || !l.active {
		return
	}
	l.active = false
	l.unlinks = p.n.dist.unlinks.Add(1)
	p.signal(wire.Frame{Op: wire.OpUnlink, ID: l.unlinks, From: p.n.origin.PID(near), To: far})
}

// watch makes m, a monitor of a process here over one there. False: the
// connection is over.
func (p *peer) watch(m *monitor) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return false
	}
	p.out[m.ref.Number()] = m
	p.signal(wire.Frame{Op: wire.OpMonitor, From: m.watcher.pid(), To: m.pid, Name: m.name, Ref: m.ref})
	return true
}

// unwatch takes a monitor over a process there away.
func (p *peer) unwatch(m *monitor) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out[m.ref.Number()] == m {
		delete(p.out, m.ref.Number())
		p.signal(wire.Frame{Op: wire.OpDemonitor, From: m.watcher.pid(), To: m.pid, Name: m.name, Ref: m.ref})
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
	f := wire.Frame{Op: wire.OpDown, From: pid, To: m.by, Ref: m.ref, Payload: reason}
	if m.name != "" {
		f.From, f.Name = PID{}, m.name
	}
	p.signal(f)
}

// farCall is a call that waits for an answer from there.
type farCall struct {
	p    *peer
	ref  Ref
	from PID
	to   PID
	name Atom // instead of to
}

// forget takes the call out of the tables; if its answer has not come, it will
// find nobody.
func (f *farCall) forget() {
	p := f.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, waits := p.calls[f.ref.Number()]; waits {
		delete(p.calls, f.ref.Number())
		p.signal(wire.Frame{Op: wire.OpDemonitor, From: f.from, To: f.to, Name: f.name, Ref: f.ref})
	}
}

// call sends a request to a process there. The answer comes to an alias, if the
// peer knows aliases, so that one that comes late finds nobody.
func (p *peer) call(c *Context, t ticket, from PID, to PID, name Atom, label Atom, body any) {
	ref := p.n.newRef()
	p.mu.Lock()
	if p.over {
		p.mu.Unlock()
		t.settle(c, nil, &ExitError{NoConnection})
		return
	}
	t.p.away = &farCall{p: p, ref: ref, from: from, to: to, name: name}
	p.calls[ref.Number()] = asked{ticket: t}
	p.signal(wire.Frame{Op: wire.OpMonitor, From: from, To: to, Name: name, Ref: ref})
	p.mu.Unlock()
	tag := wire.ImproperList{Head: []any{alias_}, Tail: ref}
	p.send(c, wire.Frame{Op: wire.OpSend, From: from, To: to, Name: name,
		Payload: wire.Tuple{label, wire.Tuple{from, tag}, body}})
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
		if err == nil && t.p.away != nil {
			a := t.p.away
			p.signal(wire.Frame{Op: wire.OpDemonitor, From: a.from, To: a.to, Name: a.name, Ref: ref})
		}
	}
	p.mu.Unlock()
	return ok && t.settle(nil, v, err)
}
