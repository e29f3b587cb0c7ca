package active_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/sched/fiber"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// watcher takes messages beside calls.
type watcher struct {
	back active.Addr[*account]
	seen chan any
}

func (w *watcher) Receive(c *active.Context, msg any) error {
	switch m := msg.(type) {
	case node.PID:
		c.Monitor(m)
	case int:
		v, err := active.Await(c, active.Go(c, w.back, (*account).Deposit, m))
		w.seen <- v
		return err
	case error:
		return m
	case func():
		m()
	}
	w.seen <- msg
	return nil
}

// An object that is a Receiver gets other messages, and its Receive may wait, too. Its errors and panics end the
// process.
func TestReceiver(t *testing.T) {
	log := &logtest.Text{}
	n := nodetest.Start(t, node.Config{Log: log.Logger()})
	back := start(t, n, &account{})
	h := nodetest.NewProbe(t, n)
	for _, c := range []struct {
		last   any
		reason any
	}{
		{errors.New("enough"), nil}, {func() { panic("no") }, nil}, {func() { runtime.Goexit() }, nil},
		{node.ExitWith(node.Atom("done")), node.Atom("done")},
	} {
		w := &watcher{back, make(chan any, 10)}
		r := start(t, n, w)
		ref := h.Monitor(r.Dest())
		require.NoError(t, n.Send(r.Dest(), 5))
		require.Positive(t, testkit.Receive(t, w.seen))

		other := start(t, n, &account{})
		require.NoError(t, n.Send(r.Dest(), other.PID))
		require.Equal(t, other.PID, testkit.Receive(t, w.seen))
		n.Exit(other.Dest(), node.Kill)
		require.Equal(t, node.Killed, testkit.Receive(t, w.seen).(node.Down).Reason)

		require.NoError(t, n.Send(r.Dest(), c.last))
		down := h.ExpectDown(ref)
		if c.reason != nil {
			require.Equal(t, c.reason, down.Reason)
		} else {
			require.IsType(t, &node.Crash{}, down.Reason)
		}
	}
}

// A message that an object does not take is answered or logged, or ends the object.
func TestOtherMessages(t *testing.T) {
	log := &logtest.Text{}
	n := nodetest.Start(t, node.Config{Log: log.Logger()})
	a := start(t, n, &account{})
	require.NoError(t, n.Send(a.Dest(), node.Atom("hello")))
	log.Await(t, "unexpected message")
	_, err := node.Call[int](testkit.Context(t), n, a.Dest(), "what?")
	require.ErrorIs(t, err, node.ErrUnhandled)
	require.ErrorContains(t, err, "with a string, which is no method of it")
	require.Zero(t, result(t, active.Go(n, a, (*account).Deposit, 0)))
}

// A name of an object on another node is refused; an object here is found by its name.
func TestNames(t *testing.T) {
	n := nodetest.Start(t, node.Config{Name: "a@127.0.0.1"})
	_, err := active.Start(n, &account{}, node.Options{Name: "bank"})
	require.NoError(t, err)
	for _, to := range []node.Dest{node.Atom("bank"), node.At{Name: "bank", Node: "a@127.0.0.1"}} {
		bank := active.AddrOf[*account](to)
		require.Equal(t, to, bank.Dest())
		result(t, active.Go(n, bank, (*account).Deposit, 1))
		_, err = active.In(n, bank, &account{})
		require.NoError(t, err)
	}
	_, err = node.Await(testkit.Context(t), n, active.Go(n, active.AddrOf[*account](node.Atom("nobody")), (*account).Deposit, 1))
	require.ErrorIs(t, err, node.ErrNoName)
	_, err = active.In(n, active.AddrOf[*account](node.Atom("nobody")), &account{})
	require.ErrorIs(t, err, node.ErrNoProcess)

	far := wire.NewOrigin(wire.NodeID{Name: "b@127.0.0.1", Creation: 1}).PID(5)
	for _, to := range []node.Dest{far, node.At{Name: "bank", Node: "b@127.0.0.1"}} {
		bank := active.AddrOf[*account](to)
		_, err = node.Await(testkit.Context(t), n, active.Go(n, bank, (*account).Break, 1))
		require.ErrorIs(t, err, node.ErrNotHere)
		require.ErrorContains(t, err, "b@127.0.0.1")
		_, err = active.In(n, bank, &account{})
		require.ErrorIs(t, err, node.ErrNotHere)
	}
	require.Panics(t, func() { active.AddrOf[*account](n.MakeRef()) })
}

// An object awaits on every stage and with every bound of its mailbox.
func TestPlaces(t *testing.T) {
	for name, o := range map[string]node.Options{
		"detached": {Place: node.Detached()},
		"bounded":  {Bounds: mailbox.Bounds{Messages: 2, Policy: mailbox.Block}},
	} {
		t.Run(name, func(t *testing.T) {
			n := nodetest.Start(t, node.Config{})
			a := start(t, n, &caller{})
			back := start(t, n, &account{})
			f, err := active.Start(n, &front{back}, o)
			require.NoError(t, err)
			b, err := active.Start(n, &caller{}, o)
			require.NoError(t, err)
			require.Equal(t, 500, result(t, active.Go(n, a, (*caller).Start, 100)))
			require.Equal(t, 500, result(t, active.Go(n, b, (*caller).Start, 100)))
			waits := active.Go(n, f, (*front).Take, 4)
			for i := range 4 {
				require.NotEmpty(t, result(t, active.Go(n, f, (*front).Pay, 1)), i)
			}
			require.Zero(t, result(t, waits))
			waits = active.Go(n, f, (*front).Take, 4)
			result(t, active.Go(n, f, (*front).Pay, 0))
			n.Exit(f.Dest(), node.Kill)
			_, err = node.Await(testkit.Context(t), n, waits)
			require.Error(t, err)
		})
	}
}

// misuser uses its Context where it must not.
type misuser struct{ kept *active.Context }

//actornode:ignore contextescape what becomes of it is tested
func (m *misuser) Keep(c *active.Context, _ none) (none, error) { m.kept = c; return none{}, nil }

func (m *misuser) UseKept(c *active.Context, _ none) (none, error) {
	m.kept.Suspend()
	return none{}, nil
}

func (m *misuser) Lock(c *active.Context, _ none) (none, error) {
	runtime.LockOSThread()
	c.Suspend()
	return none{}, nil
}

func TestMisuse(t *testing.T) {
	log := &logtest.Text{}
	n := nodetest.Start(t, node.Config{Log: log.Logger()})
	m := start(t, n, &misuser{})
	result(t, active.Go(n, m, (*misuser).Keep, none{}))
	_, err := node.Await(testkit.Context(t), n, active.Go(n, m, (*misuser).UseKept, none{}))
	require.ErrorContains(t, err, "a Context is used outside its activation")
	if fiber.Direct {
		_, err = node.Await(testkit.Context(t), n, active.Go(n, m, (*misuser).Lock, none{}))
		require.ErrorContains(t, err, node.ErrThreadLocked.Error())
	}
	result(t, active.Go(n, m, (*misuser).Keep, none{}))
}

// buffer is the bounded buffer of the works.
type buffer struct{ items, max int }

func (b *buffer) Put(c *active.Context, _ none) (none, error) {
	c.Until(func() bool { return b.items < b.max })
	b.items++
	return none{}, nil
}

func (b *buffer) Get(c *active.Context, _ none) (none, error) {
	c.Until(func() bool { return b.items > 0 })
	if b.items--; b.items < 0 || b.items >= b.max {
		return none{}, errors.New("out of bounds")
	}
	return none{}, nil
}

// Producers and consumers that are objects, goroutines and groups run at random, on all stages.
func TestBoundedBuffer(t *testing.T) {
	n := nodetest.Start(t, node.Config{Stages: 4, Workers: 4})
	b := start(t, n, &buffer{max: 3})
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	var futures []*node.Future[none]
	var users []active.Addr[*user]
	for i := range 8 {
		u, err := active.Start(n, &user{b}, node.Options{Place: node.OnStage(i % 4)})
		require.NoError(t, err)
		users = append(users, u)
		u, err = active.In(n, u, &user{b})
		require.NoError(t, err)
		users = append(users, u)
	}
	for i := range 400 {
		put := i%2 == 0
		if random.IntN(2) == 0 {
			futures = append(futures, active.Go(n, users[random.IntN(len(users))], (*user).Use, put))
		} else if put {
			futures = append(futures, active.Go(n, b, (*buffer).Put, none{}))
		} else {
			futures = append(futures, active.Go(n, b, (*buffer).Get, none{}))
		}
	}
	var all sync.WaitGroup
	for _, f := range futures {
		all.Go(func() {
			_, err := node.Await(testkit.Context(t), n, f)
			if err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		})
	}
	all.Wait()
}

type user struct{ b active.Addr[*buffer] }

func (u *user) Use(c *active.Context, put bool) (none, error) {
	if put {
		return active.Await(c, active.Go(c, u.b, (*buffer).Put, none{}))
	}
	return active.Await(c, active.Go(c, u.b, (*buffer).Get, none{}))
}

// Objects that are killed at random while they wait leave nothing behind.
func TestKillsLeaveNothing(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	unwound := make(chan string, 10_000)
	begun := 0
	for range 100 {
		s := start(t, n, &sleeper{unwound})
		var last *node.Future[none]
		for range random.IntN(5) {
			active.Go(n, s, (*sleeper).Sleep, "x")
			begun++
		}
		last = active.Go(n, s, (*sleeper).Ready, none{})
		if random.IntN(2) == 0 {
			result(t, last)
			n.Exit(s.Dest(), node.Kill)
		} else {
			result(t, last)
			active.Go(n, s, (*sleeper).Stop, any(node.Normal))
		}
	}
	for range begun {
		require.Equal(t, "x", testkit.Receive(t, unwound), "seed %d", seed)
	}
}
