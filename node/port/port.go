package port

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// ErrBusy is the answer to a call while Config.Open others are waiting for the
// program.
var ErrBusy = errors.New("port: too many calls wait for the program")

// New returns a port that will run what cfg says: the behaviour of one process.
func New(cfg Config) node.Actor { return &port{cfg: cfg} }

// Start starts a port and returns when it has started. Errors: those of
// [node.SpawnWait]; a [*node.ExitError] if the program cannot be run.
func Start(ctx context.Context, from node.Caller, cfg Config, o node.Options) (node.PID, error) {
	return node.SpawnWait(ctx, from, o, New(cfg))
}

// port is a port as an Actor.
//
// Invariants:
//
//  1. It ends when its program has been reaped and all of its goroutines but the
//     runner's are over, unless it is killed.
//  2. ending is set once, and so is reason, then or later.
//  3. All that is held here on behalf of the program or of its callers is
//     bounded by Config.Open.
type port struct {
	cfg   Config
	c     *node.Context // of the present call of a method
	log   *slog.Logger
	box   *inbox
	feed  *writeQueue
	prog  *program
	codec *codec
	sys   sysmsg.System

	child           bool // started with a link to its parent, whose exit ends it
	localParentOnly bool // see Allow: must be the child of a process of this node
	starting        bool // its start is not over
	ending          bool // it takes no more messages
	reason          any  // why it ends; nil: the program's exit reason
	forcedReason    any  // reason if the program has to be forced to exit
	messagesWait    bool // messages have been left in the mailbox; unless ending, queueHasSpace will come
	trap            bool // exit signals are for the program
	trace           any  // label of what the program sends next; nil: none

	calls    map[int64]node.From // that the program has not answered
	lastCall int64
	swept    time.Time
	asks     map[int64]*ask // that the program has made
	late     []*ask         // those whose timeout has not been sent to the program yet
	monitors map[int64]node.Ref
	refs     map[node.Ref]int64
	links    map[node.PID]struct{}
	refused  uint64 // messages that could not be written to the program
	warnings watch.Throttle[warning]
	timer    *time.Timer // of Config.Ready
}

// warning is a line of the log that others cause, perhaps often.
type warning struct {
	what  string
	attrs []any
}

// ask is a call that the program has made.
type ask struct {
	id    int64
	timer *time.Timer
}

// BehaviourName is part of node.BehaviourNamer.
func (p *port) BehaviourName() string { return "port " + p.cfg.Command }

// Init starts the program.
func (p *port) Init(c *node.Context) error {
	p.c = c
	cfg, err := p.cfg.defaults()
	if err == nil && p.localParentOnly && c.Parent().IsZero() {
		err = errNotLocalParent
	}
	if err != nil {
		return node.ExitWith(wire.Tuple{wire.Atom("bad_config"), err.Error()})
	}
	p.cfg = cfg
	if parent := c.Parent(); !parent.IsZero() {
		p.child = c.Inside(process.Key{}).Linked(parent)
	}
	c.TrapExit(true)
	p.calls, p.asks = make(map[int64]node.From), make(map[int64]*ask)
	p.monitors, p.refs, p.links = make(map[int64]node.Ref), make(map[node.Ref]int64), make(map[node.PID]struct{})
	p.codec = newCodec(cfg.Codec, cfg.Frame)
	p.box = newInbox(c.Node(), c.Self())
	p.log = c.Node().Log().With("port", sysmsg.DisplayName(c), "command", cfg.Command)
	if p.prog, err = launch(&p.cfg, p.log, p.codec, p.box); err != nil {
		return node.ExitWith(notStarted(err))
	}
	p.feed, p.log = p.prog.feed, p.prog.log
	p.warnings.Init(env.Env{}, pace(cfg.LogRate), p.logWarning)
	context.AfterFunc(c.Context(), p.warnings.Close) // end closes them first, unless the port is killed
	if err := p.write(wordStart, c.Self(), c.Node().Name(), cfg.Init); err != nil {
		p.prog.abandon()
		return node.ExitWith(wire.Tuple{wire.Atom("bad_config"), fmt.Sprintf("Init: %v", err)})
	}
	k := runner{r: p.prog, ctx: c.Context()}
	o := node.Options{Place: node.Detached(), Label: "runner of port " + sysmsg.DisplayName(c)}
	if _, err := node.SpawnWait(context.Background(), c, o, k); err != nil {
		p.prog.abandon()
		return node.ExitWith(notStarted(err))
	}
	if cfg.Ready > 0 {
		p.starting = true
		p.timer = time.AfterFunc(cfg.Ready, func() { p.box.note(unready{}) })
		return node.ErrPending
	}
	return nil
}

// Receive is part of node.Actor.
func (p *port) Receive(c *node.Context, msg any) error {
	p.c = c
	if e, ok := msg.(node.Exited); ok {
		if _, mine := e.Reason.(wake); mine {
			return p.woken()
		}
		if p.child && e.From == c.Parent() || sysmsg.IsStop(e) {
			p.stop(e.Reason)
			return nil
		}
	}
	if r, ok := sysmsg.Parse(c.Node(), msg); ok {
		p.sys.Alone = !p.child
		return p.sys.Handle(c, system{p}, r)
	}
	// What has been left comes first, even if there is space by now: see release.
	if p.ending || p.messagesWait || p.feed.full() {
		p.messagesWait = true
		return node.ErrUnhandled
	}
	p.deliver(msg)
	return nil
}

// deliver gives a message to the program.
func (p *port) deliver(msg any) {
	switch m := msg.(type) {
	case node.Exited:
		p.exited(m)
		return
	case node.Result:
		if a, ok := m.Tag.(*ask); ok {
			p.answer(a, m.Value, m.Err)
			return
		}
	case node.Down:
		if id, ok := p.refs[m.Ref]; ok {
			delete(p.refs, m.Ref)
			delete(p.monitors, id)
			term, _ := termof.Of(m)
			p.tell(wordDown, id, term.(wire.Tuple)[3], m.Reason)
			return
		}
	}
	if r, ok := p.c.Node().AsRequest(msg); ok {
		p.call(r)
	} else if body, ok := node.AsCast(msg); ok {
		p.told(p.pass(wordCast, body), wordCast)
	} else {
		p.told(p.pass(wordInfo, msg), wordInfo)
	}
}

// exited handles an exit signal that is not the parent's.
func (p *port) exited(e node.Exited) {
	delete(p.links, e.From)
	switch {
	case p.trap:
		var from any = wire.AtomUndefined
		if !e.From.IsZero() {
			from = e.From
		}
		p.tell(wordExit, from, e.Reason)
	case !wire.Equal(e.Reason, node.Normal):
		p.stop(e.Reason)
	}
}

// write writes a frame to the program.
func (p *port) write(word string, fields ...any) error {
	return p.feed.add(func(b []byte) ([]byte, error) { return p.codec.append(b, word, fields...) })
}

// pass is write for a message, whose trace, if it has one, is written before.
func (p *port) pass(word string, fields ...any) error {
	t, traced := p.c.Inside(process.Key{}).Acting().Own().Traceparent()
	if !traced || p.write(wordTrace, t.Label()) != nil {
		return p.write(word, fields...)
	}
	err := p.write(word, fields...)
	if err != nil {
		_ = p.write(wordTrace, wire.AtomUndefined) // of the next message
	}
	return err
}

// tell writes a frame that needs no answer.
func (p *port) tell(word string, fields ...any) { p.told(p.write(word, fields...), word) }

// told handles the outcome of writing a frame that needs no answer.
func (p *port) told(err error, word string) {
	if err != nil {
		p.refused++
		p.warn("port: could not pass a message to the program", "kind", word, "error", err)
	}
}

// warn logs what others cause, perhaps often.
func (p *port) warn(what string, attrs ...any) { p.warnings.Add(warning{what, attrs}) }

func (p *port) logWarning(w warning, missed uint64) {
	attrs := w.attrs
	if missed > 0 {
		attrs = append(attrs, "not_logged", missed)
	}
	p.log.Warn(w.what, attrs...)
}

// call asks the program.
func (p *port) call(r node.Request[any]) {
	if len(p.calls) >= p.cfg.Open {
		p.sweep()
	}
	if len(p.calls) >= p.cfg.Open {
		r.Fail(ErrBusy)
		return
	}
	var caller any = wire.AtomUndefined
	if pid := r.Caller(); !pid.IsZero() {
		caller = pid
	}
	p.lastCall++
	if err := p.pass(wordCall, p.lastCall, r.Body, caller); err != nil {
		p.refused++
		r.Fail(err)
		return
	}
	p.calls[p.lastCall] = r.From
}

// sweep forgets the calls whose callers have given up, once a second at most.
func (p *port) sweep() {
	if now := time.Now(); now.Sub(p.swept) >= time.Second {
		p.swept = now
		for id, from := range p.calls {
			if !from.Pending() {
				delete(p.calls, id)
			}
		}
	}
}

// answer sends the program the outcome of a call that it has made.
func (p *port) answer(a *ask, value any, err error) {
	if p.asks[a.id] != a {
		return // it has taken too long; the program knows
	}
	delete(p.asks, a.id)
	if a.timer != nil {
		a.timer.Stop()
	}
	if err == nil {
		if err = p.write(wordAnswer, a.id, value); err == nil {
			return
		}
	}
	p.tell(wordError, a.id, callReason(err))
}

// callReason is why a call has failed, in Erlang's words where it has some.
func callReason(err error) any {
	switch {
	case errors.Is(err, node.ErrNoName):
		return node.NoProc
	case errors.Is(err, node.ErrTimeout):
		return wire.Atom("timeout")
	}
	return values.ErrorTerm(err)
}

// woken takes what the goroutines have left in the inbox.
func (p *port) woken() error {
	ops, events := p.box.take()
	for _, op := range ops {
		if err := p.act(op); err != nil {
			p.fault(badFrame(err))
		}
	}
	for _, e := range events {
		switch e := e.(type) {
		case ended:
			return p.end(e)
		case queueHasSpace:
			p.release()
		case expired:
			if p.feed.full() { // its place among the asks is kept: what waits is bounded
				p.late = append(p.late, e.a)
			} else {
				p.answer(e.a, nil, node.ErrTimeout)
			}
		case stalled:
			p.fault(stdinStalled(p.cfg.Stall))
		case corrupt:
			p.fault(e.reason)
		case unready:
			if p.starting {
				p.fault(startTimeout)
			}
		case closed:
			if !p.ending { // perhaps it is about to exit, and says why
				p.ending, p.forcedReason = true, e.what
			}
			p.prog.ask()
		}
	}
	return nil
}

// release sends the program the timeouts that it has not got yet, and offers the messages again that were left.
func (p *port) release() {
	for len(p.late) > 0 {
		if p.feed.full() {
			return
		}
		a := p.late[0]
		p.late = p.late[1:]
		p.answer(a, nil, node.ErrTimeout)
	}
	if p.messagesWait && !p.ending {
		p.messagesWait = false
		p.c.Become(p)
	}
}

// stop ends the port in an orderly way: the program may finish what it has begun.
func (p *port) stop(reason any) {
	if !p.ending {
		p.ending = true
		p.tell(wordStop, reason)
	}
	if p.reason == nil {
		p.reason = reason
	}
	p.prog.ask()
}

// fault ends the port because of what its program does.
func (p *port) fault(reason any) {
	p.ending = true
	if p.reason == nil {
		p.reason = reason
	}
	p.prog.push()
}

// end ends the port: its program is gone.
func (p *port) end(e ended) error {
	if p.timer != nil {
		p.timer.Stop()
	}
	for _, a := range p.asks {
		if a.timer != nil {
			a.timer.Stop()
		}
	}
	p.warnings.Close()
	reason := p.reason
	switch {
	case reason != nil:
	case e.forced:
		reason = p.forcedReason
	default:
		reason = statusReason(e)
	}
	if !calls.IsClean(reason) {
		p.log.Error("port terminating", "process", p.c.Self().String(), "exit_code", e.code, "signal", e.signal, "reason",
			sysmsg.Words(reason))
	}
	return node.ExitWith(reason)
}
