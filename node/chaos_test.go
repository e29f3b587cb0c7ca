package node_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"

	"github.com/actornode/actornode/node"
)

// chaos is what its processes and goroutines know about each other.
type chaos struct {
	t *testing.T
	n *node.Node

	over   atomic.Bool  // nobody begins anything any more
	acting atomic.Int64 // acts in progress

	mu   sync.Mutex
	pids []node.PID // the latest victims
	next int
}

// poke makes a victim do something at random.
type poke struct{ seed uint64 }

func (c *chaos) add(pid node.PID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pids) < 200 {
		c.pids = append(c.pids, pid)
		return
	}
	c.pids[c.next%len(c.pids)] = pid
	c.next++
}

func (c *chaos) pick(r *rand.Rand) node.PID {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pids) == 0 {
		return node.PID{}
	}
	return c.pids[r.IntN(len(c.pids))]
}

func chaosName(r *rand.Rand) node.Atom { return node.Atom(fmt.Sprint("name", r.IntN(8))) }

func chaosReason(r *rand.Rand) any {
	return []any{node.Normal, node.Shutdown, node.Kill, "whatever"}[r.IntN(4)]
}

// watches is what a process must know about the monitors that it made: its own invariants, checked as the messages
// come.
type watches struct {
	refs map[node.Ref]watch
	open []node.Ref // may have been answered since
}

type watch uint8

const (
	watching  watch = iota + 1
	answered        // its Down has come
	withdrawn       // demonitored while the target was there: no Down may come
	released        // demonitored without a flush, after the target's exit: one may come
)

func (w *watches) add(ref node.Ref) {
	if w.refs == nil {
		w.refs = make(map[node.Ref]watch)
	}
	w.refs[ref] = watching
	w.open = append(w.open, ref)
}

func (w *watches) down(c *chaos, d node.Down) {
	if was := w.refs[d.Ref]; was != watching && was != released {
		c.t.Errorf("a Down for a monitor in state %d: %v", was, d)
	}
	w.refs[d.Ref] = answered
}

func (w *watches) demonitor(in actortest.Self, r *rand.Rand) {
	if len(w.open) == 0 {
		return
	}
	at := r.IntN(len(w.open))
	ref := w.open[at]
	w.open = slices.Delete(w.open, at, at+1)
	flush := r.IntN(2) == 0
	was := w.refs[ref]
	switch there := demonitor(in, ref, flush); {
	case was == answered:
	case there || flush:
		w.refs[ref] = withdrawn
	default:
		w.refs[ref] = released
	}
}

// act does one thing at random, as seen from inside a process.
func (c *chaos) act(in actortest.Self, w *watches, r *rand.Rand) {
	c.acting.Add(1)
	defer c.acting.Add(-1)
	if c.over.Load() {
		return
	}
	switch r.IntN(12) {
	case 0, 1:
		in.Link(c.pick(r))
	case 2:
		in.Unlink(c.pick(r))
	case 3, 4:
		w.add(in.Monitor(c.pick(r)))
	case 5:
		w.demonitor(in, r)
	case 6:
		in.Exit(c.pick(r), chaosReason(r))
	case 7:
		c.check(c.n.Register(chaosName(r), c.pick(r)), node.ErrNameTaken, node.ErrNoProcess)
		if r.IntN(2) == 0 {
			c.check(c.n.Unregister(chaosName(r)), node.ErrNoName)
		}
	case 8:
		c.check(c.n.Send(chaosName(r), poke{r.Uint64()}), node.ErrNoName)
	case 9:
		c.check(in.Send(c.pick(r), poke{r.Uint64()}), node.ErrExited)
	default:
		c.spawn(in, w, r)
	}
}

func (c *chaos) check(err error, allowed ...error) {
	allowed = append(allowed, node.ErrArgument) // pick may have nobody yet
	if err == nil {
		return
	}
	for _, a := range allowed {
		if errors.Is(err, a) {
			return
		}
	}
	c.t.Errorf("unexpected: %v", err)
}

// spawn makes a victim of any style and pokes it.
func (c *chaos) spawn(in actortest.Self, w *watches, r *rand.Rand) {
	s := styles[r.IntN(3)]
	o := node.Options{Link: r.IntN(3) == 0, Coroutine: s.Options.Coroutine}
	if r.IntN(4) == 0 {
		o.Name = chaosName(r)
	}
	if !s.Blocking && r.IntN(8) == 0 {
		o.Place = node.Detached()
	}
	var own watches
	victim := s.Actor(func(in actortest.Self, m any) error {
		switch m := m.(type) {
		case node.Down:
			own.down(c, m)
		case poke:
			r := rand.New(rand.NewPCG(m.seed, 0))
			switch r.IntN(16) {
			case 0:
				return node.ErrStop
			case 1:
				return node.ExitWith(chaosReason(r))
			case 2:
				panic("chaos")
			case 3:
				in.TrapExit(r.IntN(2) == 0)
			}
			for range r.IntN(4) {
				c.act(in, &own, r)
			}
		}
		return nil
	})
	var pid node.PID
	var err error
	if r.IntN(4) == 0 {
		var ref node.Ref
		if pid, err = in.SpawnOpt(node.Options{Monitor: &ref}, victim); err == nil {
			w.add(ref)
		}
	} else {
		pid, err = in.SpawnOpt(o, victim)
	}
	c.check(err, node.ErrNameTaken, node.ErrExited)
	if err == nil {
		c.add(pid)
		c.check(in.Send(pid, poke{r.Uint64()}), node.ErrExited)
	}
}

// run is one goroutine of the chaos: nobody's victim is its handle.
func (c *chaos) run(steps int, r *rand.Rand) (*node.Process, *watches) {
	h, err := c.n.Open()
	if !assert.NoError(c.t, err) {
		return nil, nil
	}
	h.TrapExit(true)
	w := &watches{}
	for range steps {
		c.act(h, w, r)
		for {
			m, err := h.ReceiveWithin(0, nil)
			if err != nil {
				break
			}
			if d, ok := m.(node.Down); ok {
				w.down(c, d)
			}
		}
	}
	return h, w
}

// Many processes and goroutines do everything possible to each other. Afterwards every monitor has had its one Down, or
// was removed, and nothing is left of any process.
func TestChaos(t *testing.T) {
	const goroutines = 8
	steps := testkit.By(500, 1500, 15_000)
	seed := testkit.Seed(t)
	before := testkit.Goroutines()
	n, err := node.Start(node.Config{Workers: 4, Stages: 4, Blocked: time.Millisecond, StopTimeout: testkit.Limit})
	require.NoError(t, err)
	c := &chaos{t: t, n: n}
	type survivor struct {
		h *node.Process
		w *watches
	}
	survivors := make([]survivor, goroutines)
	var group sync.WaitGroup
	for k := range goroutines {
		group.Go(func() {
			h, w := c.run(steps, rand.New(rand.NewPCG(seed, uint64(k))))
			survivors[k] = survivor{h, w}
		})
	}
	group.Wait()
	c.over.Store(true)
	keep := make(map[node.PID]bool)
	for _, s := range survivors {
		require.NotNil(t, s.h)
		keep[s.h.Self()] = true
	}
	testkit.UntilTrue(t, func() bool {
		left := c.acting.Load() // read first: what it counts may spawn
		for pid := range n.Inside(process.Key{}).Processes() {
			if !keep[pid] {
				left++
				n.Exit(pid, node.Kill)
			}
		}
		return left == 0
	}, "all victims are dead")
	assert.Empty(t, n.Registered())
	assert.Equal(t, goroutines, n.Stats().Processes)
	for _, s := range survivors {
		// The last processes to die may still be sending signals: a process is gone before its links and monitors have
		// been told.
		testkit.UntilTrue(t, func() bool {
			i, err := n.Info(s.h.Self())
			return err == nil && len(i.Links)+len(i.Monitors)+len(i.Watchers) == 0
		}, "all links and monitors are told")
		for {
			m, err := s.h.ReceiveWithin(0, nil)
			if err != nil {
				break
			}
			if d, ok := m.(node.Down); ok {
				s.w.down(c, d)
			}
		}
		for ref, state := range s.w.refs {
			assert.NotEqual(t, watching, state, "no Down for %v", ref)
		}
		s.h.Close(nil)
	}
	require.NoError(t, n.Stop())
	assert.Empty(t, slices.Collect(n.Inside(process.Key{}).Processes()))
	assert.Empty(t, n.Registered())
	assert.Zero(t, n.Stats().Processes)
	testkit.UntilTrue(t, func() bool { return testkit.Goroutines() <= before }, "all goroutines end")
	testkit.UntilTrue(t, func() bool { return n.Stats().Lingering == 0 }, "nobody lingers")
}
