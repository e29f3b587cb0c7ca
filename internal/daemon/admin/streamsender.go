package admin

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/trace"
	"github.com/actornode/actornode/wire"
)

// Bounds and defaults of a stream.
const (
	defaultEvents = 1000 // in flight, and waiting
	defaultSize   = 1024
	maxSize       = 64 << 10
	maxBuffer     = 100_000
	maxBatch      = 100 // maximum of events in a message
)

// streamOptions is StreamOptions as received: Window may be an atom.
type streamOptions struct {
	Window any `etf:",omitzero"`
	Buffer int `etf:",omitzero"`
	Max    int `etf:",omitzero"`
	Size   int `etf:",omitzero"`
	To     any `etf:",omitzero"`
}

// streamSender is the half of a stream on the node: a process, which communicates with the client, and a goroutine, the
// event pump, which waits for events.
//
// Invariants:
//
//  1. The event pump takes events from the source only when they may be sent (and one more, to notice its end): the others
//     wait in the source's buffer, which counts those that do not fit.
//  2. At most one batch is between the event pump and the process.
//  3. The source is closed when the process has ended, which ends the event pump.
type streamSender struct {
	s      *service
	to     node.PID
	ref    node.Ref
	window int64 // 0: endless
	max    int   // 0: endless
	size   int
	self   node.PID

	credit atomic.Int64  // events that may be sent in all; written by the process
	used   atomic.Int64  // events that have been sent; written by the event pump
	more   chan struct{} // capacity 1: credit has grown
	sent   chan struct{} // capacity 1: a batch has been sent
	done   chan struct{} // closed when the process has ended

	dropped func() uint64 // set before the pump starts

	ending sync.Mutex // held while a batch is put into the mailbox
	over   bool       // the process accepts no more: a batch would become a dead letter
}

// give puts a batch into the mailbox of the process, and returns false if the process accepts no more. The event pump calls
// it.
func (o *streamSender) give(n *node.Node, m eventBatch) bool {
	o.ending.Lock()
	defer o.ending.Unlock()
	if o.over {
		return false
	}
	n.Send(o.self, m)
	return true
}

// take runs at the end of the process: it receives what the event pump has given, so that it does not become a dead letter.
func (o *streamSender) take(p *node.Process) {
	o.ending.Lock()
	o.over = true
	o.ending.Unlock()
	for {
		if _, err := p.ReceiveWithin(0, func(m any) bool { _, ok := m.(eventBatch); return ok }); err != nil {
			return
		}
	}
}

// eventBatch is a message of the event pump to the process.
type eventBatch struct {
	events wire.List
	end    wire.Atom // or ""
}

// newStreamSender reads the options of a stream.
func (q *request) newStreamSender() (*streamSender, error) {
	var a streamOptions
	if err := q.options(&a); err != nil {
		return nil, err
	}
	o := &streamSender{s: q.s, to: q.from.Caller(), max: a.Max, size: a.Size, window: defaultEvents, ref: q.n.MakeRef(),
		more: make(chan struct{}, 1), sent: make(chan struct{}, 1), done: make(chan struct{})}
	if pid, ok := a.To.(wire.PID); ok && !q.n.Inside(process.Key{}).AskerOf(q.from).MayReach(pid) {
		return nil, fmt.Errorf("%w: %s: to is %v, which is no process of %s", ErrNotAllowed, q.command, pid,
			cmp.Or(q.peer, "an unknown node"))
	} else if ok {
		o.to = pid
	} else if a.To != nil {
		return nil, fmt.Errorf("%w: %s: to is %s: want a pid, the receiver of the events", ErrBadRequest, q.command, brief(a.To))
	}
	if o.to.IsZero() {
		return nil, fmt.Errorf("%w: %s: the receiver of the events is missing: want the option to, since the caller is not a process",
			ErrBadRequest, q.command)
	}
	if w, ok := wire.AsInt(a.Window); ok && w >= 0 && w <= maxBuffer {
		if w > 0 {
			o.window = w
		}
	} else if a.Window == wire.Atom("infinity") {
		o.window = 0
	} else if a.Window != nil {
		return nil, fmt.Errorf("%w: %s: window is %s: want 0 to %d, or infinity", ErrBadRequest, q.command, brief(a.Window), maxBuffer)
	}
	if a.Buffer < 0 || a.Buffer > maxBuffer || a.Max < 0 || a.Size < 0 || a.Size > maxSize {
		return nil, fmt.Errorf("%w: %s: want buffer 0 to %d, max 0 or more, size 0 to %d", ErrBadRequest, q.command, maxBuffer, maxSize)
	}
	if o.size == 0 {
		o.size = defaultSize
	}
	o.credit.Store(o.window)
	return o, nil
}

// trace opens a stream of Events.
func (q *request) trace() (any, error) {
	o, err := q.newStreamSender()
	if err != nil {
		return nil, err
	}
	var ask struct {
		Targets  []any `etf:",required"`
		Events   []node.Atom
		Children bool
		Buffer   int
	}
	if err := q.options(&ask); err != nil {
		return nil, err
	}
	if len(ask.Targets) == 0 || len(ask.Targets) > q.s.cfg.Limit {
		return nil, fmt.Errorf("%w: trace: %d targets: want 1 to %d", ErrBadRequest, len(ask.Targets), q.s.cfg.Limit)
	}
	cfg := trace.Config{Buffer: ask.Buffer, Processes: q.s.cfg.Limit, Children: ask.Children,
		Show: func(msg any) any { return cut(msg, o.size) }}
	if cfg.Kinds, err = kindsOf(ask.Events); err != nil {
		return nil, err
	}
	var pids []node.PID
	for _, t := range ask.Targets {
		pid, err := find(q.n, t)
		if err != nil {
			return nil, err
		}
		if pid == o.to {
			return nil, fmt.Errorf("%w: trace: %v cannot trace itself", ErrBadRequest, pid)
		}
		pids = append(pids, pid)
	}
	return q.open(o, func(self node.PID) (func(), error) {
		cfg.Quiet = self
		t, err := trace.Open(q.n, cfg, pids...)
		if err != nil {
			return nil, err
		}
		o.dropped = t.Missed
		go (&eventPump[trace.Event]{sender: o, n: q.n, source: t.C, endReason: "exited", show: func(e trace.Event) (any, bool) {
			return Event{At: Time{e.At}, Process: e.Process, Type: node.Atom(e.Kind.String()), Other: e.Other, Name: e.Name, Node: e.Node,
				Message: cut(e.Message, o.size)}, true
		}}).run()
		return t.Close, nil
	})
}

// shown maps the words of TraceQuery.Events.
var shown = map[node.Atom]trace.Kind{
	"receive": trace.Receive,
	"send":    trace.Send,
	"signal": trace.Link | trace.Unlink | trace.Linked | trace.Unlinked | trace.Monitor |
		trace.Demonitor | trace.Signal,
	"exit":  trace.Exit,
	"spawn": trace.Spawn,
	"name":  trace.Register | trace.Unregister,
}

func kindsOf(words []node.Atom) (k trace.Kind, err error) {
	for _, w := range words {
		if shown[w] == 0 {
			return 0, fmt.Errorf("%w: trace: events has %s: want receive, send, signal, exit, spawn or name", ErrBadRequest, w)
		}
		k |= shown[w]
	}
	return k, nil
}

// deadLetters opens a stream of Letters.
func (q *request) deadLetters() (any, error) {
	o, err := q.newStreamSender()
	if err != nil {
		return nil, err
	}
	ask := struct {
		Causes []node.Atom
		Buffer int
	}{Buffer: defaultEvents}
	if err := q.options(&ask); err != nil {
		return nil, err
	}
	if ask.Buffer == 0 {
		ask.Buffer = defaultEvents
	}
	return q.open(o, func(self node.PID) (func(), error) {
		d := q.n.DeadLetters(ask.Buffer)
		o.dropped = d.Missed
		go (&eventPump[deadletter.Letter]{sender: o, n: q.n, source: d.C, endReason: "stopped",
			show: func(l deadletter.Letter) (any, bool) {
				cause := node.Atom(l.Cause.String())
				own := l.To == self || l.To == o.to // its own letters would never end
				return Letter{At: Time{l.At}, Cause: cause, To: l.To, Name: l.Name, Alias: l.Alias, Message: cut(l.Message, o.size)},
					!own && (len(ask.Causes) == 0 || slices.Contains(ask.Causes, cause))
			}}).run()
		return d.Close, nil
	})
}

// open starts the process of o. begin makes the source and the event pump, and returns a function that closes the source.
// The answer is sent when begin returns.
func (q *request) open(o *streamSender, begin func(self node.PID) (end func(), err error)) (any, error) {
	if q.s.streams.Add(1) > int32(q.s.cfg.Streams) {
		q.s.streams.Add(-1)
		return nil, fmt.Errorf("%w: %d streams are open, the most allowed", ErrBusy, q.s.cfg.Streams)
	}
	of := node.Options{Label: string(Name + ": " + q.command), For: q.from.Inside(process.Key{}).MadeBy()}
	_, err := q.n.SpawnOpt(of, node.ProcessFunc(func(p *node.Process) error {
		defer q.s.streams.Add(-1)
		defer close(o.done)
		o.self = p.Self()
		p.Monitor(o.to)
		end, err := begin(o.self)
		if err != nil {
			q.answer(nil, err)
			return nil
		}
		end = sync.OnceFunc(end)
		defer end()
		answer, err := toTerm(opened{o.self, o.ref})
		q.answer(answer, err)
		over := o.serve(p)
		end()
		o.take(p)
		if over {
			linger(p)
		}
		return nil
	}))
	if err != nil {
		q.s.streams.Add(-1)
		return nil, err
	}
	return nil, errNoReplyYet
}

// serve is the process: it ends with the client, at its request, or with the source. It returns true if there are no more
// events and the client has not been told yet.
func (o *streamSender) serve(p *node.Process) (over bool) {
	for {
		switch m := p.Receive().(type) {
		case eventBatch:
			if len(m.events) > 0 {
				p.Send(o.to, wire.Tuple{Name, o.ref, wire.Tuple{wire.Atom("events"), m.events, int(o.dropped())}})
			}
			if m.end != "" {
				o.finish(p, m.end)
				return true
			}
			o.sent <- struct{}{}
		case node.Down:
			return false
		case wire.Atom:
			if m == "stop" {
				o.finish(p, "stopped")
				return false
			}
		case wire.Tuple:
			if len(m) == 2 && m[0] == wire.Atom("more") {
				o.addCredit(m[1])
			}
		}
	}
}

// linger receives the messages that the client sends before it learns of the end, so that they do not become dead letters,
// which other streams would show.
func linger(p *node.Process) {
	for until := time.Now().Add(patience); ; {
		m, err := p.ReceiveWithin(max(0, time.Until(until)), nil)
		if _, down := m.(node.Down); err != nil || down || m == wire.Atom("stop") {
			return
		}
	}
}

func (o *streamSender) finish(p *node.Process, why wire.Atom) {
	p.Send(o.to, wire.Tuple{Name, o.ref, wire.Tuple{wire.Atom("ended"), why}})
}

// addCredit adds the n events that the client has acknowledged, within plausible bounds.
func (o *streamSender) addCredit(n any) {
	k, ok := wire.AsInt(n)
	if !ok || k < 0 || o.window == 0 {
		return
	}
	o.credit.Store(min(o.credit.Load()+min(k, o.window), o.used.Load()+o.window))
	select {
	case o.more <- struct{}{}:
	default:
	}
}
