package peers

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/wire/links"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Link is a link between a local process, near, by its number, and a remote one, far.
type Link struct {
	Near uint64
	Far  wire.PID
}

// unlinkID is the state of a link at the local end: active, or the ID of an unlink by this end that has not been
// acknowledged. "Link Protocol" in the document of the distribution protocol defines the transitions.
type unlinkID uint64

const active unlinkID = 0

// Monitor is a monitor one of whose ends is on another node. Values are compared.
type Monitor interface {
	// Ref returns its reference.
	Ref() wire.Ref
	// Fire is for a monitor by a local process: the remote process has exited, or the connection is lost.
	Fire(reason any)
	// Forget is for a monitor of a local process: it is removed from that process.
	Forget()
}

// Ends are the two processes of a monitor of a remote process.
type Ends struct {
	By   wire.PID  // the local process
	To   wire.PID  // the remote process
	Name wire.Atom // its name, instead of To
}

// Answered is the kind of answer to a request.
type Answered uint8

const (
	ByStart  Answered = iota // the answer to a spawn, or a receipt
	ByReply                  // a message, or the Down of the called process
	ByResult                 // the Down of a process that was started for the request
)

// Request is a call, a spawn or a receipt that waits for an answer from another node.
type Request struct {
	Ref    wire.Ref
	Ends   Ends           // the called process; neither To nor Name if it is unknown here and there is no monitor
	Kind   Answered       // what answers it
	Ticket process.Ticket // the answer settles it

	sent links.Request // what is sent, if the link sends a request in one frame
	peer *Peer         // to which it has been sent
	step atomic.Uint32 // its progress: see below
}

// The steps of a request. Its frame is written without the lock of the tables, so the request may be removed, for a caller
// that no longer waits, before the frame is written: then the goroutine that writes the frame sends the Demonitor after it.
const (
	unwritten uint32 = iota
	written
	takenEarly // removed from the tables before it was written
	taken      // removed from the tables
)

// takeOut notes that r was removed from the tables. down reports that its monitor has ended. If ok is true, f, a Demonitor,
// must be sent.
func (r *Request) takeOut(down bool) (f dist.Frame, ok bool) {
	if !down && r.step.CompareAndSwap(unwritten, takenEarly) {
		return f, false
	}
	if r.step.Store(taken); down {
		return f, false
	}
	return r.demonitor()
}

// isOut reports whether r has been removed from the tables.
func (r *Request) isOut() bool { return r.step.Load() >= takenEarly }

// setWritten notes that the frame of r has been written. It reports whether a Demonitor must be sent after it.
func (r *Request) setWritten() (early bool) {
	return !r.step.CompareAndSwap(unwritten, written) && r.step.Load() == takenEarly
}

// Tables are the links, monitors and requests of one connection. They have no lock and send nothing: methods return the frame
// that tells the other node of the change, which the caller puts into the outbox before the next change. After the tables
// have ended, every method does nothing, and reports that.
type Tables struct {
	mostLinks    *limits.Limit // limits for the peer on this node
	mostMonitors *limits.Limit
	holder       *limits.Holder // counts links and in

	ended    bool
	unacked  int // number of links that are not active
	links    map[Link]unlinkID
	out      map[uint64]Monitor   // of remote processes, by the number of the reference
	in       map[wire.Ref]Monitor // by remote processes, of local ones
	nodes    map[Monitor]struct{} // by local processes, of the node itself
	requests map[uint64]*Request  // by the number of the reference
}

// NewTables returns empty tables. links and monitors limit the peer's links to local processes, and its monitors of them.
// holder counts both, unless it is nil.
func NewTables(links, monitors *limits.Limit, holder *limits.Holder) Tables {
	return Tables{
		mostLinks: links, mostMonitors: monitors, holder: holder,
		links: make(map[Link]unlinkID), out: make(map[uint64]Monitor), in: make(map[wire.Ref]Monitor),
		nodes: make(map[Monitor]struct{}), requests: make(map[uint64]*Request),
	}
}

// Result is the outcome of a request of the other node.
type Result uint8

const (
	Made    Result = iota // added to the tables
	Nothing               // it exists, an unlink of this side is in progress, or the connection has ended
	TooMany               // the peer has reached its limit
)

// Link adds a link. from is the PID of near. ok is false if the connection has ended.
func (t *Tables) Link(near uint64, from, far wire.PID) (f dist.Frame, ok bool) {
	if t.ended {
		return f, false
	}
	t.cut(Link{near, far}) // the acknowledgement of an earlier unlink no longer matters
	t.links[Link{near, far}] = active
	t.holder.Add(limits.HeldLinks, 1)
	return dist.Frame{Op: dist.OpLink, From: from, To: far}, true
}

// Unlink removes a link for a local process. id numbers the frame. ok is false if there is no frame.
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

// Unacked reports whether too many unlinks are unacknowledged by the peer.
func (t *Tables) Unacked() bool { return int64(t.unacked) > 2*t.mostLinks.Max() }

// cut removes a link, whatever its state.
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

// Exit removes a link because near has exited. ok is false if there is no frame.
func (t *Tables) Exit(near uint64, from, far wire.PID, reason any) (f dist.Frame, ok bool) {
	key := Link{near, far}
	unlinking, ok := t.links[key]
	t.cut(key)
	return dist.Frame{Op: dist.OpExit, From: from, To: far, Payload: reason}, ok && unlinking == active
}

// HandleLink adds a link that far has requested to near.
func (t *Tables) HandleLink(near uint64, far wire.PID) Result {
	key := Link{near, far}
	// If there is an entry they are linked, or an unlink of this side is in progress: the peer will receive it after it sent the
	// link.
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

// HandleUnlink removes the link that far has removed. It reports whether they were linked.
func (t *Tables) HandleUnlink(near uint64, far wire.PID) bool {
	key := Link{near, far}
	if unlinking, ok := t.links[key]; !ok || unlinking != active {
		return false
	}
	delete(t.links, key)
	t.holder.Add(limits.HeldLinks, -1)
	return true
}

// HandleUnlinkAck notes that far has acknowledged the Unlink with that id from near.
func (t *Tables) HandleUnlinkAck(near uint64, far wire.PID, id uint64) {
	key := Link{near, far}
	if unlinking := t.links[key]; unlinking != active && uint64(unlinking) == id {
		t.cut(key)
	}
}

// AcknowledgeAll is HandleUnlinkAck for all unlinks, for a peer that acknowledges none.
func (t *Tables) AcknowledgeAll() {
	for key, unlinking := range t.links {
		if unlinking != active {
			t.cut(key)
		}
	}
}

// HandleExit removes the link to far, which has exited. It reports whether near may still be linked to it: the end of the
// connection has broken all links.
func (t *Tables) HandleExit(near uint64, far wire.PID) bool {
	t.cut(Link{near, far})
	return !t.ended
}

// linksFull and monitorsFull report whether the peer has reached its limit.
func (t *Tables) linksFull() bool {
	return int64(len(t.links)) >= t.mostLinks.Max() || t.holder.Full(limits.HeldLinks)
}

func (t *Tables) monitorsFull() bool {
	return int64(len(t.in)) >= t.mostMonitors.Max() || t.holder.Full(limits.HeldMonitors)
}

// Monitor adds m, a monitor of a remote process. ok is false if the connection has ended.
func (t *Tables) Monitor(m Monitor, w Ends) (f dist.Frame, ok bool) {
	if t.ended {
		return f, false
	}
	t.out[m.Ref().Number()] = m
	return dist.Frame{Op: dist.OpMonitor, From: w.By, To: w.To, Name: w.Name, Ref: m.Ref()}, true
}

// MonitorNode adds m, a monitor of the node. It returns false if the connection has ended.
func (t *Tables) MonitorNode(m Monitor) bool {
	if !t.ended {
		t.nodes[m] = struct{}{}
	}
	return !t.ended
}

// Demonitor removes a monitor by a local process. ok is false if there is no frame.
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

// HandleDown removes and returns the monitor whose Down was received, or nil if there is none.
func (t *Tables) HandleDown(ref wire.Ref) Monitor {
	m := t.out[ref.Number()]
	if m == nil || m.Ref() != ref {
		return nil
	}
	delete(t.out, ref.Number())
	return m
}

// HandleMonitor adds m, a monitor by a remote process; it replaces one with the same reference.
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

// HasMonitorBy reports whether m, a monitor by a remote process, is in the tables.
func (t *Tables) HasMonitorBy(m Monitor) bool { return t.in[m.Ref()] == m }

// MonitorBy returns the monitor by a remote process with the reference ref, or nil if there is none.
func (t *Tables) MonitorBy(ref wire.Ref) Monitor { return t.in[ref] }

// Down removes m, a monitor by a remote process, whose Down is to be sent. It returns false if m has been removed before.
func (t *Tables) Down(m Monitor) bool {
	if !t.HasMonitorBy(m) {
		return false
	}
	delete(t.in, m.Ref())
	t.holder.Add(limits.HeldMonitors, -1)
	return true
}

// HandleDemonitor removes and returns the monitor that the other node has removed, or nil if there is none.
func (t *Tables) HandleDemonitor(ref wire.Ref) Monitor {
	m := t.in[ref]
	if m != nil {
		delete(t.in, ref)
		t.holder.Add(limits.HeldMonitors, -1)
	}
	return m
}

// Ask adds a request. It returns false if the connection has ended.
func (t *Tables) Ask(r *Request) bool {
	if !t.ended {
		t.requests[r.Ref.Number()] = r
	}
	return !t.ended
}

// Requests returns the number of waiting requests.
func (t *Tables) Requests() int { return len(t.requests) }

// IsAsked reports whether a request with that reference waits.
func (t *Tables) IsAsked(ref wire.Ref) bool {
	r := t.requests[ref.Number()]
	return r != nil && r.Ref == ref
}

// Forget removes a request whose caller no longer waits. ok is false if there is no frame.
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

// Answered removes and returns the request that is answered, or nil if there is none. down reports that its monitor has
// ended, by a Down or another frame. ok is false if there is no frame.
func (t *Tables) Answered(ref wire.Ref, down bool) (r *Request, f dist.Frame, ok bool) {
	if r = t.requests[ref.Number()]; r == nil {
		return nil, f, false
	}
	delete(t.requests, ref.Number())
	f, ok = r.takeOut(down)
	return r, f, ok
}

// AnsweredElsewhere is Answered for an answer to a call that has not come over this connection. It must have the complete
// reference.
func (t *Tables) AnsweredElsewhere(ref wire.Ref) (r *Request, f dist.Frame, ok bool) {
	if r := t.requests[ref.Number()]; r == nil || r.Ref != ref || r.Kind != ByReply {
		return nil, f, false
	}
	return t.Answered(ref, false)
}

// Started handles the answer to a spawn: pid was started. answers reports whether pid is what the request waits for. If no
// request waits, f removes the monitor; ok is watched then, which reports whether there is one.
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

// Counts is the size of the tables.
type Counts struct {
	Links    int
	Monitors int // by local processes
	Watchers int // monitors by remote processes
	Requests int
}

// Counts returns the size of the tables.
func (t *Tables) Counts() Counts {
	return Counts{len(t.links), len(t.out) + len(t.nodes), len(t.in), len(t.requests)}
}

// Active returns the active links, in a deterministic order.
func (t *Tables) Active() (all []Link) {
	for key, unlinking := range t.links {
		if unlinking == active {
			all = append(all, key)
		}
	}
	slices.SortFunc(all, func(a, b Link) int { return cmp.Or(cmp.Compare(a.Near, b.Near), comparePIDs(a.Far, b.Far)) })
	return all
}

// Remains is what was in the tables when the connection ended, each part in a deterministic order.
type Remains struct {
	Links    []Link    // active ones
	Monitors []Monitor // by local processes, of remote ones
	Watchers []Monitor // by remote processes
	Requests []*Request
	Nodes    []Monitor // by local processes, of the node
}

// End empties the tables and returns what was in them.
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
