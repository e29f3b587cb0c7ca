package peers

import (
	"context"
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
	System *process.System // apart from what the reader writes, because senders read it
	Name   wire.Atom       // immutable
	Box    flow.Box        // outgoing frames
	Flow   Flow
	c      *Cluster
	mark   uint32 // in the references of calls, see refs.go; immutable

	Visitor limits.Visitor // set before the peer is connected

	ended atomic.Bool // the connection has ended, for readers that do not hold mu

	mu      sync.Mutex
	tables  Tables
	unacked bool      // too many unlinks are unacknowledged
	why     error     // why the connection has ended, or nil
	link    dist.Link // nil while connecting
	arrival uint64    // number of the claim that made the link, or 0 if this node dialled

	ctx    context.Context // ends with the connection
	cancel context.CancelFunc
	ready  chan struct{} // closed when connected, or ended
	gone   chan struct{} // closed when all consequences of the end are carried out
	told   chan struct{} // closed when release is set, or will not be

	release int // the peer's OTP release

	refused [limits.HeldKinds]atomic.Uint32 // see Refuse

	requests atomic.Bool // the link takes a request with its monitor: see TakesRequests

	checks atomic.Pointer[links.Checker] // of link; nil while connecting

	// Guarded by Cluster.mu.
	named chan struct{} // closed at the end of an attempt in which this node has sent its name, or nil if there is none
	dial  limits.Dial[Peer]
	place *limits.Place // of link
	// Number of reasons to keep it in Cluster.peers: its connection has not ended, an attempt to connect it is running or
	// queued.
	holds int

	// Used by the reader only.
	reading process.Acting // the reader with the frame at hand
	reader  *Reader
	sender  *Sender         // of what comes
	granted *rights.Granted // to the connection, as of the last frame

	// Used by the goroutine of ticks only.
	seenIn, seenOut uint64
	silent          int
	backlog         limits.Backlog
	ending          bool // endTelling is running
}

// Flow holds counters of a peer. Its zero value is ready.
type Flow struct {
	in    uint64       // signals read; written by the reader only
	since atomic.Int64 // Unix time of the connection, ns; 0 if never connected
	life  atomic.Int64 // when the ticker last saw that something had been received, Unix time, ns
}

// Read counts n signals. The reader calls it.
func (f *Flow) Read(n int) { atomic.StoreUint64(&f.in, f.in+uint64(n)) }

// begin notes that the connection was established.
func (f *Flow) begin(at time.Time) {
	now := at.UnixNano()
	f.since.Store(now)
	f.life.Store(now)
}

// newPeer returns a peer of c that is not connected.
func newPeer(c *Cluster, name wire.Atom) *Peer {
	p := &Peer{System: c.cfg.System, Name: name, c: c, holds: 1}
	p.tables = NewTables(c.cfg.Quota.Links, c.cfg.Quota.Monitors, c.cfg.Quota.NewHolder())
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.ready, p.gone, p.told = make(chan struct{}), make(chan struct{}), make(chan struct{})
	p.dial.Of = p
	p.Box.Init(c.limits.Load().Queue, c.cfg.Quota, check{p})
	return p
}

// Context ends when the connection has ended.
func (p *Peer) Context() context.Context { return p.ctx }

// Done is closed when the connection has ended.
func (p *Peer) Done() <-chan struct{} { return p.ctx.Done() }

// IsOver reports whether the connection has ended.
func (p *Peer) IsOver() bool { return p.ended.Load() }

// Why returns why the connection has ended, or nil if it has not.
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

// Conn returns the link that p has, or had, or nil if it has had none yet.
func (p *Peer) Conn() dist.Link {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.link
}

// The states of refusals of one kind, for the log.
const (
	noneRefused uint32 = iota
	toBeLogged
	logged
)

// Refuse requests a log line, one per connection and kind, that p has exceeded a limit, which has counted the refusal. The
// caller may hold any lock.
func (p *Peer) Refuse(k limits.HeldKind) {
	if p.refused[k].CompareAndSwap(noneRefused, toBeLogged) {
		p.c.cfg.Quota.Ask()
	}
}

// refuseIf counts a refusal if r is TooMany.
func (p *Peer) refuseIf(r Result, k limits.HeldKind) {
	if r == TooMany {
		p.c.cfg.Quota.Limit(k).Refuse()
		p.Refuse(k)
	}
}

// hasRoom reports whether p may have one more link, if link is set, and one more monitor, if monitor is set.
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

// logRefusals logs what has been refused for the first time. It is for the goroutine of ticks.
func (p *Peer) logRefusals() {
	for k := range p.refused {
		if p.refused[k].CompareAndSwap(toBeLogged, logged) {
			p.c.cfg.Log.Warn("a request of a peer was refused: the peer has reached its limit on this node", "peer", string(p.Name),
				"what", limits.HeldKind(k).String(),
				"limit", p.c.cfg.Quota.Limit(limits.HeldKind(k)).Max())
		}
	}
}

// write is the writer's goroutine: started when the peer is connected, ended with the connection, waited for by Stop.
func (p *Peer) write() {
	defer p.c.wg.Done()
	w := flow.Writer{Box: &p.Box, Link: p.link, Done: p.Done(), Owner: p, Env: p.c.cfg.Env}
	if err := w.Run(); err != nil {
		p.End(err)
	}
	w.LoseHeld()
}

// End ends the connection: every link breaks with noconnection, every monitor fires, every request fails.
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
	p.cancel()
	p.mu.Unlock()
	left := p.Box.Close() // first: frames that the writer wrote to a closed link would be lost unnoticed
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

// settle carries out the consequences of the connection's end for everything in the tables except monitors of the node.
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
			q.Ticket.Settle(&p.System.Plain, nil, lost)
		}
	}
	p.c.cfg.Node.Down(p)
}

// standing returns the state of p, which may be nil, for a claim that arrived when the link was against. greater reports
// whether this node's name is the greater one. The caller holds Cluster.mu.
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

// join sets the link of p. It returns false if p has had one, or has ended.
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

// learnRelease is the goroutine that asks the peer for its release: started when the peer is connected, waited for by Stop.
func (p *Peer) learnRelease() {
	defer p.c.wg.Done()
	defer close(p.told)
	if !p.isClient() {
		p.release = p.askRelease()
	}
}

// releaseTimeout bounds the query for a peer's release.
const releaseTimeout = 5 * time.Second

// askRelease asks the peer for its release, because some system messages differ between releases. It returns 0 if the peer
// does not answer before the connection ends or the timeout expires.
func (p *Peer) askRelease() (number int) {
	ctx, cancel := p.System.Env.WithTimeout(p.c.ctx, releaseTimeout)
	defer cancel()
	a := &p.System.Plain
	t := a.Promise().NewTicket()
	p.Apply(a, t, erpc.NewFunction(p.Name, "erlang", "system_info", []any{wire.Atom("otp_release")}), p.System.Leader(), nil)
	if v, err := a.Await(ctx, t, calls.WaitReply, wire.At{Node: p.Name}); err == nil {
		text, _ := wire.AsText(v)
		number, _ = strconv.Atoi(text)
	}
	return number
}

// IsReleaseKnown reports whether Release returns without waiting.
func (p *Peer) IsReleaseKnown() bool {
	select {
	case <-p.told:
		return true
	default:
		return false
	}
}

// Release returns the OTP release of the peer. It waits until the peer has been asked. It returns 0 if the peer does not
// answer, or the connection has ended.
func (p *Peer) Release() int {
	select {
	case <-p.told:
		return p.release
	case <-p.Done():
		return 0
	}
}

// claim is the claimed identity of a connecting node.
type claim struct {
	name    wire.Atom
	from    netip.Prefix
	number  uint64    // in order of arrival: a peer that connects again knows that its earlier connections are dead
	against dist.Link // the link at its arrival, or nil
	named   assigned

	// Set once the identity is proved.
	place *limits.Place
}

// assigned is a name that this node has assigned to a connecting node. The zero value means no name.
type assigned struct {
	id    wire.NodeID
	again bool // another node has had it before
}

var errReplaced = errors.New("replaced by a new connection from the peer")

// check checks that the peer is alive, and requests a keepalive. It is for the goroutine of ticks.
func (p *Peer) check() {
	link := p.Conn()
	if link == nil {
		return
	}
	if err := p.Visitor.MayConnect(); err != nil { // it may have lost the right
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

// Tables calls look with the tables while holding their lock.
func (p *Peer) Tables(look func(*Tables)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	look(&p.tables)
}
