package trace

import (
	"errors"
	"fmt"
	"time"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/node"
)

// Config says what a trace shows, and how much. The zero value works.
type Config struct {
	Kinds     Kind // default: All
	Buffer    int  // events that wait for their reader; more are dropped, and counted. Default: 1000
	Processes int  // the most that are traced at a time. Default: 1000
	// Children also traces processes that traced processes spawn from now on, while there
	// is room for them.
	Children bool
	// Show returns what the event keeps of a message. The sender calls it
	// before the message is sent, so that a receiver that changes the message
	// changes no event; it must be quick, and call nothing of the node. It is not called
	// for exit reasons and for messages of the node itself (node.Down, Exited, NodeUp,
	// NodeDown, Started): nobody changes those. Default: the message itself.
	Show func(msg any) any
	// Quiet is a process whose messages, sent and received, are not shown: the one that
	// reports the events. Otherwise it could trace itself for ever.
	Quiet node.PID
}

const (
	defaultBuffer    = 1000
	defaultProcesses = 1000
)

// ErrFull says that a trace has its maximum number of processes.
var ErrFull = errors.New("trace: it already follows its maximum number of processes")

// Trace is a view of what some processes do, from the time they were added to it.
type Trace struct {
	C <-chan Event // closed by Close, by the node's stop, and by the exit of the last process

	events   *watch.Feed[Event]
	watch    watch.Trace
	registry *watch.Traces
}

// Open opens a trace of processes of the node of from. Errors: [node.ErrNoProcess], and then
// nobody is traced; [ErrFull]; [node.ErrNodeStopped].
func Open(from node.Caller, cfg Config, pids ...node.PID) (*Trace, error) {
	if cfg.Buffer < 0 || cfg.Processes < 0 || cfg.Kinds&^All != 0 {
		return nil, errors.New("trace: Config: Buffer and Processes must not be negative, and Kinds may only hold the constants of " +
			"this package")
	}
	if cfg.Kinds == 0 {
		cfg.Kinds = All
	}
	if cfg.Buffer == 0 {
		cfg.Buffer = defaultBuffer
	}
	if cfg.Processes == 0 {
		cfg.Processes = defaultProcesses
	}
	if cfg.Show == nil {
		cfg.Show = func(msg any) any { return msg }
	}
	t := &Trace{registry: from.Inside(process.Key{}).Node().Inside(process.Key{}).Tracing()}
	t.events = watch.NewFeed(cfg.Buffer, stamp(t.registry.Host().Now))
	t.C = t.events.C()
	t.watch = watch.Trace{Feed: eventFeed{t.events}, Kinds: watch.TraceKind(cfg.Kinds), Max: cfg.Processes, Children: cfg.Children,
		Show: cfg.Show, Quiet: cfg.Quiet}
	if err := t.Add(pids...); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// stamp returns a function that sets an event's time.
func stamp(now func() time.Time) func(Event) Event {
	return func(e Event) Event {
		e.At = now()
		return e
	}
}

// eventFeed takes the events of a registry.
type eventFeed struct{ *watch.Feed[Event] }

// Send is part of registry.Feed.
func (f eventFeed) Send(e watch.TraceEvent) {
	f.Feed.Send(Event{Kind: Kind(e.Kind), Process: e.Process, Other: e.Other, Name: e.Name, Node: e.Node, Message: e.Message})
}

// Add traces more processes. Errors: those of [Open]; then no further process of pids is
// traced.
func (t *Trace) Add(pids ...node.PID) error {
	switch err := t.registry.Add(&t.watch, pids...); err {
	case watch.ErrTraceOver:
		return node.ErrNodeStopped
	case watch.ErrTraceFull:
		return fmt.Errorf("%w: %d", ErrFull, t.watch.Max)
	default:
		return err
	}
}

// Remove stops tracing a process. It reports whether the process was traced.
func (t *Trace) Remove(pid node.PID) bool { return t.registry.Remove(&t.watch, pid) }

// Close ends the trace. What is in C can still be read.
func (t *Trace) Close() { t.registry.End(&t.watch) }

// Missed returns how many events did not fit into the buffer, and how many
// children into the trace.
func (t *Trace) Missed() uint64 { return t.events.Missed() }

func init() { values.Enter(ErrFull) }
