package peers

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/actornode/actornode/internal/kernel/limits"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Link is a link between a process here, by its number, and one on another node.
type Link struct {
	Near uint64
	Far  wire.PID
}

// unlinkID is the state of a link of one of its ends: active, or the ID of an
// unlink of this end that has not been acknowledged. "Link Protocol" in the
// document of the distribution protocol says what signals make of it.
type unlinkID uint64

const active unlinkID = 0

// Monitor is a monitor one of whose ends is on another node. Values are compared.
type Monitor interface {
	// Ref is its reference.
	Ref() wire.Ref
	// Fire is for one by a process here: the process there has exited, or the connection is lost.
	Fire(reason any)
	// Forget is for one of a process here: it is taken off that.
	Forget()
}

// Ends are the two processes of a monitor over one there.
type Ends struct {
	By   wire.PID  // the process here
	To   wire.PID  // the process there
	Name wire.Atom // instead of To
}

// Answered is what answers a request.
type Answered uint8

const (
	ByStart  Answered = iota // the answer to a spawn, or a receipt
	ByReply                  // a message, or the Down of the process that is called
	ByResult                 // the Down of a process that was started for the request
)

// Request is a call, or a spawn, that waits for an answer from another node.
type Request struct {
	Ref    wire.Ref
	Ends   Ends     // the process that is asked; neither To nor Name: none that is known here, and no monitor
	Kind   Answered // what answers it
	Caller Caller   // gets the answer

	step atomic.Uint32 // how far it is: see below
}

// The steps of a request. Its frame is written without the lock of the tables, so it may be taken
// out, for a caller that waits no more, before the peer knows of it: then whoever writes the frame
// takes the monitor away behind it.
const (
	unwritten uint32 = iota
	written
	takenEarly // out of the tables before it was written
	taken      // out of the tables
)

// takeOut notes that r is out of the tables. down: its monitor is over. There is a frame, which
// takes the monitor away, if ok.
func (r *Request) takeOut(down bool) (f dist.Frame, ok bool) {
	if !down && r.step.CompareAndSwap(unwritten, takenEarly) {
		return f, false
	}
	if r.step.Store(taken); down {
		return f, false
	}
	return r.demonitor()
}

// isOut reports whether r has been taken out of the tables.
func (r *Request) isOut() bool { return r.step.Load() >= takenEarly }

// setWritten notes that the frame of r has been written. It reports whether the frame that takes
// the monitor away is due behind it.
func (r *Request) setWritten() (early bool) {
	return !r.step.CompareAndSwap(unwritten, written) && r.step.Load() == takenEarly
}

// Caller waits for the answer to a Request.
type Caller interface {
	// Settle is the answer. It reports whether the caller still waited.
	Settle(v any, err error) bool
}

// Tables are the links, monitors and requests that hang on one connection. They have no lock
// and send nothing: methods return the frame that tells the other node of the change, which
// the caller puts into the outbox before it makes another. Each method does nothing, and says
// so, when the tables have ended.
type Tables struct {
	mostLinks    *limits.Limit // that the peer may have here
	mostMonitors *limits.Limit
	holder       *limits.Holder // counts links and in

	ended    bool
	unacked  int // of links: those that are not active
	links    map[Link]unlinkID
	out      map[uint64]Monitor   // over processes there, by the number of the reference
	in       map[wire.Ref]Monitor // by processes there, over processes here
	nodes    map[Monitor]struct{} // by processes here, over the node itself
	requests map[uint64]*Request  // by the number of the reference
}

// NewTables returns empty tables. A peer may have so many links to processes here, and monitors
// over them. holder counts both; nil: nothing does.
func NewTables(links, monitors *limits.Limit, holder *limits.Holder) Tables {
	return Tables{
		mostLinks: links, mostMonitors: monitors, holder: holder,
		links: make(map[Link]unlinkID), out: make(map[uint64]Monitor), in: make(map[wire.Ref]Monitor),
		nodes: make(map[Monitor]struct{}), requests: make(map[uint64]*Request),
	}
}

// Result says what has become of a wish of the other node.
type Result uint8

const (
	Made    Result = iota // it is in the tables now
	Nothing               // it was there, or an unlink of this side is under way, or all is over
	TooMany               // the peer has as many as it may
)

// Link makes a link. from is the PID of near. ok false: the connection is over.
func (t *Tables) Link(near uint64, from, far wire.PID) (f dist.Frame, ok bool) {
	if t.ended {
		return f, false
	}
	t.cut(Link{near, far}) // the end of an earlier unlink means nothing any more
	t.links[Link{near, far}] = active
	t.holder.Add(limits.HeldLinks, 1)
	return dist.Frame{Op: dist.OpLink, From: from, To: far}, true
}

// Unlink takes a link away, for a process here. id numbers the frame; there is one if ok.
func (t *Tables) Unlink(near uint64, from, far wire.PID, id func() uint64) (f dist.Frame, ok bool) {
	key := Link{near, far}
	if unlinking, ok := t.links[key]; !ok || unlinking != active {
		return f, false
	}
	n := id()
	t.links[key] = unlinkID(n)
	t.unacked++
	return dist.Frame{Op: dist.OpUnlink, ID: n, From: from, To: far}, true
}

// Unacked reports whether too many links are gone without the peer's acknowledgement.
func (t *Tables) Unacked() bool { return int64(t.unacked) > 2*t.mostLinks.Max() }

// cut takes a link out, whatever its state.
func (t *Tables) cut(key Link) {
	unlinking, ok := t.links[key]
	if !ok {
		return
	}
	if unlinking != active {
		t.unacked--
	}
	delete(t.links, key)
	t.holder.Add(limits.HeldLinks, -1)
}

// Exit takes a link away because near has exited. There is a frame if ok.
func (t *Tables) Exit(near uint64, from, far wire.PID, reason any) (f dist.Frame, ok bool) {
	key := Link{near, far}
	unlinking, ok := t.links[key]
	t.cut(key)
	return dist.Frame{Op: dist.OpExit, From: from, To: far, Payload: reason}, ok && unlinking == active
}

// HandleLink notes that far has linked itself to near.
func (t *Tables) HandleLink(near uint64, far wire.PID) Result {
	key := Link{near, far}
	// If there is an entry they are linked, or an unlink of this side is under way:
	// it will come after the link.
	if _, ok := t.links[key]; ok || t.ended {
		return Nothing
	}
	if t.linksFull() {
		return TooMany
	}
	t.links[key] = active
	t.holder.Add(limits.HeldLinks, 1)
	return Made
}

// HandleUnlink notes that far has taken its link to near away. It reports whether they were linked.
func (t *Tables) HandleUnlink(near uint64, far wire.PID) bool {
	key := Link{near, far}
	if unlinking, ok := t.links[key]; !ok || unlinking != active {
		return false
	}
	delete(t.links, key)
	t.holder.Add(limits.HeldLinks, -1)
	return true
}

// HandleUnlinkAck notes that far has seen the Unlink with that ID from near.
func (t *Tables) HandleUnlinkAck(near uint64, far wire.PID, id uint64) {
	key := Link{near, far}
	if unlinking := t.links[key]; unlinking != active && uint64(unlinking) == id {
		t.cut(key)
	}
}

// AcknowledgeAll is HandleUnlinkAck for all unlinks, of a peer that acknowledges none.
func (t *Tables) AcknowledgeAll() {
	for key, unlinking := range t.links {
		if unlinking != active {
			t.cut(key)
		}
	}
}

// HandleExit notes that far has exited. It reports whether near may still be linked to it: if the
// connection is over its links are broken by that.
func (t *Tables) HandleExit(near uint64, far wire.PID) bool {
	t.cut(Link{near, far})
	return !t.ended
}

// linksFull and monitorsFull report whether the peer has as many as it may.
func (t *Tables) linksFull() bool {
	return int64(len(t.links)) >= t.mostLinks.Max() || t.holder.Full(limits.HeldLinks)
}

func (t *Tables) monitorsFull() bool {
	return int64(len(t.in)) >= t.mostMonitors.Max() || t.holder.Full(limits.HeldMonitors)
}

// Monitor makes m, a monitor of a process there. ok false: the connection is over.
func (t *Tables) Monitor(m Monitor, w Ends) (f dist.Frame, ok bool) {
	if t.ended {
		return f, false
	}
	t.out[m.Ref().Number()] = m
	return dist.Frame{Op: dist.OpMonitor, From: w.By, To: w.To, Name: w.Name, Ref: m.Ref()}, true
}

// MonitorNode makes m, a monitor of the node. False: the connection is over.
func (t *Tables) MonitorNode(m Monitor) bool {
	if !t.ended {
		t.nodes[m] = struct{}{}
	}
	return !t.ended
}

// Demonitor takes a monitor by a process here away. There is a frame if ok.
func (t *Tables) Demonitor(m Monitor, w Ends) (f dist.Frame, ok bool) {
	delete(t.nodes, m)
	if t.out[m.Ref().Number()] != m {
		return f, false
	}
	delete(t.out, m.Ref().Number())
	return w.demonitor(m.Ref()), true
}

func (w Ends) demonitor(ref wire.Ref) dist.Frame {
	return dist.Frame{Op: dist.OpDemonitor, From: w.By, To: w.To, Name: w.Name, Ref: ref}
}

// HandleDown takes the monitor out whose Down has come, nil: there is none.
func (t *Tables) HandleDown(ref wire.Ref) Monitor {
	m := t.out[ref.Number()]
	if m == nil || m.Ref() != ref {
		return nil
	}
	delete(t.out, ref.Number())
	return m
}

// HandleMonitor notes m, a monitor by a process there; it takes the place of one with the same
// reference.
func (t *Tables) HandleMonitor(m Monitor) Result {
	switch ref := m.Ref(); {
	case t.ended:
		return Nothing
	case t.in[ref] != nil:
		t.in[ref] = m
		return Made
	case t.monitorsFull():
		return TooMany
	default:
		t.in[ref] = m
		t.holder.Add(limits.HeldMonitors, 1)
		return Made
	}
}

// HasMonitorBy reports whether m is there.
func (t *Tables) HasMonitorBy(m Monitor) bool { return t.in[m.Ref()] == m }

// MonitorBy returns the monitor by a process there that has the reference, nil: there is none.
func (t *Tables) MonitorBy(ref wire.Ref) Monitor { return t.in[ref] }

// Down takes m out, a monitor by a process there, whose Down is to be sent. False: it has been
// taken away.
func (t *Tables) Down(m Monitor) bool {
	if !t.HasMonitorBy(m) {
		return false
	}
	delete(t.in, m.Ref())
	t.holder.Add(limits.HeldMonitors, -1)
	return true
}

// HandleDemonitor takes the monitor out that the other node has taken away, nil: there is none.
func (t *Tables) HandleDemonitor(ref wire.Ref) Monitor {
	m := t.in[ref]
	if m != nil {
		delete(t.in, ref)
		t.holder.Add(limits.HeldMonitors, -1)
	}
	return m
}

// Ask notes a request. False: the connection is over.
func (t *Tables) Ask(r *Request) bool {
	if !t.ended {
		t.requests[r.Ref.Number()] = r
	}
	return !t.ended
}

// Requests returns how many wait.
func (t *Tables) Requests() int { return len(t.requests) }

// IsAsked reports whether a request with that reference waits.
func (t *Tables) IsAsked(ref wire.Ref) bool {
	r := t.requests[ref.Number()]
	return r != nil && r.Ref == ref
}

// Forget takes out a request whose caller waits no more. There is a frame if ok.
func (t *Tables) Forget(r *Request) (f dist.Frame, ok bool) {
	if t.requests[r.Ref.Number()] != r {
		return f, false
	}
	delete(t.requests, r.Ref.Number())
	return r.takeOut(false)
}

func (r *Request) demonitor() (f dist.Frame, ok bool) {
	return r.Ends.demonitor(r.Ref), r.Ends.Name != "" || !r.Ends.To.IsZero()
}

// Answered takes the request out that is answered, nil: there is none. down: by a Down, or
// another frame that is the end of its monitor; otherwise there is a frame if ok.
func (t *Tables) Answered(ref wire.Ref, down bool) (r *Request, f dist.Frame, ok bool) {
	if r = t.requests[ref.Number()]; r == nil {
		return nil, f, false
	}
	delete(t.requests, ref.Number())
	f, ok = r.takeOut(down)
	return r, f, ok
}

// AnsweredElsewhere is Answered for an answer to a call that has not come over the connection. It
// must know the whole reference.
func (t *Tables) AnsweredElsewhere(ref wire.Ref) (r *Request, f dist.Frame, ok bool) {
	if r := t.requests[ref.Number()]; r == nil || r.Ref != ref || r.Kind != ByReply {
		return nil, f, false
	}
	return t.Answered(ref, false)
}

// Started notes the answer to a spawn: the request that waited for it, if the process started is
// its answer. If nobody waits, watched says that there is a monitor, which the frame takes away;
// there is one if ok.
func (t *Tables) Started(ref wire.Ref, pid, caller wire.PID, watched bool) (answers bool, f dist.Frame, ok bool) {
	switch r := t.requests[ref.Number()]; {
	case r == nil:
		return false, Ends{By: caller, To: pid}.demonitor(ref), watched // the caller has given up
	case r.Kind == ByStart:
		return true, f, false
	default:
		r.Ends.To = pid
		return false, f, false
	}
}

// Counts says how much there is of what.
type Counts struct {
	Links    int
	Monitors int // by processes here
	Watchers int // monitors by processes there
	Requests int
}

// Counts returns how much there is of what.
func (t *Tables) Counts() Counts {
	return Counts{len(t.links), len(t.out) + len(t.nodes), len(t.in), len(t.requests)}
}

// Active returns the links that are active, in an order that does not depend on chance.
func (t *Tables) Active() (all []Link) {
	for key, unlinking := range t.links {
		if unlinking == active {
			all = append(all, key)
		}
	}
	slices.SortFunc(all, func(a, b Link) int { return cmp.Or(cmp.Compare(a.Near, b.Near), comparePIDs(a.Far, b.Far)) })
	return all
}

// Remains is what hung on a connection that is over, each in an order that does not depend on
// chance.
type Remains struct {
	Links    []Link    // that were active
	Monitors []Monitor // by processes here, over processes there
	Watchers []Monitor // by processes there
	Requests []*Request
	Nodes    []Monitor // by processes here, over the node
}

// End empties the tables.
func (t *Tables) End() Remains {
	var r Remains
	r.Links = t.Active()
	for _, m := range t.out {
		r.Monitors = append(r.Monitors, m)
	}
	for _, m := range t.in {
		r.Watchers = append(r.Watchers, m)
	}
	for m := range t.nodes {
		r.Nodes = append(r.Nodes, m)
	}
	for _, q := range t.requests {
		r.Requests = append(r.Requests, q)
	}
	byRef := func(a, b Monitor) int { return compareRefs(a.Ref(), b.Ref()) }
	slices.SortFunc(r.Monitors, byRef)
	slices.SortFunc(r.Watchers, byRef)
	slices.SortFunc(r.Nodes, byRef)
	slices.SortFunc(r.Requests, func(a, b *Request) int { return compareRefs(a.Ref, b.Ref) })
	t.holder.Add(limits.HeldLinks, -len(t.links))
	t.holder.Add(limits.HeldMonitors, -len(t.in))
	*t = Tables{mostLinks: t.mostLinks, mostMonitors: t.mostMonitors, ended: true}
	return r
}

// Ended reports whether End has been called.
func (t *Tables) Ended() bool { return t.ended }

func comparePIDs(a, b wire.PID) int {
	return cmp.Or(cmp.Compare(a.Number(), b.Number()), cmp.Compare(a.Node(), b.Node()), cmp.Compare(a.Creation(), b.Creation()))
}

func compareRefs(a, b wire.Ref) int {
	return cmp.Or(cmp.Compare(a.Number(), b.Number()), wire.Compare(a, b))
}
