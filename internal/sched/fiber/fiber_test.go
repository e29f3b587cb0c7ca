package fiber_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/sched/fiber"
	"github.com/actornode/actornode/internal/testkit"
)

// step is a job that runs a function.
type step struct {
	run  func()
	next *fiber.Fiber
}

func (s *step) Run()               { s.run() }
func (s *step) Next() *fiber.Fiber { return s.next }

// Fibers hand the core round in a ring, and the last one back.
func TestRing(t *testing.T) {
	var p fiber.Pool
	var home fiber.Fiber
	const n, rounds = 5, 4
	ring := make([]*fiber.Fiber, n)
	var order []int
	for i := range ring {
		ring[i] = p.Take(&step{next: &home, run: func() {
			for round := range rounds {
				order = append(order, i)
				if round < rounds-1 || i < n-1 {
					ring[i].To(ring[(i+1)%n])
				}
			}
		}})
	}
	home.To(ring[0])
	require.Len(t, order, n*rounds)
	for k, i := range order {
		require.Equal(t, k%n, i)
	}
	p.Put(&home, ring[n-1])
	for _, f := range ring[:n-1] {
		home.To(f) // to its end
		p.Put(&home, f)
	}
	assert.Zero(t, p.Busy())
	p.Stop()
	gone(t)
}

// gone waits until no goroutine of a fiber is left.
func gone(t *testing.T) {
	t.Helper()
	buf := make([]byte, 1<<24)
	testkit.UntilTrue(t, func() bool {
		return !strings.Contains(string(buf[:runtime.Stack(buf, true)]), "fiber.(*Fiber).work(")
	}, "no goroutine of a fiber is left")
}

// world is the simplest scheduler: workers that resume any fiber they find.
type world struct {
	pool fiber.Pool
	mu   sync.Mutex
	due  []*modelFiber
	jobs int // that have not ended
	left int // to begin
	owed int // steps of those that have begun
	fast int // handed over directly

	workers, dying int
	much           bool // more are dying than may be

	crowds atomic.Int64 // times that a fiber went on before it had left
}

// modelFiber is a fiber with a job.
type modelFiber struct {
	f     *fiber.Fiber
	w     *world
	on    *hand
	steps int
	rnd   *rand.Rand
	goes  atomic.Bool
}

// hand is a worker: the fiber that runs on it, and the one that has just left it.
type hand struct {
	home fiber.Fiber
	left *modelFiber
	over bool // left has ended
	rnd  *rand.Rand
}

// take removes a fiber that is due.
func (w *world) take(rnd *rand.Rand) *modelFiber {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.due) == 0 {
		return nil
	}
	i := rnd.IntN(len(w.due))
	s := w.due[i]
	w.due[i] = w.due[len(w.due)-1]
	w.due = w.due[:len(w.due)-1]
	return s
}

// settle does for the fiber that has left what could not be done before it waited.
func (h *hand) settle(w *world) {
	s := h.left
	h.left = nil
	if s == nil {
		return
	}
	if h.over {
		h.over = false
		w.pool.Put(&h.home, s.f)
		dying, others := w.pool.Count()
		w.mu.Lock()
		w.much = w.much || dying > others+w.workers
		w.dying = max(w.dying, dying)
		w.jobs--
		w.mu.Unlock()
		return
	}
	w.mu.Lock()
	w.due = append(w.due, s)
	w.mu.Unlock()
}

// arrive is what a fiber does first when it goes on, and leave the last before it waits.
func (s *modelFiber) arrive() {
	if s.goes.Swap(true) {
		s.w.crowds.Add(1)
	}
	s.on.settle(s.w)
}

func (s *modelFiber) leave() { s.goes.Store(false) }

func (s *modelFiber) Run() {
	for ; s.steps > 0; s.steps-- {
		s.arrive()
		s.w.mu.Lock()
		s.w.owed--
		s.w.mu.Unlock()
		h := s.on
		if next := s.w.take(s.rnd); next != nil && s.rnd.IntN(4) > 0 {
			h.left, next.on = s, h
			s.w.mu.Lock()
			s.w.fast++
			s.w.mu.Unlock()
			s.leave()
			s.f.To(next.f)
		} else {
			if next != nil {
				s.w.mu.Lock()
				s.w.due = append(s.w.due, next)
				s.w.mu.Unlock()
			}
			h.left = s
			s.leave()
			s.f.To(&h.home)
		}
	}
	s.arrive()
	s.leave()
	s.on.left, s.on.over = s, true
	if s.rnd.IntN(8) == 0 {
		runtime.Goexit()
	}
}

func (s *modelFiber) Next() *fiber.Fiber { return &s.on.home }

// Many fibers on a few workers go on in random order and wait in each other's slots, end and begin, some by
// runtime.Goexit; each does all its steps, one at a time; the ones that cannot end are never more than those that live;
// and in the end none is left.
func TestWorld(t *testing.T) {
	rounds, fast, dying := testkit.Rand(t), 0, 0
	for range 60 {
		seed := rounds.Uint64()
		rnd := rand.New(rand.NewPCG(seed, 1))
		w := &world{left: 1000, jobs: 1000}
		if rnd.IntN(3) > 0 {
			w.pool.Stop() // none is kept
		}
		begin := rnd.IntN(4)
		var wg sync.WaitGroup
		w.workers = 1 + rnd.IntN(4)
		for k := range w.workers {
			h := &hand{rnd: rand.New(rand.NewPCG(seed, uint64(k+2)))}
			wg.Go(func() {
				for {
					var s *modelFiber
					if h.rnd.IntN(4) >= begin {
						s = w.take(h.rnd)
					}
					w.mu.Lock()
					done := w.jobs == 0
					if s == nil && w.left > 0 {
						w.left--
						s = &modelFiber{w: w, steps: 1 + h.rnd.IntN(30), rnd: rand.New(rand.NewPCG(seed, uint64(1000+w.left)))}
						w.owed += s.steps
					}
					w.mu.Unlock()
					if done {
						return
					}
					if s == nil {
						runtime.Gosched()
						continue
					}
					if s.f == nil {
						s.f = w.pool.Take(s)
					}
					s.on = h
					h.home.To(s.f)
					h.settle(w)
				}
			})
		}
		wg.Wait()
		require.False(t, w.much)
		require.Zero(t, w.owed)
		require.Zero(t, w.crowds.Load())
		fast += w.fast
		dying += w.dying
		require.Zero(t, w.pool.Busy())
		w.pool.Stop()
		gone(t)
	}
	require.Positive(t, fast)
	require.Equal(t, fiber.Direct, dying > 0)
}

// A job that panics ends the program, which prints the panic value.
func TestPanic(t *testing.T) {
	if os.Getenv("FIBER_PANICS") != "" {
		var p fiber.Pool
		var home fiber.Fiber
		home.To(p.Take(&step{next: &home, run: func() { panic("out of a job") }}))
		return
	}
	c := exec.Command(os.Args[0], "-test.run=^TestPanic$")
	c.Env = append(os.Environ(), "FIBER_PANICS=1")
	said, err := c.CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 2, exit.ExitCode())
	require.Contains(t, string(said), "panic: out of a job")
}
