package watch

import (
	"cmp"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"github.com/actornode/actornode/internal/kernel/deepcopy"

	"github.com/actornode/actornode/node/isolation"
	"github.com/actornode/actornode/wire"
)

// mostRecords is the maximum number of queued messages that are compared.
const mostRecords = 10_000

// Isolation isolates the messages of a node.
type Isolation struct {
	cfg isolation.Config // set once, like log
	log *slog.Logger

	mu      sync.Mutex
	records []*record // all, in no particular order
	next    int       // the one that is compared at the next message
	full    bool      // the limit was logged
}

// defaultBytes is the default of Config.MaxBytes.
const defaultBytes = 65_536

// NewIsolation returns the guard of a node.
func NewIsolation(cfg isolation.Config, log *slog.Logger) *Isolation {
	cfg.MaxBytes = cmp.Or(cfg.MaxBytes, defaultBytes)
	return &Isolation{cfg: cfg, log: log}
}

// Wanted reports whether the guard has anything to do with all messages.
func (g *Isolation) Wanted() bool { return g.cfg.Copy || g.cfg.Check }

// Checks implements Guard, like the other methods.
func (g *Isolation) Checks() bool { return g.cfg.Check }

// Copy returns what is sent instead of a message. must reports that it is copied whatever the Config.
func (g *Isolation) Copy(must bool, msg any) (any, error) {
	if !must && !g.cfg.Copy {
		return msg, nil
	}
	now, err := deepcopy.Copy(msg)
	var e *deepcopy.Error
	if errors.As(err, &e) {
		return nil, &isolation.Error{Type: e.Type.String(), Path: e.Path, Why: e.Why}
	}
	return now, err
}

// Watch returns what is notified when a message is received that has been sent, or nil if it is not compared.
func (g *Isolation) Watch(from, to wire.PID, msg any) Watch {
	if !g.cfg.Check || g.cfg.Copy || from == to { // to itself a process may send what it has
		return nil
	}
	g.compareNext()
	s := deepcopy.Take(msg, g.cfg.MaxBytes)
	if s == nil {
		return nil
	}
	r := &record{guard: g, from: from, to: to, snapshot: s}
	if !g.add(r) {
		return nil
	}
	return r
}

// Hold is Watch for a message of a timer, which only Received compares.
func (g *Isolation) Hold(from, to wire.PID, msg any) Watch {
	if !g.cfg.Check || g.cfg.Copy || from == to { // to itself a process may send what it has
		return nil
	}
	s := deepcopy.Take(msg, g.cfg.MaxBytes)
	if s == nil {
		return nil
	}
	return &record{guard: g, from: from, to: to, held: true, snapshot: s, slot: -1}
}

func (g *Isolation) add(r *record) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.records) >= mostRecords {
		if !g.full {
			g.full = true
			g.log.Warn("isolation: too many messages wait: further ones are not compared", "limit", mostRecords)
		}
		return false
	}
	r.slot = len(g.records)
	g.records = append(g.records, r)
	return true
}

// remove removes r; it returns the records of the same message that must learn that r is received.
func (g *Isolation) remove(r *record) (same []*record) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r.slot < 0 || r.slot >= len(g.records) || g.records[r.slot] != r {
		return nil
	}
	last := len(g.records) - 1
	g.records[r.slot] = g.records[last]
	g.records[r.slot].slot = r.slot
	g.records[last] = nil
	g.records = g.records[:last]
	for _, o := range g.records {
		if o.snapshot.SameValue(r.snapshot) {
			same = append(same, o)
		}
	}
	return same
}

// compareNext compares one of the queued messages.
func (g *Isolation) compareNext() {
	g.mu.Lock()
	var r *record
	if n := len(g.records); n > 0 {
		g.next = (g.next + 1) % n
		r = g.records[g.next]
	}
	g.mu.Unlock()
	if r != nil {
		r.compare("waiting", false)
	}
}

// Gone compares the messages that an exited process has not received.
func (g *Isolation) Gone(to wire.PID) {
	if g.cfg.Check {
		g.compareAll("exited", func(r *record) bool { return r.to == to })
	}
}

// Stop compares all queued messages when the node stops.
func (g *Isolation) Stop() { g.compareAll("stopped", func(*record) bool { return true }) }

func (g *Isolation) compareAll(when string, which func(*record) bool) {
	g.mu.Lock()
	var all []*record
	for _, r := range g.records {
		if which(r) {
			all = append(all, r)
		}
	}
	g.mu.Unlock()
	for _, r := range all {
		r.compare(when, true)
	}
}

// record is a message that has been sent and not been received.
type record struct {
	guard    *Isolation // set once, like from, to, held and snapshot
	from, to wire.PID
	held     bool // made by Hold
	snapshot *deepcopy.Snapshot
	slot     int // index in guard.records, or -1; guarded by guard.mu

	mu   sync.Mutex
	over bool
	also []wire.PID // receivers of the same message
}

// Received implements Watch: the message is about to be handed to its receiver.
func (r *record) Received() {
	when := "received"
	if r.held {
		when = "sent"
	}
	for _, o := range r.compare(when, true) {
		o.mu.Lock()
		if !slices.Contains(o.also, r.to) {
			o.also = append(o.also, r.to)
		}
		o.mu.Unlock()
	}
}

// compare compares the message with its snapshot, unless r is over. r is over then if last is set, or a change was found. It
// returns the records of the same message.
func (r *record) compare(when string, last bool) (same []*record) {
	r.mu.Lock()
	if r.over {
		r.mu.Unlock()
		return nil
	}
	d := r.snapshot.Compare()
	r.over = last || d != nil
	also, over := r.also, r.over
	r.mu.Unlock()
	if over {
		same = r.guard.remove(r)
	}
	if d != nil {
		r.guard.report(isolation.Change{From: r.from, To: r.to, Also: also, Type: r.snapshot.Type().String(),
			Path: d.Path, Was: d.Was, Now: d.Now, When: when})
	}
	return same
}

func (g *Isolation) report(c isolation.Change) {
	g.log.Error("isolation: a message was changed after it was sent", "from", c.From.String(), "to", c.To.String(), "also", c.Also,
		"type", c.Type, "path", c.Path, "was", c.Was, "now", c.Now, "found", c.When)
	if g.cfg.Report != nil {
		g.cfg.Report(c)
	}
}
