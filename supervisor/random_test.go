package supervisor_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// TestRandom does random things to random trees and checks the invariants of doc.go: with seeds from 1 on, but in make
// night from a random one. The flag -seed plays one seed.
func TestRandom(t *testing.T) {
	first, runs := uint64(1), testkit.By[uint64](1000, 10_000, 500_000)
	if testkit.Race {
		runs /= 5
	}
	switch {
	case testkit.SeedChosen():
		first, runs = testkit.Seed(t), 1
	case testkit.At() == testkit.Night:
		first = rand.Uint64() >> 1
	}
	for part := range uint64(runtime.GOMAXPROCS(0)) {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for seed := first + part; seed < first+runs && !t.Failed(); seed += uint64(runtime.GOMAXPROCS(0)) {
				synctest.Test(t, func(t *testing.T) { newRandomRun(t, seed).play() })
			}
		})
	}
}

// randomRun is one random run.
type randomRun struct {
	t     *testing.T
	seed  uint64
	n     *node.Node
	calls bool // start_child and so on are called
	stuck bool // children may start for ever

	mu       sync.Mutex // guards what follows
	r        *rand.Rand
	seq      int
	sups     []*supervisorModel
	children []*childModel
	plain    []node.PID
	open     int // calls that have not been answered
}

// supervisorModel is one life of a supervisor.
type supervisorModel struct {
	w      *randomRun
	spec   supervisor.Spec
	pid    node.PID
	actor  node.Actor // the supervisor itself
	parent *supervisorModel
	up     bool // it has begun
	over   bool // it has ended by itself, not by kill
	told   bool // to end
	backs  bool // children have backoff
	begun  bool // its start has returned
	ending time.Time
	starts []time.Time
	solo   map[node.PID]bool
}

// childModel is a process of a child.
type childModel struct {
	in       *supervisorModel
	id       any
	pid      node.PID
	seq      int // number of its start
	traits   childTraits
	unlinked bool
	ignored  bool // it is about to exit, and the supervisor does not wait, as in OTP
	up       bool
}

// alive reports whether a child stays alive.
func (k *childModel) alive() bool { return !k.ignored && k.in.w.n.IsAlive(k.pid) }

// childTraits is how a child behaves.
type childTraits struct {
	traps   bool
	obeys   int // 0: at once; 1: after a while; 2: never; 3: with another reason; 4: panics
	trouble int // one of this many starts is unusual; 0: none
	plain   bool
}

func newRandomRun(t *testing.T, seed uint64) *randomRun {
	r := rand.New(rand.NewPCG(seed, 17))
	n, err := node.Start(node.Config{Workers: 1 + r.IntN(2), Stages: 1 + r.IntN(4), Blocked: time.Hour,
		Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return &randomRun{t: t, seed: seed, n: n, r: r, calls: r.IntN(3) > 0, stuck: r.IntN(10) == 0}
}

func (w *randomRun) fail(format string, args ...any) {
	w.t.Errorf("-seed=%d: at %s: "+format, append([]any{w.seed, time.Now().Format("04:05.000")}, args...)...)
}

// one picks an element. The caller holds w.mu, as for everything that draws random numbers.
func one[T any](w *randomRun, of ...T) T { return of[w.r.IntN(len(of))] }

func (w *randomRun) chance(percent int) bool { return w.r.IntN(100) < percent }

// supervisorModel makes a supervisor with random children.
func (w *randomRun) supervisorModel(depth int, parent *supervisorModel) *supervisorModel {
	x := &supervisorModel{w: w, parent: parent, solo: make(map[node.PID]bool)}
	x.spec = supervisor.Spec{
		Strategy:     one(w, supervisor.OneForOne, supervisor.OneForAll, supervisor.RestForOne, supervisor.SimpleOneForOne),
		Intensity:    one(w, supervisor.NoRestarts, 0, 1, 2, 5, 20),
		Period:       one(w, 0, 100*time.Millisecond, time.Second),
		AutoShutdown: one(w, supervisor.Never, supervisor.Never, supervisor.AnySignificant, supervisor.AllSignificant),
	}
	if x.spec.Strategy == supervisor.SimpleOneForOne {
		x.spec.Children = []supervisor.Child{w.child(x, "dynamic", depth)}
		return x
	}
	for i := range w.r.IntN(6) {
		x.spec.Children = append(x.spec.Children, w.child(x, wire.Atom(fmt.Sprint("k", i)), depth))
	}
	return x
}

func (w *randomRun) child(x *supervisorModel, id wire.Atom, depth int) supervisor.Child {
	k := supervisor.Child{ID: id, Restart: one(w, supervisor.Permanent, supervisor.Permanent, supervisor.Transient,
		supervisor.Temporary)}
	k.Significant = x.spec.AutoShutdown != supervisor.Never && k.Restart != supervisor.Permanent && w.chance(50)
	if w.chance(20) {
		x.backs = true
		k.Backoff = supervisor.Backoff{Initial: time.Duration(1+w.r.IntN(200)) * time.Millisecond, Max: time.Second,
			Jitter: w.r.Float64()}
	}
	if depth > 0 && w.chance(30) {
		k.Type, k.Shutdown = supervisor.Supervisor, one(w, 0, 0, supervisor.BrutalKill, 100*time.Millisecond)
		k.Start = func(...any) (node.Actor, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			x.starting(id)
			y := w.supervisorModel(depth-1, x)
			return &supervisorActor{y}, nil
		}
		return k
	}
	k.Shutdown = one(w, 0, supervisor.BrutalKill, node.Infinity, time.Millisecond, 100*time.Millisecond)
	nat := childTraits{traps: w.chance(50), trouble: one(w, 0, 0, 0, 10, 4, 2), plain: w.chance(15)}
	nat.obeys = one(w, 0, 0, 0, 1, 2, 3, 4)
	if (k.Shutdown == node.Infinity || k.Shutdown == 0) && nat.obeys == 2 {
		nat.obeys = 1 // otherwise it takes too long until everything is quiet
	}
	if w.chance(10) && !nat.plain {
		k.Options.Place = node.Detached()
	}
	k.Start = func(...any) (node.Actor, error) { return w.start(x, id, nat) }
	return k
}

// starting records a call of Start.
func (x *supervisorModel) starting(id any) {
	w := x.w
	for _, k := range w.children {
		if k.in == x && k.id == id && x.spec.Strategy != supervisor.SimpleOneForOne && k.alive() {
			w.fail("%v of %v is started while %v lives", id, x.pid, k.pid)
		}
	}
	if x.begun = x.begun || supervisor.Begun(x.actor); !x.begun {
		return
	}
	if x.spec.Strategy != supervisor.OneForOne {
		return // the others wait for something between the count and the start, or are started by calls, too
	}
	x.starts = append(x.starts, time.Now())
	times := x.starts
	if n := len(times) - 1 - x.intensity(); !w.calls && !x.backs && n >= 0 && times[len(times)-1].Sub(times[n]) <= x.period() {
		w.fail("%v starts too often: %v", x.pid, times)
	}
}

func (x *supervisorModel) intensity() int {
	switch x.spec.Intensity {
	case 0:
		return 1
	case supervisor.NoRestarts:
		return 0
	}
	return x.spec.Intensity
}

func (x *supervisorModel) period() time.Duration {
	if x.spec.Period == 0 {
		return 5 * time.Second
	}
	return x.spec.Period
}

// start implements a Start.
func (w *randomRun) start(x *supervisorModel, id any, nat childTraits) (node.Actor, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	x.starting(id)
	trouble := 0
	if nat.trouble > 0 && w.r.IntN(nat.trouble) == 0 && (x.begun || w.chance(30)) {
		trouble = 1 + w.r.IntN(8)
	}
	switch trouble {
	case 1:
		return nil, errors.New("no start")
	case 2:
		return nil, node.ErrIgnore
	case 3:
		panic("a start")
	}
	if nat.plain {
		return node.ActorFunc(func(_ *node.Context, m any) error { return node.ExitWith(m) }), nil
	}
	return &childActor{childModel: childModel{in: x, id: id, traits: nat}, trouble: trouble}, nil
}

// childActor is the process of a modelled child.
type childActor struct {
	childModel
	trouble int
	leaving bool
}

type (
	ready  struct{ err error }
	leave  struct{ reason any }
	unlink struct{}
)

func (a *childActor) Init(c *node.Context) error {
	w := a.in.w
	w.mu.Lock()
	defer w.mu.Unlock()
	a.pid = c.Self()
	w.seq++
	a.seq = w.seq
	if c.Parent() != a.in.pid {
		w.fail("%v is no child of %v", a.pid, a.in.pid)
	}
	w.children = append(w.children, &a.childModel)
	c.TrapExit(a.traits.traps)
	wait := time.Duration(w.r.IntN(100)) * time.Millisecond
	switch a.trouble {
	case 4:
		return errors.New("no init")
	case 5:
		a.ignored = true
		return node.ErrIgnore
	case 6:
		panic("an init")
	case 7:
		c.SendAfter(wait, c.Self(), ready{one(w, nil, errors.New("no late init"), node.ExitWith(node.Shutdown))})
		return node.ErrPending
	case 8:
		if w.stuck {
			return node.ErrPending
		}
	}
	a.up = true
	return nil
}

func (a *childActor) Receive(c *node.Context, msg any) error {
	w := a.in.w
	w.mu.Lock()
	defer w.mu.Unlock()
	switch m := msg.(type) {
	case ready:
		if m.err == nil {
			a.up = true
			c.Announce()
		}
		return m.err
	case leave:
		return node.ExitWith(m.reason)
	case error:
		return m
	case string:
		panic(m)
	case unlink:
		if a.up { // before that, OTP's supervisor would hang on it, too
			c.Unlink(c.Parent())
			a.unlinked = true
		}
	case node.Exited:
		if m.From != c.Parent() && !m.From.IsZero() {
			return nil
		}
		if m.Reason == node.Killed {
			return node.ExitWith(m.Reason)
		}
		switch {
		case a.traits.obeys == 0:
			return node.ExitWith(m.Reason)
		case a.traits.obeys == 1 && !a.leaving:
			a.leaving = true
			c.SendAfter(time.Duration(w.r.IntN(200))*time.Millisecond, c.Self(), leave{m.Reason})
		case a.traits.obeys == 3:
			return node.ExitWith(wire.Atom("sulking"))
		case a.traits.obeys == 4:
			panic("a farewell")
		}
	}
	return nil
}

// supervisorActor wraps a supervisor and watches it.
type supervisorActor struct{ *supervisorModel }

func (a *supervisorActor) Init(c *node.Context) error {
	a.w.mu.Lock()
	a.pid, a.up = c.Self(), true
	a.w.sups = append(a.w.sups, a.supervisorModel)
	a.actor = supervisor.New(a.spec)
	a.w.mu.Unlock()
	err := a.actor.(node.Initializer).Init(c)
	a.after(err)
	return err
}

func (a *supervisorActor) Receive(c *node.Context, msg any) error {
	if e, ok := msg.(node.Exited); ok && (e.From == c.Parent() || e.From.IsZero()) {
		a.w.mu.Lock()
		a.told = true
		a.w.mu.Unlock()
	}
	err := a.actor.Receive(c, msg)
	a.after(err)
	return err
}

// after checks the conditions that hold when a supervisor has handled a message.
func (a *supervisorActor) after(err error) {
	w := a.w
	w.mu.Lock()
	defer w.mu.Unlock()
	a.begun = a.begun || supervisor.Begun(a.actor)
	if supervisor.Ending(a.actor) && a.ending.IsZero() {
		a.ending = time.Now()
	}
	if err == nil || err == node.ErrPending || err == node.ErrExited { // the latter: killed meanwhile
		return
	}
	a.over = true
	reason := node.ReasonOf(err)
	if crash, ok := reason.(*node.Crash); ok {
		w.fail("a supervisor crashes: %v\n%s", crash, crash.Stack)
	}
	for _, k := range w.children {
		if k.in == a.supervisorModel && k.alive() {
			w.fail("%v has ended, with %v, but %v lives", a.pid, reason, k.pid)
		}
	}
	for _, y := range w.sups {
		if y.parent == a.supervisorModel && w.n.IsAlive(y.pid) {
			w.fail("%v has ended, with %v, but %v lives", a.pid, reason, y.pid)
		}
	}
	all := a.starts
	early := len(all) < a.intensity() || a.intensity() > 0 && a.ending.Sub(all[len(all)-a.intensity()]) > a.period()
	if early && reason == node.Shutdown && !w.calls && !a.told && a.begun && !a.backs && a.spec.AutoShutdown == supervisor.Never &&
		a.spec.Strategy == supervisor.OneForOne {
		w.fail("%v has ended without need: %v", a.pid, all)
	}
}

// play runs it.
func (w *randomRun) play() {
	r := rand.New(rand.NewPCG(w.seed, 4)) // the driver's own
	defer func() {
		if w.t.Failed() {
			w.t.Logf("repeat with -seed=%d", w.seed)
		}
	}()
	root, err := w.n.Open()
	require.NoError(w.t, err)
	root.TrapExit(true)
	w.mu.Lock()
	top := w.supervisorModel(2, nil)
	w.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	_, err = node.SpawnWait(ctx, root, node.Options{Link: true}, &supervisorActor{top})
	cancel()
	for range 5 + r.IntN(60) {
		if err != nil {
			break // it has not started
		}
		w.event(r)
		switch r.IntN(6) {
		case 0:
			time.Sleep(time.Duration(r.IntN(2000)) * time.Millisecond)
		case 1:
			time.Sleep(time.Duration(r.IntN(50)) * time.Millisecond)
		case 2:
			synctest.Wait()
		case 3:
			w.settle()
		}
	}
	w.settle()
	root.Exit(top.pid, node.Shutdown)
	time.Sleep(restTime)
	synctest.Wait()
	w.end(top)
	root.Close(nil)
	synctest.Wait()
	if n := w.n.Stats().Processes; n > 0 {
		w.fail("%d processes are left", n)
	}
	require.NoError(w.t, w.n.Stop())
}

// event does something at random.
func (w *randomRun) event(r *rand.Rand) {
	w.mu.Lock()
	var alive []*childModel
	for _, k := range w.children {
		if w.n.IsAlive(k.pid) {
			alive = append(alive, k)
		}
	}
	var sups []*supervisorModel
	for _, x := range w.sups {
		if w.n.IsAlive(x.pid) {
			sups = append(sups, x)
		}
	}
	plain := w.plain
	w.mu.Unlock()
	if len(alive) > 0 {
		pid := alive[r.IntN(len(alive))].pid
		switch r.IntN(12) {
		case 0, 1:
			_ = w.n.Send(pid, leave{wire.Atom("oops")})
		case 2:
			_ = w.n.Send(pid, leave{node.Normal})
		case 3:
			_ = w.n.Send(pid, leave{wire.Tuple{node.Shutdown, 1}})
		case 4:
			_ = w.n.Send(pid, errors.New("an error"))
		case 5:
			_ = w.n.Send(pid, "a panic")
		case 6:
			w.n.Exit(pid, node.Kill)
		case 7:
			w.n.Exit(pid, wire.Atom("signal"))
		case 8:
			_ = w.n.Send(pid, unlink{})
		}
	}
	if len(plain) > 0 && r.IntN(4) == 0 {
		_ = w.n.Send(plain[r.IntN(len(plain))], wire.Atom("oops"))
	}
	if len(sups) == 0 {
		return
	}
	x := sups[r.IntN(len(sups))]
	if r.IntN(40) == 0 {
		w.n.Exit(x.pid, []any{node.Kill, node.Shutdown, wire.Atom("signal")}[r.IntN(3)])
	}
	if !w.calls && x.spec.Strategy != supervisor.SimpleOneForOne {
		return
	}
	for range 1 + r.IntN(3) {
		op, id := r.IntN(7), any(wire.Atom(fmt.Sprint("k", r.IntN(8))))
		if x.spec.Strategy == supervisor.SimpleOneForOne && len(alive) > 0 && r.IntN(2) == 0 {
			id = alive[r.IntN(len(alive))].pid
		}
		if !w.calls {
			op = 0
			if r.IntN(20) > 0 {
				return
			}
		}
		w.call(x, op, id)
	}
}

// call makes a request in a goroutine of its own.
func (w *randomRun) call(x *supervisorModel, op int, id any) {
	w.mu.Lock()
	w.open++
	var k supervisor.Child
	if op == 0 {
		k = w.child(x, wire.Atom(fmt.Sprint(id)), 1)
		k.Significant = false
	}
	w.mu.Unlock()
	go func() {
		ctx := context.Background()
		var err error
		switch op {
		case 0:
			if x.spec.Strategy == supervisor.SimpleOneForOne {
				_, err = supervisor.StartDynamic(ctx, w.n, x.pid)
				break
			}
			_, err = supervisor.StartChild(ctx, w.n, x.pid, k)
		case 1:
			err = supervisor.TerminateChild(ctx, w.n, x.pid, id)
		case 2:
			var pid node.PID
			pid, err = supervisor.RestartChild(ctx, w.n, x.pid, id)
			w.mu.Lock()
			x.solo[pid] = true
			w.mu.Unlock()
		case 3:
			err = supervisor.DeleteChild(ctx, w.n, x.pid, id)
		case 4:
			_, err = supervisor.ChildSpec(ctx, w.n, x.pid, id)
		case 5:
			_, err = supervisor.WhichChildren(ctx, w.n, x.pid)
		case 6:
			_, err = supervisor.CountChildren(ctx, w.n, x.pid)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.open--
		var started *supervisor.AlreadyStartedError
		var failed *supervisor.StartError
		var gone *node.ExitError
		switch {
		case err == nil, errors.As(err, &started), errors.As(err, &failed), errors.As(err, &gone),
			errors.Is(err, supervisor.ErrNotFound), errors.Is(err, supervisor.ErrRunning), errors.Is(err, supervisor.ErrRestarting),
			errors.Is(err, supervisor.ErrAlreadyPresent), errors.Is(err, supervisor.ErrSimple):
		default:
			w.fail("request %d: %v", op, err)
		}
	}()
}

// restTime is the longest time until everything is quiet: no child takes more than 200 ms to stop, and no supervisor
// restarts more than 20 times.
const restTime = time.Minute

// settle waits until everything is quiet and checks the conditions that hold then.
func (w *randomRun) settle() {
	time.Sleep(restTime)
	synctest.Wait()
	w.mu.Lock()
	open, sups := w.open, append([]*supervisorModel(nil), w.sups...)
	w.plain = nil
	w.mu.Unlock()
	if open > 0 && !w.stuck {
		w.fail("%d calls are not answered", open)
		return
	}
	for _, x := range sups {
		if w.n.IsAlive(x.pid) && !w.check(x) {
			return
		}
	}
}

// check compares what a supervisor reports with the processes that are alive.
func (w *randomRun) check(x *supervisorModel) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	kids, err := supervisor.WhichChildren(ctx, w.n, x.pid)
	counts, err2 := supervisor.CountChildren(ctx, w.n, x.pid)
	if err != nil || err2 != nil {
		if !w.stuck {
			w.fail("%v does not answer: %v", x.pid, err)
		}
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	listed, active := make(map[node.PID]bool), 0
	last := math.MaxInt
	for _, k := range kids { // from the last one
		if k.Restarting {
			w.fail("%v: %v is still restarting", x.pid, k.ID)
		}
		if k.PID.IsZero() {
			continue
		}
		listed[k.PID] = true
		t := w.childModel(k.PID)
		alive := w.n.IsAlive(k.PID)
		if alive {
			active++
		}
		if !alive && (t == nil || !t.unlinked) {
			w.fail("%v: %v is said to run as %v", x.pid, k.ID, k.PID)
		}
		if t == nil && k.Type == supervisor.Worker {
			w.plain = append(w.plain, k.PID)
		}
		if t == nil || t.unlinked || x.solo[k.PID] || x.spec.Strategy != supervisor.OneForAll &&
			x.spec.Strategy != supervisor.RestForOne {
			continue
		}
		if t.seq > last {
			w.fail("%v: %v was started after the one after it", x.pid, k.ID)
		}
		last = t.seq
	}
	if x.spec.Strategy == supervisor.SimpleOneForOne {
		active = counts.Active
	}
	if counts.Active != active || counts.Workers+counts.Supervisors != len(kids) {
		w.fail("%v: %+v, but %d of %d live", x.pid, counts, active, len(kids))
	}
	for _, t := range w.children {
		if t.in == x && !listed[t.pid] && w.n.IsAlive(t.pid) {
			w.fail("%v: %v lives as %v, unknown to it: %+v", x.pid, t.id, t.pid, kids)
		}
	}
	return true
}

func (w *randomRun) childModel(pid node.PID) *childModel {
	for _, t := range w.children {
		if t.pid == pid {
			return t
		}
	}
	return nil
}

// end checks that all processes have gone, and ends those that may have stayed.
func (w *randomRun) end(top *supervisorModel) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open > 0 {
		w.fail("%d calls are not answered", w.open)
	}
	for _, x := range w.sups {
		if w.n.IsAlive(x.pid) {
			w.fail("the supervisor %v lives", x.pid)
		}
	}
	for _, t := range w.children {
		if !w.n.IsAlive(t.pid) {
			continue
		}
		if t.in.over || !t.unlinked {
			w.fail("%v of %v lives", t.pid, t.in.pid)
		}
		w.n.Exit(t.pid, node.Kill) // its supervisor was killed, and it had no link
	}
}
