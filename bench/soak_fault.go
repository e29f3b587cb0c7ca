package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// soakKind is a kind of fault. Its run sets up the fault, injects it, and checks the outcome.
type soakKind struct {
	name   string
	weight int // relative frequency
	run    func(*fault) error
}

var soakKinds = []soakKind{
	{"name", 12, (*fault).names},
	{"alias", 10, (*fault).aliases},
	{"group", 10, (*fault).groups},
	{"crash", 10, (*fault).crash},
	{"giveup", 3, (*fault).giveUp},
	{"link", 15, (*fault).links},
	{"monitor", 15, (*fault).monitors},
	{"spawn", 10, (*fault).spawns},
	{"timer", 10, (*fault).timers},
	{"call", 15, (*fault).calls},
	{"node", 6, (*fault).nodes},
	{"cut", 6, (*fault).cut},
	{"slow", 3, (*fault).slow},
}

const (
	soakAtOnce = 16 // concurrent faults
	soakFixed  = 3  // names of nodes that are reused
	soakShort  = 20 * time.Millisecond
	soakTimer  = 300 * time.Millisecond // the longest timer; the timer of a dead process must not outlast the settling
	soakOutage = time.Second            // maximum time without a new connection: much less than Grace
)

// fault is one fault. The seed and its number determine what it does.
type fault struct {
	s      *soakStand
	r      *rand.Rand
	number uint64
	kind   soakKind
	ctx    context.Context
	mine   []soakProcess
	open   []*node.Process
}

// soakProcess is a process that the fault ends at its end.
type soakProcess struct {
	n   *soakNode
	pid node.PID
}

// next returns the next fault.
func (s *soakStand) next(ctx context.Context) *fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number++
	f := &fault{s: s, r: rand.New(rand.NewPCG(s.seed, s.number)), number: s.number, ctx: ctx}
	sum := 0
	for _, k := range s.kinds {
		sum += k.weight
	}
	at := f.r.IntN(sum)
	for _, k := range s.kinds {
		if at -= k.weight; at < 0 {
			f.kind = k
			break
		}
	}
	s.counts[f.kind.name]++
	return f
}

// inject runs faults until a time or, if count is not 0, count of them. It returns when they have ended.
func (s *soakStand) inject(ctx context.Context, until time.Time, count int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if !s.faulty() {
		select {
		case <-time.After(time.Until(until)):
		case <-ctx.Done():
		}
		return context.Cause(ctx)
	}
	every := time.NewTicker(time.Minute / time.Duration(s.p.Int("faultrate")))
	defer every.Stop()
	slots := make(chan struct{}, soakAtOnce)
	var all sync.WaitGroup
	for done := 0; ctx.Err() == nil; done++ {
		if s.p.Int("count") > 0 && done == max(1, count) || s.p.Int("count") == 0 && time.Now().After(until) {
			break
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			continue
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			continue
		}
		f := s.next(ctx)
		all.Go(func() {
			defer func() { <-slots }()
			if err := f.run(); err != nil {
				cancel(fmt.Errorf("fault %d, %s: %w", f.number, f.kind.name, err))
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// run runs the fault, and cleans up.
func (f *fault) run() error {
	ctx, cancel := context.WithTimeout(f.ctx, f.s.patience)
	defer cancel()
	outer := f.ctx
	f.ctx = ctx
	err := f.kind.run(f)
	for _, h := range f.open {
		h.Close(nil)
	}
	for _, p := range f.mine {
		p.n.Exit(p.pid, node.Kill)
	}
	for _, p := range f.mine {
		if _, lasts := node.AwaitExit(ctx, p.n, p.pid); lasts != nil && err == nil {
			err = fmt.Errorf("a process that was killed does not end: %w", lasts)
		}
	}
	if outer.Err() != nil {
		return nil // the run was aborted
	}
	return err
}

func pick[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

// node returns one of the permanent nodes.
func (f *fault) node() *soakNode { return pick(f.r, f.s.nodes...) }

// two returns two permanent nodes, sometimes the same one.
func (f *fault) two() (a, b *soakNode) { return f.node(), f.node() }

func (f *fault) name(what string) node.Atom { return node.Atom(fmt.Sprint("soak_", what, f.number)) }

func (f *fault) chance(percent int) bool { return f.r.IntN(100) < percent }

func (f *fault) short() time.Duration { return time.Duration(f.r.Int64N(int64(soakShort))) }

// pause waits for d, or until the run ends.
func (f *fault) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-f.ctx.Done():
	}
}

// settles waits until wrong returns "".
func (f *fault) settles(wrong func() string) error {
	for w := wrong(); w != ""; w = wrong() {
		select {
		case <-time.After(soakShort):
		case <-f.ctx.Done():
			return fmt.Errorf("%s, and it stays so", w)
		}
	}
	return nil
}

// handle opens a handle that the fault closes.
func (f *fault) handle(n *soakNode) (*node.Process, error) {
	h, err := n.Open()
	if err == nil {
		f.open = append(f.open, h)
	}
	return h, err
}

// lost returns nil for an error that a lost connection or a timeout may cause.
func lost(err error) error {
	var exit *node.ExitError
	switch {
	case errors.As(err, &exit) && exit.Reason == node.NoConnection,
		errors.Is(err, node.ErrTimeout), errors.Is(err, node.ErrNoConnection), errors.Is(err, context.DeadlineExceeded):
		return nil
	}
	return err
}

// victim starts a process of a random style that executes commands; see obey.
func (f *fault) victim(n *soakNode, o node.Options) (node.PID, error) {
	var b node.Actor = node.ActorFunc(soakActor)
	switch f.r.IntN(4) {
	case 0:
		o.Place = node.Detached()
	case 1:
		b = node.ProcessFunc(soakProcessor)
	case 2:
		b, o.Coroutine = node.ProcessFunc(soakProcessor), true
	}
	pid, err := n.SpawnOpt(o, b)
	if err == nil {
		f.mine = append(f.mine, soakProcess{n, pid})
	}
	return pid, err
}

// tell sends a command to a victim, and waits for its answer.
func (f *fault) tell(from *soakNode, to node.PID, what string, args ...any) (any, error) {
	return node.Call[any](f.ctx, from, to, append(wire.Tuple{wire.Atom(what)}, args...))
}

// deaths are the ways in which a victim may end itself. All except stop are failures.
var deaths = []wire.Atom{"panic", "index", "error", "goexit", "exit", "stop"}
