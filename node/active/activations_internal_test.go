package active

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"

	"github.com/actornode/actornode/internal/sched/fiber"
)

// bench runs the turns of a group one after the other, each on a goroutine of its own.
type bench struct {
	thread
	pool fiber.Pool
	mail mail
}

// mail says whether messages wait.
type mail bool

func (m *mail) Behind() bool { return bool(*m) }

func newBench(t *testing.T) *bench {
	b := &bench{}
	b.Init(&b.pool, &b.mail)
	t.Cleanup(func() {
		b.end()
		require.Zero(t, b.pool.Busy(), "each fiber is put back")
		b.pool.Stop()
	})
	return b
}

// elsewhere calls f on another goroutine, with a fiber that stands for that goroutine.
func elsewhere(f func(home *fiber.Fiber)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(new(fiber.Fiber))
	}()
	<-done
}

func (b *bench) turn(steps int) (more bool) { return b.turnWith(steps, 1000) }

// turnWith runs a turn and reports whether anything is left to do.
func (b *bench) turnWith(steps, extra int) (more bool) {
	elsewhere(func(home *fiber.Fiber) {
		ready, unsure := b.Turn(home, steps, extra)
		more = ready || unsure > 0
	})
	return more
}

func (b *bench) end() { elsewhere(func(home *fiber.Fiber) { b.End(home, func(*activation) {}) }) }

type function func()

func (f function) Run() { f() }

func (b *bench) begin(f func(a *activation)) *activation {
	a := &activation{}
	a.Method = function(func() { f(a) })
	b.Ready(a)
	return a
}

// Suspended activations go on where they were, in the order in which they became ready; the others run meanwhile.
func TestSuspend(t *testing.T) {
	b := newBench(t)
	var log []string
	say := func(format string, a ...any) { log = append(log, fmt.Sprintf(format, a...)) }
	var waiting []*activation
	for i := range 3 {
		waiting = append(waiting, b.begin(func(*activation) {
			say("%d begins", i)
			b.Suspend()
			say("%d goes on", i)
			b.Yield()
			say("%d ends", i)
		}))
	}
	b.begin(func(*activation) { say("none waits") })
	require.False(t, b.turn(100))
	require.Equal(t, []string{"0 begins", "1 begins", "2 begins", "none waits"}, log)
	require.Equal(t, 3, b.Waiting())
	log = nil
	b.Ready(waiting[2])
	b.Ready(waiting[0])
	require.False(t, b.turn(100))
	require.Equal(t, []string{"2 goes on", "0 goes on", "2 ends", "0 ends"}, log)
	require.Equal(t, 1, b.Waiting())
	require.NotNil(t, waiting[1].fiber, "it has begun")
}

// A turn ends after its steps, and the next goes on.
func TestTurnIsBounded(t *testing.T) {
	b := newBench(t)
	n := 0
	b.begin(func(*activation) {
		for ; n < 1000; n++ {
			b.Yield()
		}
	})
	turns := 1
	for b.turn(10) {
		turns++
	}
	require.Equal(t, 1000, n)
	require.Equal(t, 101, turns)
}

// A condition is evaluated when another activation has run, and each activation whose condition holds comes in its
// turn.
func TestUntil(t *testing.T) {
	b := newBench(t)
	value, evaluated := 0, 0
	var got []int
	for i := range 5 {
		b.begin(func(*activation) {
			b.Until(func() bool { evaluated++; return value > 0 })
			value--
			got = append(got, i)
		})
	}
	require.False(t, b.turn(100))
	require.Empty(t, got)
	before := evaluated
	require.False(t, b.turn(100))
	require.Equal(t, before, evaluated, "nothing has run")
	b.begin(func(*activation) { value = 2 })
	require.False(t, b.turn(100))
	require.Equal(t, []int{0, 1}, got)
	require.Zero(t, value)
	require.Equal(t, 3, b.Waiting())
}

// A condition that panics panics in its own activation.
func TestUntilPanics(t *testing.T) {
	b := newBench(t)
	broken, caught := false, []any{}
	b.begin(func(*activation) {
		defer func() { caught = append(caught, recover()) }()
		b.Until(func() bool {
			if broken {
				panic("broken")
			}
			return false
		})
	})
	b.turn(100)
	b.begin(func(*activation) { broken = true })
	b.turn(100)
	require.Equal(t, []any{"broken"}, caught)
	require.Zero(t, b.Waiting())
}

// Neither ready activations nor those whose conditions hold keep the others from running.
func TestNoStarvation(t *testing.T) {
	b := newBench(t)
	over, holding, yields := false, 0, 0
	b.begin(func(*activation) {
		for ; !over; holding++ {
			b.Until(func() bool { return true })
		}
	})
	b.begin(func(*activation) {
		for ; !over; yields++ {
			b.Yield()
		}
	})
	b.turn(1000)
	require.InDelta(t, 500, holding, 2)
	require.InDelta(t, 500, yields, 2)
	over = true
	b.turn(1000)
}

// A method that calls runtime.Goexit ends only its own activation.
func TestGoexit(t *testing.T) {
	b := newBench(t)
	ends := 0
	for i := range 10 {
		a := b.begin(func(a *activation) {
			defer func() { ends++ }()
			if i%2 == 0 {
				b.Suspend()
			}
			runtime.Goexit()
		})
		b.turn(100)
		if i%2 == 0 {
			b.Ready(a)
			b.turn(100)
		}
		require.Equal(t, i+1, ends)
	}
	b.begin(func(*activation) { ends = 100 })
	b.turn(100)
	require.Equal(t, 100, ends)
}

// The end of a group unwinds activations that have begun, and drops those that have not.
func TestEnd(t *testing.T) {
	b := newBench(t)
	unwound, told := 0, 0
	for i := range 20 {
		b.begin(func(*activation) {
			defer func() {
				unwound++
				if i%3 == 0 {
					b.Suspend() // it does not suspend any more
				}
			}()
			if i%2 == 0 {
				b.Until(func() bool { return false })
			}
			b.Suspend()
			t.Error("it goes on")
		})
	}
	b.turn(100)
	b.begin(func(*activation) { t.Error("it begins") })
	elsewhere(func(home *fiber.Fiber) { b.End(home, func(*activation) { told++ }) })
	require.Equal(t, 20, unwound)
	require.Equal(t, 20, told)
	require.Zero(t, b.Waiting())
	require.True(t, b.ended)
	b.begin(func(*activation) { t.Error("it begins") })
	require.False(t, b.turn(100))
}

// Random activations that suspend, yield, wait for conditions, begin others, call runtime.Goexit: one
// runs at a time, each goes on as often as it should, and none is lost.
func TestGroupModel(t *testing.T) {
	random := testkit.Rand(t)
	b := newBench(t)
	running, begun, over, value := false, 0, 0, 0
	var suspended []*activation
	enter := func() { require.False(t, running); running = true }
	leave := func() { require.True(t, running); running = false }
	var begin func(depth int)
	begin = func(depth int) {
		begun++
		b.begin(func(a *activation) {
			enter()
			defer func() { leave(); over++ }()
			mark := random.Uint64()
			for range random.IntN(6) {
				mine := mark
				switch random.IntN(6) {
				case 0:
					suspended = append(suspended, a)
					leave()
					b.Suspend()
					enter()
				case 1:
					leave()
					b.Yield()
					enter()
				case 2:
					want := value - random.IntN(2)
					leave()
					b.Until(func() bool { return value >= want })
					enter()
				case 3:
					value++
				case 4:
					if depth < 3 {
						begin(depth + 1)
					}
				case 5:
					if random.IntN(4) == 0 {
						runtime.Goexit()
					}
				}
				require.Equal(t, mine, mark, "its own stack")
			}
		})
	}
	for range 300 {
		begin(0)
		for len(suspended) > 0 && random.IntN(3) > 0 {
			i := random.IntN(len(suspended))
			b.Ready(suspended[i])
			suspended = append(suspended[:i], suspended[i+1:]...)
		}
		b.turn(1 + random.IntN(20))
	}
	for over < begun {
		for _, a := range suspended {
			b.Ready(a)
		}
		suspended = nil
		value = max(value, 1<<30) // the value never falls: a condition that holds goes on holding
		b.begin(func(*activation) {})
		for b.turn(100) {
		}
	}
	require.Zero(t, b.Waiting())
	require.False(t, running)
}
