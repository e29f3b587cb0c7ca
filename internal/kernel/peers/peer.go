package peers

import (
	"errors"
	"fmt"
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node/rights"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/kernel/flow"
	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/wire/links"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Peer is another node: see the package comment. The cluster makes it.
type Peer struct {
	System *process.System // far from what the reader writes, for senders read it
	Name   wire.Atom       // never changed
	Box    flow.Box        // what goes there
	Flow   Flow
	c      *Cluster
	mark   uint32 // in the references of calls, see refs.go; never changed

	Visitor limits.Visitor // set before the peer is connected

	ended atomic.Bool // over, for those that do not hold mu

	mu      sync.Mutex
	tables  Tables
	unacked bool      // more ends of links than may are not acknowledged
	why     error     // once over: the reason
	link    dist.Link // nil: being connected
	arrival uint64    // of the claim by which the link was made; 0: this node has dialled

	done  chan struct{} // closed when over
	ready chan struct{} // closed when connected, or over
	gone  chan struct{} // closed when all that comes of the end is done
	told  chan struct{} // closed when release is set, or will not be

	release int // the peer's OTP release

	refused [limits.HeldKinds]atomic.Uint32 // see Refuse

	requests atomic.Bool // the link takes a request with its monitor: see TakesRequests

	checks atomic.Pointer[links.Checker] // of link; nil: being connected

	// Guarded by Cluster.mu.
	named chan struct{} // closed when an attempt is over in which this node has said its name; nil: there is none
	dial  limits.Dial[Peer]
	place *limits.Place // of link
	// Reasons to keep it in Cluster.peers: that it is not over, that an attempt to connect it goes on or waits.
	holds int

	// The reader's.
	reading process.Acting // the reader with the frame at hand
	reader  *Reader
	sender  *Sender         // of what comes
	granted *rights.Granted // to the connection, as of the last frame

	// The goroutine of ticks has these.
	seenIn, seenOut uint64
	silent          int
	backlog         limits.Backlog
	ending          bool // by endTelling
}

// Flow is what a peer counts. Its zero value is ready.
type Flow struct {
	in    uint64       // signals read; written by the reader only
	since atomic.Int64 // Unix time, ns; 0: never connected
	life  atomic.Int64 // when the ticker last saw that something had come
}

// Read counts signals. The reader calls it.
func (f *Flow) Read(n int) { atomic.StoreUint64(&f.in, f.in+uint64(n)) }

// begin says that the connection is there.
func (f *Flow) begin(at time.Time) {
	now := at.UnixNano()
	f.since.Store(now)
	f.life.Store(now)
}

// newPeer returns a peer of c that is not connected.
func newPeer(c *Cluster, name wire.Atom) *Peer {
	p := &Peer{System: c.cfg.System, Name: name, c: c, holds: 1}
	p.tables = NewTables(c.cfg.Quota.Links, c.cfg.Quota.Monitors, c.cfg.Quota.NewHolder())
	p.done, p.ready, p.gone, p.told = make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	p.dial.Of = p
	p.Box.Init(c.limits.Load().Queue, c.cfg.Quota, check{p})
	return p
}

// Done is closed when p is over.
func (p *Peer) Done() <-chan struct{} { return p.done }

// IsOver reports whether the connection is over.
func (p *Peer) IsOver() bool { return p.ended.Load() }

// Why returns why p is over, nil: it is not.
func (p *Peer) Why() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why
}

// IsUp reports whether p is connected.
func (p *Peer) IsUp() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.isUp()
}

func (p *Peer) isUp() bool { return p.link != nil && !p.tables.Ended() }

// Conn returns the link that p has, or had; nil: it has had none yet.
func (p *Peer) Conn() dist.Link {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.link
}

// What is known of refusals of one kind, for the log.
const (
	noneRefused uint32 = iota
	toBeLogged
	logged
)

// Refuse has it said in the log, once for each connection and kind, that p has too many of
// something; the limit has counted it. The caller may hold any lock.
func (p *Peer) Refuse(k limits.HeldKind) {
	if p.refused[k].CompareAndSwap(noneRefused, toBeLogged) {
		p.c.cfg.Quota.Ask()
	}
}

// refuseIf counts that p is refused one more of something.
func (p *Peer) refuseIf(r Result, k limits.HeldKind) {
	if r == TooMany {
		p.c.cfg.Quota.Limit(k).Refuse()
		p.Refuse(k)
	}
}

// hasRoom reports whether p may have one more link, or monitor, if that is asked.
func (p *Peer) hasRoom(link, monitor bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case link && p.tables.linksFull():
		p.refuseIf(TooMany, limits.HeldLinks)
	case monitor && p.tables.monitorsFull():
		p.refuseIf(TooMany, limits.HeldMonitors)
	default:
		return true
	}
	return false
}

// logRefusals says what has been refused for the first time. It is for the goroutine of ticks.
func (p *Peer) logRefusals() {
	for k := range p.refused {
		if p.refused[k].CompareAndSwap(toBeLogged, logged) {
			p.c.cfg.Log.Warn("a request of a peer was refused: the peer has reached its limit on this node", "peer", string(p.Name),
				"what", limits.HeldKind(k).String(),
				"limit", p.c.cfg.Quota.Limit(limits.HeldKind(k)).Max())
		}
	}
}

// write is the writer's goroutine: started when the peer is connected, ended by its end, waited for by Stop.
func (p *Peer) write() {
	defer p.c.wg.Done()
	w := flow.Writer{Box: &p.Box, Link: p.link, Done: p.done, Owner: p, Env: p.c.cfg.Env}
	if err := w.Run(); err != nil {
		p.End(err)
	}
	w.LoseHeld()
}

// End is the loss of the connection: every link breaks with noconnection, every monitor fires, every request fails.
func (p *Peer) End(why error) { p.end(why, false) }

// fail is End unless p is connected by now.
func (p *Peer) fail(why error) { p.end(why, true) }

func (p *Peer) end(why error, unlessUp bool) {
	p.mu.Lock()
	up := p.link != nil
	if p.tables.Ended() || unlessUp && up {
		p.mu.Unlock()
		return
	}
	p.why = why
	p.ended.Store(true)
	remains := p.tables.End()
	if !up {
		close(p.ready)
	}
	close(p.done)
	p.mu.Unlock()
	left := p.Box.Close() // first: what the writer puts into a closed link nobody would miss
	p.c.recent.Forget(p)
	if up {
		p.link.Close()
	}
	p.settle(remains)
	p.Lose(left)
	for _, m := range remains.Nodes {
		m.Fire(why.Error())
	}
	p.c.release(p) // only now it can be connected again
	p.c.lost.Set()
	switch about := []any{"peer", string(p.Name), "reason", why.Error(), "unsent_signals", len(left)}; {
	case !up || p.System.Stopped.Load():
	case p.isClient():
		p.c.cfg.Log.Debug("client disconnected", about...)
	case isOrderly(why):
		p.c.cfg.Log.Info("node down", about...)
	default:
		p.c.losses.add(p.Name, why, p.c.cfg.Env.Now())
		p.c.cfg.Log.Warn("node down", about...)
	}
}

// settle is what the end of the connection means for all that hung on it but the monitors of the node.
func (p *Peer) settle(r Remains) {
	for _, l := range r.Links {
		p.loseLink(l, process.NoConnection)
	}
	for _, m := range r.Monitors {
		m.Fire(process.NoConnection)
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
	p.c.cfg.Node.Down(p)
}

// standing is what p, which may be nil, says about a connection from there, for a claim that
// has arrived when the link against was there. The caller holds Cluster.mu.
func (p *Peer) standing(greater bool, against dist.Link) limits.Standing {
	s := limits.Standing{Greater: greater}
	if p == nil {
		return s
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s.Naming, s.Placed = p.named != nil, p.link != nil
	if s.Up = p.isUp(); s.Up {
		s.Arrival, s.Older = p.arrival, p.link == against
	}
	return s
}

// join gives p its link. False: it has had one, or is over.
func (p *Peer) join(link dist.Link, c *claim, place *limits.Place) bool {
	if !p.joined(link, c, place) {
		return false
	}
	p.c.losses.forget(p.Name)
	about := []any{"peer", string(p.Name), "protocol", link.Peer().Protocol, "addr", link.Peer().Addr}
	p.c.linked(p, link.Peer().Protocol)
	if p.isClient() {
		p.c.cfg.Log.Debug("client connected", about...)
	} else {
		p.c.cfg.Log.Info("node up", about...)
	}
	return true
}

func (p *Peer) joined(link dist.Link, c *claim, place *limits.Place) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tables.Ended() || p.link != nil {
		return false
	}
	p.link, p.place, p.Visitor = link, place, place.Visitor
	if !link.Peer().Acks {
		p.tables.AcknowledgeAll()
	}
	checker, _ := link.(links.Checker)
	p.checks.Store(&checker)
	if l, ok := link.(links.Requester); ok {
		p.requests.Store(l.Requests())
	}
	if c != nil {
		p.arrival = c.number
	}
	p.Flow.begin(p.c.cfg.Env.Now())
	if !link.Peer().Client {
		p.c.cfg.Node.Up(p, link.Peer()) // before anything comes from it
	}
	p.c.wg.Add(3)
	p.c.cfg.Env.Go(p.write)
	p.c.cfg.Env.Go(func() { p.NewReader(link).Run() })
	p.c.cfg.Env.Go(p.learnRelease)
	close(p.ready)
	return true
}

// learnRelease is the goroutine that asks the peer for its release: started when the peer is
// connected, waited for by Stop.
func (p *Peer) learnRelease() {
	defer p.c.wg.Done()
	defer close(p.told)
	if !p.isClient() {
		p.release = p.askRelease()
	}
}

// releaseTimeout bounds the question for a peer's release.
const releaseTimeout = 5 * time.Second

// askRelease asks the peer for its release: some system messages are not alike in all releases. The question ends with the
// answer, the connection or a timeout. 0: the peer does not say.
func (p *Peer) askRelease() (number int) {
	ctx, cancel := p.System.Env.WithTimeout(p.c.ctx, releaseTimeout)
	defer cancel()
	a := &p.System.Plain
	t := a.Promise().NewTicket()
	p.Apply(a, t, erpc.NewFunction(p.Name, "erlang", "system_info", []any{wire.Atom("otp_release")}), p.System.Leader())
	if v, err := a.Await(ctx, t, calls.WaitReply, wire.At{Node: p.Name}); err == nil {
		text, _ := wire.AsText(v)
		number, _ = strconv.Atoi(text)
	}
	return number
}

// IsReleaseKnown reports whether Release needs no waiting.
func (p *Peer) IsReleaseKnown() bool {
	select {
	case <-p.told:
		return true
	default:
		return false
	}
}

// Release returns the OTP release of the peer. It waits until the peer has been asked; 0: it does
// not say, or the connection is over.
func (p *Peer) Release() int {
	select {
	case <-p.told:
		return p.release
	case <-p.done:
		return 0
	}
}

// claim is who a node that connects says it is.
type claim struct {
	name    wire.Atom
	from    netip.Prefix
	number  uint64    // in order of arrival: a peer that comes again knows that what it has made before is dead
	against dist.Link // that there was when it came; nil: none
	named   assigned

	// Once it is proved.
	place *limits.Place
}

// assigned is a name that a node which connects has got from this one. Its zero value is none.
type assigned struct {
	id    wire.NodeID
	again bool // another node has had it before
}

var errReplaced = errors.New("replaced by a new connection from the peer")

// check looks for signs of life, and gives one. It is for the goroutine of ticks.
func (p *Peer) check() {
	link := p.Conn()
	if link == nil {
		return
	}
	if err := p.Visitor.MayConnect(); err != nil { // any more
		p.End(err)
		return
	}
	in, out := link.Traffic()
	if in != p.seenIn {
		p.silent = 0
		p.Flow.life.Store(p.c.cfg.Env.Now().UnixNano())
	} else if p.silent++; p.silent >= TicksPerTime {
		p.End(fmt.Errorf("nothing received from the peer for %v: net_tick_timeout", p.c.cfg.TickTime))
		return
	}
	if out == p.seenOut || p.silent > 0 {
		p.Box.RequestTick()
	}
	p.seenIn, p.seenOut = in, out
}

// Tables calls look with the tables, whose lock is held.
func (p *Peer) Tables(look func(*Tables)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	look(&p.tables)
}
