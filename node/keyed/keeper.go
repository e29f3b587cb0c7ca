package keyed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime/metrics"
	"slices"
	"time"

	"github.com/actornode/actornode/internal/counter"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// keeper is the group's process. It alone starts and ends processes, and changes the table. It waits for nothing: what follows
// an Init or an exit is in the entry's change. It has the lock of the group while its handler runs, in case it is killed then
// and restarted.
type keeper[K comparable] struct {
	g       *Group[K]
	node    *node.Node
	pid     node.PID
	process *process.Process
	c       *node.Context // of the current message

	byPID       map[node.PID]*entry[K] // whose exit has not been handled
	first, last *entry[K]              // the entries that have a place, that with the oldest noticed use first
	places      int                    // their number, at most Max
	line        []*entry[K]            // that wait for a place: one for each process that ends for them

	ticked uint32    // the number of ticks
	rounds uint32    // in Idle; 0: no process ends for idleness
	next   *entry[K] // where the sweep that is under way goes on; nil: none is
	excess int       // how many processes are still to end for Kind.Memory
	cycles uint64

	ending any  // the exit reason of the group; nil: it goes on
	killed bool // those that had not ended in time
}

// phase is the state of an entry that has a change.
//
//	queued ──place──► starting ──Init──► running ──► ending ──exit──► removed
//	                     ▲  └───fails──┐    │crash
//	                     └──next use── failed
type phase uint8

const (
	queued   phase = iota // for a place
	starting              // its Init runs
	running
	ending // it has had an exit signal, or has exited
	failed // there is no process
)

// change is what only an entry needs whose process is not running, or has failed before.
type change[K comparable] struct {
	phase   phase
	reason  any  // of the exit
	exited  bool // reason is set
	ignored bool // its Init has returned ErrIgnore
	why     int  // the counter of an end that the group has decided; 0: it has not
	waiting []waiter[K]
	enders  []node.From
	timer   *node.Timer
	polls   int
	polling bool
	failure *FailingError // nil: it has not failed since it last ran for long
}

// waiter is a use that waits.
type waiter[K comparable] struct {
	node.From
	ticket *ticket[K]
}

// messages to itself
type (
	tick                     struct{}
	sweep                    struct{}
	look[K comparable]       struct{ e *entry[K] } // has its code returned?
	outOfTime[K comparable]  struct{ e *entry[K] } // nil: the whole group is
	startAgain[K comparable] struct {
		e   *entry[K]
		now *FailingError // that of e, unless the message is too late
	}
	forget[K comparable] startAgain[K]
)

// Limits and times of a keeper.
const (
	atOnce     = 1000 // entries that one turn of a sweep, and a search for an idle process, look at
	fraction   = 8    // of the processes that end after a cycle of the collector
	ticks      = 4    // in Idle
	longTick   = time.Minute
	memoryTick = time.Second
	quickLooks = 3 // for code that still runs, without a wait; then the wait doubles from firstLook to lastLook
	sureLooks  = 8 // after so many an exit is believed of which no signal has come
	firstLook  = time.Millisecond
	lastLook   = time.Second
)

// BehaviourName implements node.BehaviourNamer.
func (*keeper[K]) BehaviourName() string { return "keyed" }

// ReportsCrashes tells the node that the group logs the crash reports of its processes.
func (*keeper[K]) ReportsCrashes() {}

// Init implements node.Initializer.
func (k *keeper[K]) Init(c *node.Context) error {
	k.g.mu.Lock()
	defer k.g.mu.Unlock()
	old := k.g.keeper.Load()
	if old != nil && !old.process.Gone() {
		return fmt.Errorf("%w: keyed: group %s already runs as %v", node.ErrArgument, k.g.kind.Name, old.pid)
	}
	k.c, k.node, k.pid, k.byPID = c, c.Node(), c.Self(), make(map[node.PID]*entry[K])
	k.process, _ = c.Inside(process.Key{}).Process()
	c.TrapExit(true)
	if old != nil {
		k.inherit(old)
	}
	k.g.keeper.Store(k)
	return k.wind()
}

// inherit takes over what the last keeper has left: its processes end, and all else is forgotten.
func (k *keeper[K]) inherit(old *keeper[K]) {
	for e := range k.g.table.all {
		e.word.Or(closed)
		e.change = nil
		if e.process == nil || old.byPID[e.process.PID()] != e {
			k.g.table.remove(e)
			continue
		}
		k.byPID[e.process.PID()] = e
		k.push(e)
		k.places++
		k.finish(e, counter.KeyedEnded)
		k.poll(e)
	}
}

// wind starts the timer of the next tick.
func (k *keeper[K]) wind() error {
	d, kind := longTick, &k.g.kind
	if kind.Idle > 0 {
		d = max(kind.Idle/ticks, time.Millisecond)
	}
	if kind.Memory > 0 {
		d = min(d, memoryTick)
	}
	if kind.Idle > 0 {
		k.rounds = uint32(min((kind.Idle+d-1)/d, math.MaxInt32))
	}
	_, err := k.c.SendAfter(d, k.pid, tick{})
	return err
}

// Receive implements node.Actor.
func (k *keeper[K]) Receive(c *node.Context, msg any) error {
	k.g.mu.Lock()
	defer k.g.mu.Unlock()
	if k.g.keeper.Load() != k {
		return node.ErrStop // it has been killed, and replaced
	}
	k.c = c
	k.handle(msg)
	if k.ending != nil && (k.places == 0 || k.killed) {
		return node.ExitWith(k.ending)
	}
	return nil
}

func (k *keeper[K]) handle(msg any) {
	switch m := msg.(type) {
	case node.Request[use[K]]:
		k.use(m.Body.key, waiter[K]{m.From, m.Body.ticket})
	case node.Request[finish[K]]:
		k.finishKey(m.Body.key, m.From)
	case node.Started:
		if e := k.byPID[m.PID]; e != nil {
			if m.Ignored {
				e.change.ignored = true
			} else {
				k.started(e)
			}
		}
	case node.Exited:
		k.exited(m)
	case look[K]:
		k.settle(m.e)
	case outOfTime[K]:
		k.kill(m.e)
	case startAgain[K]:
		if m.e.is(failed) && m.e.change.failure == m.now {
			k.begin(m.e)
		}
	case forget[K]:
		if m.e.is(failed) && m.e.change.failure == m.now {
			k.remove(m.e)
		}
	case tick:
		k.beat()
	case sweep:
		k.sweep()
	default:
		k.other(msg)
	}
}

// other handles what supervisors are asked, too.
func (k *keeper[K]) other(msg any) {
	r, ok := k.node.AsRequest(msg)
	if !ok {
		k.c.Unknown(msg)
		return
	}
	body := r.Body
	if t, ok := termof.Of(body); ok {
		body = t // of supervisor.WhichChildren
	}
	count := func(what wire.Atom, n int) wire.Tuple { return wire.Tuple{what, n} }
	switch body {
	case wire.Atom("which_children"):
		l := wire.List{}
		for _, pid := range k.g.All() {
			l = append(l, wire.Tuple{wire.AtomUndefined, pid, wire.Atom("worker"), wire.Atom("dynamic")})
		}
		r.Reply(l)
	case wire.Atom("count_children"):
		r.Reply(wire.List{count("specs", 1), count("active", len(k.byPID)), count("supervisors", 0), count("workers", k.places)})
	default:
		k.c.Unknown(msg)
	}
}

// use handles a use that could not enter.
func (k *keeper[K]) use(key K, w waiter[K]) {
	e, _ := k.g.table.get(key)
	switch {
	case k.ending != nil:
		w.Reply(outcome{ErrEnded})
	case e == nil:
		k.add(key, []waiter[K]{w})
	case e.change == nil || e.change.phase == running:
		if !e.process.Gone() {
			k.admit(e, w)
			return
		}
		k.leaves(e)
		k.wait(e, w)
		k.poll(e) // its exit has no signal if it has unlinked the group
	case e.process != nil && w.Caller() == e.process.PID():
		w.Reply(outcome{fmt.Errorf("%w: its own key, while it starts or ends", node.ErrSelfCall)})
	case e.change.phase != failed:
		k.wait(e, w)
	case time.Now().Before(e.change.failure.Next):
		k.count(counter.KeyedRefused)
		w.Reply(outcome{e.change.failure})
	default:
		k.wait(e, w)
		k.begin(e)
	}
}

// wait adds a waiter to e. Those that have given up go whenever the list would grow.
func (k *keeper[K]) wait(e *entry[K], w waiter[K]) {
	l := e.change.waiting
	if len(l) == cap(l) {
		kept := l[:0]
		for _, old := range l {
			if old.Pending() {
				kept = append(kept, old)
			}
		}
		clear(l[len(kept):])
		l = kept
	}
	e.change.waiting = append(l, w)
}

// admit enters for a waiter.
func (k *keeper[K]) admit(e *entry[K], w waiter[K]) {
	e.word.Add(one)
	e.word.Or(marked)
	if !w.ticket.entry.CompareAndSwap(nil, e) {
		e.leave() // it has given up
		return
	}
	w.Reply(outcome{})
}

// add makes the entry of a key, and starts its process once it has a place.
func (k *keeper[K]) add(key K, waiting []waiter[K]) {
	e := &entry[K]{key: key, change: &change[K]{waiting: waiting}}
	e.word.Store(closed)
	if k.places >= k.g.kind.Max {
		if !k.makeRoom() {
			k.count(counter.KeyedRefused)
			for _, w := range waiting {
				w.Reply(outcome{fmt.Errorf("%w: there are %d, which is Kind.Max", ErrFull, k.places)})
			}
			return
		}
		if k.places >= k.g.kind.Max {
			k.g.table.put(e)
			k.line = append(k.line, e)
			return
		}
	}
	k.g.table.put(e)
	k.place(e)
}

// place gives e a place.
func (k *keeper[K]) place(e *entry[K]) {
	k.places++
	k.push(e)
	k.begin(e)
}

// makeRoom ends the process that has been unused for longest, of those that are idle. It returns false if it finds none.
func (k *keeper[K]) makeRoom() bool {
	var second *entry[K]
	for range min(k.places, atOnce) {
		e := k.first
		k.renew(e)
		switch {
		case e.is(failed):
			k.remove(e)
			return true
		case e.change != nil && e.change.phase != running:
		case e.takeMark():
			if second == nil {
				second = e
			}
		case k.idle(e):
			k.finish(e, counter.KeyedFull)
			return true
		}
	}
	if second == nil || second.change != nil && second.change.phase != running || !k.idle(second) {
		return false
	}
	k.finish(second, counter.KeyedFull)
	return true
}

// idle closes e if its process is idle.
func (k *keeper[K]) idle(e *entry[K]) bool {
	if !e.close() {
		return false
	}
	if idle(k.node, e.process) {
		return true
	}
	e.word.And(^closed)
	return false
}

// begin starts the process of e, in a new entry if e has had one.
func (k *keeper[K]) begin(e *entry[K]) {
	if e.process != nil {
		old := e
		e = &entry[K]{key: old.key, change: old.change}
		e.word.Store(closed)
		k.g.table.put(e)
		k.unlink(old)
		k.push(e)
		old.change = nil
	}
	k.end(e)
	ch := e.change
	*ch = change[K]{phase: starting, waiting: ch.waiting, failure: ch.failure}
	b, err := k.make(e.key)
	if err != nil {
		k.failed(e, err)
		return
	}
	o := k.g.kind.Options
	o.Link = true
	if o.Via != nil {
		b, o.Via = o.Via(b), nil
	}
	_, o.Announce = b.(node.Initializer)
	o.Watched(process.Key{}, func(p *process.Process) { e.process = p })
	pid, err := k.c.SpawnOpt(o, b)
	if err != nil {
		e.process = nil
		k.failed(e, err)
		return
	}
	k.byPID[pid] = e
	k.count(counter.KeyedStarted)
	k.g.processes.Add(1)
	if !o.Announce {
		k.started(e)
	}
}

// make calls New.
func (k *keeper[K]) make(key K) (b node.Actor, err error) {
	returned := false
	defer func() {
		if !returned {
			err = &node.ExitError{Reason: node.Panicked(recover())}
		}
	}()
	b, err = k.g.kind.New(key)
	returned = true
	if err == nil && b == nil {
		err = errors.New("New returned neither a behaviour nor an error")
	}
	return b, err
}

// started lets in the users of a process that has started.
func (k *keeper[K]) started(e *entry[K]) {
	ch := e.change
	if ch.phase != starting {
		return // it ends already
	}
	if log := k.node.Log(); log.Enabled(context.Background(), slog.LevelDebug) {
		log.Debug("progress report", "supervisor", string(k.g.kind.Name), "process", e.process.PID().String())
	}
	waiting := ch.waiting
	ch.phase, ch.waiting = running, nil
	if ch.failure == nil {
		e.change = nil
	}
	e.open()
	for _, w := range waiting {
		k.admit(e, w)
	}
}

// failed records that e has failed, and answers its waiters. Its process, if it had one, is over.
func (k *keeper[K]) failed(e *entry[K], err error) {
	ch, kind, now := e.change, &k.g.kind, time.Now()
	if errors.Is(err, node.ErrIgnore) {
		k.answer(e, err)
		k.remove(e)
		return
	}
	k.count(counter.KeyedCrashed)
	f := FailingError{Group: kind.Name, Since: now}
	if ch.failure != nil {
		f = *ch.failure // others have the old one
	}
	delay := time.Duration(0)
	if f.Times++; f.Times > 1 {
		delay = min(firstBackoff<<min(f.Times-2, 20), kind.Backoff)
	}
	f.Next, f.Err = now.Add(delay), err
	ch.failure = &f
	crashed := ch.phase != starting
	ch.phase = failed
	switch {
	case k.ending != nil:
		k.answer(e, ErrEnded)
		k.remove(e)
		return
	case !crashed:
		k.answer(e, fmt.Errorf("the process has not started: %w", err))
	case delay > 0:
		k.answer(e, &f)
	}
	k.end(e)
	if len(ch.waiting) > 0 || kind.Restart && delay == 0 {
		k.begin(e)
	} else if kind.Restart {
		ch.timer, _ = k.c.SendAfter(delay, k.pid, startAgain[K]{e, &f})
	} else {
		ch.timer, _ = k.c.SendAfter(delay+kind.Backoff, k.pid, forget[K]{e, &f})
	}
}

// answer answers the waiters of e.
func (k *keeper[K]) answer(e *entry[K], err error) {
	for _, w := range e.change.waiting {
		w.Reply(outcome{err})
	}
	e.change.waiting = nil
}

// end answers those that have asked for the end of e, and stops its timer.
func (k *keeper[K]) end(e *entry[K]) {
	for _, f := range e.change.enders {
		f.Reply(outcome{})
	}
	e.change.enders = nil
	if e.change.timer != nil {
		e.change.timer.Cancel()
		e.change.timer = nil
	}
}

// finishKey handles End.
func (k *keeper[K]) finishKey(key K, from node.From) {
	e, _ := k.g.table.get(key)
	switch {
	case e == nil || k.ending != nil && e.process == nil:
		from.Reply(outcome{})
		return
	case e.is(failed):
		k.remove(e)
		from.Reply(outcome{})
		return
	case e.process != nil && from.Caller() == e.process.PID():
		from.Reply(outcome{fmt.Errorf("%w: for its own end", node.ErrSelfCall)})
		return
	case e.is(queued):
		k.answer(e, fmt.Errorf("the process has not started: %w", &node.ExitError{Reason: node.Shutdown}))
		from.Reply(outcome{}) // without waiters it is not started
		return
	case e.change == nil || e.change.phase == running || e.change.phase == starting:
		k.finish(e, counter.KeyedEnded)
	}
	e.change.enders = append(e.change.enders, from)
}

// finish ends the process of e. why is what to count.
func (k *keeper[K]) finish(e *entry[K], why int) {
	k.leaves(e)
	e.change.why = why
	k.c.Exit(e.process.PID(), node.Shutdown)
	if e.process.Gone() {
		k.poll(e)
	} else {
		e.change.timer, _ = k.c.SendAfter(k.g.kind.Shutdown, k.pid, outOfTime[K]{e})
	}
}

// leaves records that the process of e ends.
func (k *keeper[K]) leaves(e *entry[K]) {
	e.word.Or(closed)
	if e.change == nil {
		e.change = new(change[K])
	}
	e.change.phase = ending
}

func (e *entry[K]) is(p phase) bool { return e.change != nil && e.change.phase == p }

// exited handles an exit signal.
func (k *keeper[K]) exited(m node.Exited) {
	e := k.byPID[m.From]
	switch {
	case e != nil && e.process.Gone(): // otherwise it only has sent such a signal
		if e.change == nil {
			k.leaves(e)
		}
		e.change.reason, e.change.exited = m.Reason, true
		k.settle(e)
	case e == nil && k.ending == nil && (m.From.IsZero() || m.From == k.c.Parent()):
		k.stop(m.Reason)
	}
}

// poll looks again later whether the process of e is over.
func (k *keeper[K]) poll(e *entry[K]) {
	ch := e.change
	if ch.polling {
		return
	}
	ch.polling = true
	if ch.polls++; ch.polls <= quickLooks {
		k.c.Send(k.pid, look[K]{e})
	} else {
		k.c.SendAfter(min(firstLook<<min(ch.polls-quickLooks-1, 20), lastLook), k.pid, look[K]{e})
	}
}

// settle handles the end of the process of e once its code has returned.
func (k *keeper[K]) settle(e *entry[K]) {
	p, ch := e.process, e.change
	if k.byPID[p.PID()] != e || ch == nil {
		return
	}
	if ch.polling = false; !p.Over() || !ch.exited && ch.polls < sureLooks {
		k.poll(e)
		return
	}
	if !ch.exited { // it is not linked to this keeper
		ch.reason = p.Reason()
	}
	delete(k.byPID, p.PID())
	k.gone()
	abnormal := !expected(ch.reason)
	switch {
	case ch.phase == starting && ch.ignored:
		k.failed(e, node.ErrIgnore)
		return
	case abnormal:
		k.report(e)
	}
	switch {
	case k.ending != nil:
		k.answer(e, ErrEnded)
		k.remove(e)
	case ch.phase == starting:
		k.failed(e, &node.ExitError{Reason: ch.reason})
	case ch.why == 0 && abnormal:
		if time.Now().UnixNano()-p.Started > int64(k.g.kind.Backoff) {
			ch.failure = nil
		}
		k.failed(e, &node.ExitError{Reason: ch.reason})
	default:
		if ch.why > counter.KeyedEnded {
			k.count(ch.why)
		}
		waiting := ch.waiting
		k.remove(e)
		if len(waiting) > 0 {
			k.add(e.key, waiting)
		}
	}
}

// expected reports whether a process may end with a reason.
func expected(reason any) bool {
	t, ok := reason.(wire.Tuple)
	return reason == any(node.Normal) || reason == any(node.Shutdown) || ok && len(t) == 2 && t[0] == any(node.Shutdown)
}

// report logs the end of a process as a supervisor does.
func (k *keeper[K]) report(e *entry[K]) {
	log := k.node.Log()
	if !log.Enabled(context.Background(), slog.LevelError) {
		return
	}
	decision := "the process of this key is started again at its next use"
	switch {
	case k.ending != nil:
		decision = "none: the group ends"
	case e.change.why != 0:
		decision = "none: it was to end"
	case k.g.kind.Restart:
		decision = "restart the process"
	}
	attrs := []any{"supervisor", string(k.g.kind.Name), "decision", decision}
	if !k.node.Inside(process.Key{}).ReportCrash(e.change.reason, attrs...) {
		log.Error("supervisor report", append(attrs, "process", e.process.PID().String(), "reason", sysmsg.Words(e.change.reason))...)
	}
}

// gone counts the end of a process.
func (k *keeper[K]) gone() {
	k.g.processes.Add(-1)
	k.count(counter.KeyedEnded)
}

func (k *keeper[K]) count(what int) {
	k.g.counts[what].Add(1)
	k.node.Inside(process.Key{}).Count(counter.Keyed[what], string(k.g.kind.Name))
}

// remove forgets e, which has no process, and gives its place to the next in the line.
func (k *keeper[K]) remove(e *entry[K]) {
	k.g.table.remove(e)
	k.unlink(e)
	k.end(e)
	k.places--
	for k.places < k.g.kind.Max && len(k.line) > 0 {
		next := k.line[0]
		k.line[0], k.line = nil, k.line[1:]
		if slices.ContainsFunc(next.change.waiting, func(w waiter[K]) bool { return w.Pending() }) {
			k.place(next)
		} else {
			k.g.table.remove(next)
		}
	}
}

// push makes e the entry that was used last.
func (k *keeper[K]) push(e *entry[K]) {
	e.seen, e.prev, e.next = k.ticked, k.last, nil
	if k.last == nil {
		k.first = e
	} else {
		k.last.next = e
	}
	k.last = e
}

func (k *keeper[K]) unlink(e *entry[K]) {
	if k.next == e {
		k.next = e.next
	}
	if e.prev == nil {
		k.first = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		k.last = e.prev
	} else {
		e.next.prev = e.prev
	}
}

// renew is push for an entry that has a place.
func (k *keeper[K]) renew(e *entry[K]) {
	k.unlink(e)
	k.push(e)
}

// beat handles a tick.
func (k *keeper[K]) beat() {
	k.ticked++
	if k.g.kind.Memory > 0 {
		k.measure()
	}
	if k.next == nil && k.ending == nil {
		k.next = k.first
		k.sweep()
	}
	k.wind()
}

// measure sets the excess, once for each cycle of the collector: what has ended is in use until the next.
func (k *keeper[K]) measure() {
	now := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(now)
	if cycles := now[0].Value.Uint64(); cycles != k.cycles {
		k.cycles, k.excess = cycles, 0
		if now[1].Value.Uint64() > k.g.kind.Memory {
			k.excess = (len(k.byPID) + fraction - 1) / fraction
		}
	}
}

// sweep looks at the next entries, and ends processes that have been idle for long. Those that are not idle, or have been
// used since the last sweep, become the last of the list.
func (k *keeper[K]) sweep() {
	for range atOnce {
		e := k.next
		if e == nil || e.seen == k.ticked || k.ending != nil {
			k.next = nil
			return
		}
		k.next = e.next
		old := k.rounds > 0 && k.ticked-e.seen >= k.rounds
		switch {
		case e.change != nil && e.change.phase != running:
		case e.process.Gone():
			k.leaves(e)
			k.poll(e)
		case e.takeMark(), e.busy():
			k.renew(e)
		case !old && k.excess == 0:
		case !k.idle(e):
			k.renew(e)
		case old:
			k.finish(e, counter.KeyedIdle)
		default:
			k.excess--
			k.finish(e, counter.KeyedMemory)
		}
	}
	k.c.Send(k.pid, sweep{})
}

// kill kills the process of e, or of all if e is nil, which has not ended in time.
func (k *keeper[K]) kill(e *entry[K]) {
	if e != nil {
		if e.is(ending) {
			k.c.Exit(e.process.PID(), node.Kill)
		}
		return
	}
	k.killed = true
	for pid, e := range k.byPID {
		if k.c.Exit(pid, node.Kill); e.process.Over() {
			k.g.table.remove(e)
			k.gone()
			delete(k.byPID, pid)
		}
	}
}

// stop ends all processes, and then the group.
func (k *keeper[K]) stop(reason any) {
	k.ending = reason
	line := k.line
	k.line = nil
	for _, e := range line {
		k.answer(e, ErrEnded)
		k.g.table.remove(e)
	}
	for e, next := k.first, (*entry[K])(nil); e != nil; e = next {
		next = e.next
		switch {
		case e.is(failed):
			k.remove(e)
		case !e.is(ending):
			k.finish(e, counter.KeyedEnded)
		}
	}
	k.c.SendAfter(k.g.kind.Shutdown, k.pid, outOfTime[K]{})
}
