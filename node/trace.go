package node

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/actornode/actornode/node/internal/feed"
	"github.com/actornode/actornode/node/internal/gencall"
	"github.com/actornode/actornode/node/internal/reason"
	"github.com/actornode/actornode/node/internal/trace"
)

// TraceKind says what a [TraceEvent] is about. Kinds can be or-ed.
type TraceKind uint16

const (
	TraceReceive    TraceKind = 1 << iota // a message is put into the process's mailbox, or a call of it is answered
	TraceSend                             // the process sends a message
	TraceLink                             // it links itself to Other
	TraceUnlink                           // it takes a link away
	TraceLinked                           // Other links itself to it
	TraceUnlinked                         // Other takes a link to it away
	TraceMonitor                          // it monitors Other, or Name
	TraceDemonitor                        // it takes a monitor away
	TraceSignal                           // an exit signal comes from Other: Message is the reason
	TraceSpawn                            // it has spawned Other
	TraceRegister                         // it gets a Name
	TraceUnregister                       // its Name is taken away
	TraceExit                             // it has exited: Message is the reason. The last event of a process

	// TraceAll is every kind.
	TraceAll TraceKind = 1<<iota - 1
)

var traceKinds = [...]string{"receive", "send", "link", "unlink", "linked", "unlinked", "monitor", "demonitor", "signal",
	"spawn", "register", "unregister", "exit"}

// String returns the name of a single kind.
func (k TraceKind) String() string {
	for i, s := range traceKinds {
		if k == 1<<i {
			return s
		}
	}
	return "invalid"
}

// TraceEvent is something that a traced process has done, or that was done to it.
type TraceEvent struct {
	Kind    TraceKind
	At      time.Time
	Process PID
	Other   PID  // sender, receiver, the other end; zero: not known, or no process
	Name    Atom // whom a message was sent to by name, on Node; the name registered
	Node    Atom // "": this one
	Message any  // what Trace.Show made of it; see there
}

// TraceConfig says what a trace shows, and how much. The zero value works.
type TraceConfig struct {
	Kinds     TraceKind // default: TraceAll
	Buffer    int       // events that wait for their reader; more are dropped, and counted. Default: 1000
	Processes int       // that are traced at a time, at most. Default: 1000
	// Children are traced too that traced processes spawn from now on, while there
	// is room for them.
	Children bool
	// Show makes of a message what the event keeps. It is called by whoever sends,
	// before the message is sent, so that a receiver that changes what it was given
	// changes no event; it must be quick, and call nothing of the node. Not called
	// for exit reasons and for what the node itself sends (Down, Exited, NodeUp,
	// NodeDown, Started): nobody changes those. Default: the message itself.
	Show func(msg any) any
	// Quiet is a process whose messages, both ways, are not shown: the one that
	// tells others of the events. Without that it could trace itself for ever.
	Quiet PID
}

// ErrTraceFull says that a trace has as many processes as it may.
var ErrTraceFull = errors.New("node: the trace already follows its maximum number of processes")

const (
	defaultTraceBuffer    = 1000
	defaultTraceProcesses = 1000
)

// Trace is a view of what some processes do, from the time they were added to it.
// A process that is not traced pays for it, while there are traces of others, some
// nanoseconds a message, and nothing otherwise.
type Trace struct {
	C     <-chan TraceEvent // closed by Close, by the node's stop, and by the exit of the last process
	n     *Node
	cfg   TraceConfig
	feed  *feed.Feed[TraceEvent]
	watch trace.Watch[Trace]
}

// traced is who is traced by whom, as trace.View has it.
type traced trace.View[proc, Trace]

// by returns the traces of p, nil: of none.
func (t *traced) by(p *proc) []*trace.Watch[Trace] {
	if p == nil {
		return nil
	}
	return (*trace.View[proc, Trace])(t).By(p, p.id)
}

func (t *traced) isQuiet(p *proc) bool {
	return p != nil && (*trace.View[proc, Trace])(t).IsQuiet(p.id)
}

// Trace opens a trace of processes of this node. Errors: [ErrNoProcess], with
// nobody traced; [ErrTraceFull]; [ErrNodeStopped].
func (n *Node) Trace(cfg TraceConfig, pids ...PID) (*Trace, error) {
	if cfg.Buffer < 0 || cfg.Processes < 0 || cfg.Kinds&^TraceAll != 0 {
		return nil, fmt.Errorf("node: TraceConfig: Buffer and Processes must not be negative, and Kinds may only hold the Trace " +
			"constants")
	}
	if cfg.Kinds == 0 {
		cfg.Kinds = TraceAll
	}
	if cfg.Buffer == 0 {
		cfg.Buffer = defaultTraceBuffer
	}
	if cfg.Processes == 0 {
		cfg.Processes = defaultTraceProcesses
	}
	if cfg.Show == nil {
		cfg.Show = func(msg any) any { return msg }
	}
	now := func(e TraceEvent) TraceEvent {
		e.At = n.env.Now()
		return e
	}
	t := &Trace{n: n, cfg: cfg, feed: feed.New(cfg.Buffer, now)}
	t.C = t.feed.C()
	t.watch = trace.Watch[Trace]{Of: t, Max: cfg.Processes, Quiet: cfg.Quiet.Number(), HasQuiet: !cfg.Quiet.IsZero()}
	if err := t.Add(pids...); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// Add traces more processes. Errors: as of [Node.Trace]; none of pids is traced
// then that was not before.
func (t *Trace) Add(pids ...PID) error {
	procs := make([]trace.Process[proc], 0, len(pids))
	for _, pid := range pids {
		p := t.n.lookup(pid)
		if p == nil {
			return fmt.Errorf("%w: %v", ErrNoProcess, pid)
		}
		if one := (trace.Process[proc]{P: p, Number: p.id}); !slices.Contains(procs, one) {
			procs = append(procs, one)
		}
	}
	if err := t.add(procs...); err != nil {
		return err
	}
	for _, p := range procs {
		if p.P.gone() { // it may have died before it was in there
			t.n.endTraces(p.P, p.P.reason())
		}
	}
	return nil
}

func (t *Trace) add(procs ...trace.Process[proc]) error {
	switch err := t.n.tracing.Add(&t.watch, procs...); err {
	case trace.ErrOver:
		return ErrNodeStopped
	case trace.ErrFull:
		return fmt.Errorf("%w: %d", ErrTraceFull, t.cfg.Processes)
	}
	return nil
}

// endTraces ends the traces of p, which has exited. Of several calls the first counts.
func (n *Node) endTraces(p *proc, reason any) {
	n.tracing.Gone(trace.Process[proc]{P: p, Number: p.id}, func(t *Trace, last bool) {
		t.show(TraceEvent{Kind: TraceExit, Process: p.pid(), Message: reason})
		if last {
			t.feed.Close()
		}
	})
}

// Remove traces a process no longer. It reports whether it was traced.
func (t *Trace) Remove(pid PID) bool {
	return t.n.origin.Minted(pid) && t.n.tracing.Remove(&t.watch, pid.Number())
}

// Close ends the trace. What is in C can still be read.
func (t *Trace) Close() {
	t.n.tracing.End(&t.watch)
	t.feed.Close()
}

// Missed returns how many events did not fit into the buffer, and how many
// children into the trace.
func (t *Trace) Missed() uint64 { return t.feed.Missed() }

// show adds an event whose Message is what is to be kept.
func (t *Trace) show(e TraceEvent) {
	if t.cfg.Kinds&e.Kind != 0 {
		t.feed.Send(e)
	}
}

// look is show for a message that others may change.
func (t *Trace) look(e TraceEvent) {
	switch {
	case t.cfg.Kinds&e.Kind == 0:
		return
	case t.feed.Full(): // not worth the work
		t.feed.Miss()
		return
	}
	switch e.Message.(type) {
	case Down, Exited, NodeUp, NodeDown, Started: // maybe with locks held, which Show knows nothing of
	default:
		e.Message = t.cfg.Show(e.Message)
	}
	t.show(e)
}

// message shows a message to a process of this node. from is the sender, nil: none,
// or not one of this node; then pid says who, if it is known.
func (t *traced) message(from *proc, pid PID, to *proc, msg any) {
	sends, gets := t.by(from), t.by(to)
	if sends == nil && gets == nil || t.isQuiet(from) || t.isQuiet(to) {
		return
	}
	if from != nil {
		pid = from.pid()
	}
	for _, o := range sends {
		o.Of.look(TraceEvent{Kind: TraceSend, Process: pid, Other: to.pid(), Message: msg})
	}
	for _, o := range gets {
		o.Of.look(TraceEvent{Kind: TraceReceive, Process: to.pid(), Other: pid, Message: msg})
	}
}

// away shows a message of who to another node.
func (t *traced) away(who *proc, to PID, at At, msg any) {
	if t.isQuiet(who) {
		return
	}
	if at.Name == "" {
		at = At{}
	}
	for _, o := range t.by(who) {
		o.Of.look(TraceEvent{Kind: TraceSend, Process: who.pid(), Other: to, Name: at.Name, Node: at.Node, Message: msg})
	}
}

// event shows what is no message.
func (t *traced) event(k TraceKind, p *proc, other PID, name Atom, msg any) {
	for _, o := range t.by(p) {
		o.Of.show(TraceEvent{Kind: k, Process: p.pid(), Other: other, Name: name, Message: msg})
	}
}

// spawned shows that a process has been spawned, and traces it if it has to be.
func (t *traced) spawned(caller, p *proc) {
	t.event(TraceSpawn, caller, p.pid(), "", nil)
	for _, o := range t.by(caller) {
		if o.Of.cfg.Children && o.Of.add(trace.Process[proc]{P: p, Number: p.id}) != nil {
			o.Of.feed.Miss()
		}
	}
	if p.gone() {
		p.node.endTraces(p, p.reason())
	}
}

// traces is who is traced; nil: nobody.
func (n *Node) traces() *traced { return (*traced)(n.tracing.Now()) }

// answered shows the answer to a call of asker, which is a message for those who
// watch: {'$go_reply', Reply}. from is who answers, nil: not known.
func (t *traced) answered(from, asker *proc, v any, err error) {
	if t.by(from) == nil && t.by(asker) == nil {
		return
	}
	if err != nil {
		v = reason.Failure(errorTerm(err))
	}
	t.message(from, PID{}, asker, gencall.GoReply(v))
}
