package peers

import (
	"errors"
	"fmt"
	"net/netip"
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
	Name  wire.Atom // never changed
	Box   flow.Box  // what goes there
	Flow  Flow
	c     *Cluster
	owner ClusterOwner
	mark  uint32 // in the references of calls, see refs.go; never changed

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

// init makes p a peer of c.
func (p *Peer) init(c *Cluster, name wire.Atom, owner ClusterOwner) {
	p.Name, p.c, p.owner, p.holds = name, c, owner, 1
	p.tables = NewTables(c.cfg.Quota.Links, c.cfg.Quota.Monitors, c.cfg.Quota.NewHolder())
	p.done, p.ready, p.gone, p.told = make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	p.dial.Of = p
	p.Box.Init(c.limits.Load().Queue, c.cfg.Quota, check{p})
}

// Owner returns what the ClusterHost has made for p.
func (p *Peer) Owner() ClusterOwner { return p.owner }

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

// Link returns the link that p has, or had; nil: it has had none yet.
func (p *Peer) Link() dist.Link {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.link
}

// Signal puts a control frame, whose order to what the tables say does not matter.
func (p *Peer) Signal(f dist.Frame) { p.Box.Put(nil, f) }

// signal is Signal of a change of the tables, if there is a frame for it. The caller holds mu.
func (p *Peer) signal(f dist.Frame, ok bool) {
	if ok {
		p.Box.Put(nil, f)
	}
}

// ConnectLink makes a link between near, whose PID is from, and far. False: the connection is over.
func (p *Peer) ConnectLink(near uint64, from, far wire.PID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, ok := p.tables.Link(near, from, far)
	p.signal(f, ok)
	return ok
}

// CutLink takes a link away on behalf of near.
func (p *Peer) CutLink(near uint64, from, far wire.PID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, ok := p.tables.Unlink(near, from, far, p.c.unlinkID)
	if ok && p.link != nil && !p.link.Peer().Acks {
		p.tables.Acknowledged(near, far, f.ID)
	}
	if ok && p.tables.Unacked() {
		p.unacked = true
		p.c.cfg.Quota.Ask()
	}
	p.signal(f, ok)
}

// ExitLink tells far, if near was linked to it, that near has exited.
func (p *Peer) ExitLink(near uint64, from, far wire.PID, reason any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signal(p.tables.ExitLink(near, from, far, reason))
}

// Linked notes that far has linked itself to near.
func (p *Peer) Linked(near uint64, far wire.PID) Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isShort(p.tables.Counts().Links) {
		return TooMany
	}
	r := p.tables.Linked(near, far)
	p.refuseIf(r, limits.HeldLinks)
	return r
}

// Unlinked notes that f takes a link to the process here away, and acknowledges it. It reports whether there was one.
func (p *Peer) Unlinked(f *dist.Frame) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	removed := p.c.cfg.Origin.Minted(f.To) && p.tables.Unlinked(f.To.Number(), f.From)
	p.Box.Put(nil, dist.Frame{Op: dist.OpUnlinkAck, ID: f.ID, From: f.To, To: f.From}) // before all else to f.From
	return removed
}

// Acknowledged notes that f acknowledges an unlink.
func (p *Peer) Acknowledged(f *dist.Frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.c.cfg.Origin.Minted(f.To) {
		p.tables.Acknowledged(f.To.Number(), f.From, f.ID)
	}
}

// Exited notes that far has exited. It reports whether near may still be linked to it.
func (p *Peer) Exited(near uint64, far wire.PID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tables.Exited(near, far)
}

// Watch makes m, a monitor of a process there. False: the connection is over.
func (p *Peer) Watch(m Monitor, w Watch) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, ok := p.tables.Watch(m, w)
	p.signal(f, ok)
	return ok
}

// WatchNode makes m, a monitor of the node. False: the connection is over.
func (p *Peer) WatchNode(m Monitor) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tables.WatchNode(m)
}

// Unwatch takes a monitor by a process here away.
func (p *Peer) Unwatch(m Monitor, w Watch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signal(p.tables.Unwatch(m, w))
}

// Down takes the monitor out whose Down has come, nil: there is none.
func (p *Peer) Down(ref wire.Ref) Monitor {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tables.Down(ref)
}

// Watched notes m, a monitor by a process there. If there are too many, down is sent.
func (p *Peer) Watched(m Monitor, down dist.Frame) Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := TooMany
	if !p.isShort(p.tables.Counts().Watchers) {
		r = p.tables.Watched(m)
		p.refuseIf(r, limits.HeldMonitors)
	}
	p.signal(down, r == TooMany)
	return r
}

// shortLinks is how many links, and monitors, a peer may have here however short memory is: a call has a monitor, and an operator
// must be able to look.
const shortLinks = 64

// isShort reports whether no more than has links or monitors are allowed, since memory is short.
func (p *Peer) isShort(has int) bool {
	return has >= shortLinks && p.c.cfg.Shed != nil && p.c.cfg.Shed.Refuses()
}

// IsWatched reports whether m is still there.
func (p *Peer) IsWatched(m Monitor) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tables.IsWatched(m)
}

// Watching returns the monitor by a process there that has the reference, nil: there is none.
func (p *Peer) Watching(ref wire.Ref) Monitor {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tables.Watching(ref)
}

// Exchange puts what with makes of the monitor by a process there that has the reference, if there is one, in its place.
func (p *Peer) Exchange(ref wire.Ref, with func(m Monitor) Monitor) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m := p.tables.in[ref]; m != nil {
		p.tables.in[ref] = with(m)
	}
}

// TellDown sends the Down of m, a monitor by a process there. False: it has been taken away, and nothing is sent.
func (p *Peer) TellDown(m Monitor, down dist.Frame) (told bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	told = p.tables.Told(m)
	p.signal(down, told)
	return told
}

// Demonitored takes the monitor out that the peer has taken away, nil: there is none.
func (p *Peer) Demonitored(ref wire.Ref) Monitor {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tables.Demonitored(ref)
}

// TakesRequests reports whether p is connected by a link that takes, and brings, requests and
// replies in a frame each: see [links.Requester].
func (p *Peer) TakesRequests() bool { return p.requests.Load() }

// Ask notes a request and sends f, in the turn t, nil: in none. sent is called before, with the
// lock of p held. ok false: the connection is over. The error is that of [flow.Box.Put].
func (p *Peer) Ask(t *flow.Turn, r *Request, f dist.Frame, sent func()) (ok bool, err error) {
	p.mu.Lock()
	if ok = p.tables.Ask(r); ok {
		sent()
	}
	p.mu.Unlock()
	if !ok {
		return false, nil
	}
	if _, err = p.Box.Put(t, f); err == nil && r.setWritten() {
		p.mu.Lock()
		p.signal(r.demonitor())
		p.mu.Unlock()
	}
	return true, err
}

// Reply sends f, the reply to a request that has come with m, a monitor by a process there, and
// takes m out. False: m has been taken out before, and nothing is sent.
func (p *Peer) Reply(t *flow.Turn, m Monitor, f dist.Frame) (ok bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.tables.IsWatched(m) {
		return false, nil
	}
	if _, err = p.Box.Put(t, f); err == nil {
		p.tables.Told(m)
	}
	return true, err
}

// Forget takes out a request whose caller waits no more; if its answer has not come, it will find nobody.
func (p *Peer) Forget(r *Request) {
	if r.isOut() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signal(p.tables.Forget(r))
}

// DeferForRequest reports whether few requests wait for p, and if so defers what is written:
// the caller calls Box.EndDefer before it waits.
func (p *Peer) DeferForRequest() bool {
	p.mu.Lock()
	few := p.tables.Requests() < fewRequests
	p.mu.Unlock()
	if few {
		p.Box.Defer()
	}
	return few
}

// Answered takes out the request with the reference ref, whose caller it returns; nil: there is
// none. down: its monitor is over, by the end of the process that is asked, or by [links.Reply].
func (p *Peer) Answered(ref wire.Ref, down bool) Caller {
	if !p.c.cfg.Origin.Equal(ref.Origin()) {
		return nil
	}
	p.mu.Lock()
	r, f, ok := p.tables.Answered(ref, down)
	p.signal(f, ok)
	p.mu.Unlock()
	if r == nil {
		return nil
	}
	return r.Caller
}

// Started is the answer to a spawn: the process that f says has been started. It reports
// whether that is what a request waits for.
func (p *Peer) Started(f *dist.Frame) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	answers, g, ok := p.tables.Started(f.Ref, f.From, f.To, f.Watched)
	p.signal(g, ok)
	return answers
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

// HasRoom reports whether p may have one more link, or monitor, if that is asked.
func (p *Peer) HasRoom(link, monitor bool) bool {
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
	w := flow.Writer{Box: &p.Box, Link: p.link, Done: p.done, Owner: p.owner, Env: p.c.cfg.Env}
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
	p.owner.Over()
	if up {
		p.link.Close()
	}
	p.owner.Remains(remains)
	p.owner.Lose(left)
	for _, m := range remains.Nodes {
		m.Fire(why.Error())
	}
	p.c.release(p) // only now it can be connected again
	p.c.lost.Set()
	switch about := []any{"peer", string(p.Name), "reason", why.Error(), "unsent_signals", len(left)}; {
	case !up || p.c.cfg.Host.Stopped():
	case p.isClient():
		p.c.cfg.Log.Debug("client disconnected", about...)
	case isOrderly(why):
		p.c.cfg.Log.Info("node down", about...)
	default:
		p.c.losses.add(p.Name, why, p.c.cfg.Env.Now())
		p.c.cfg.Log.Warn("node down", about...)
	}
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
		p.owner.Up(link.Peer()) // before anything comes from it
	}
	p.c.wg.Add(3)
	p.c.cfg.Env.Go(p.write)
	p.c.cfg.Env.Go(func() { p.owner.Read(link) })
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
		p.release = p.owner.AskRelease()
	}
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
	link := p.Link()
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
