package runner_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/wire"
)

// A process's first stage, by what the spawn asks for, the spawning process and Config.Spread.
func TestHome(t *testing.T) {
	s := newPlacedSystem(t)
	own, closed := s.Pool.NewStage(false), s.Pool.NewStage(false)
	onOne, onOwn, onClosed := s.spawn(s.Pool.Stage(1), nil, nil), s.spawn(own, nil, nil), s.spawn(closed, nil, nil)
	closed.Close()
	gone := s.spawn(s.Pool.Stage(0), nil, nil)
	gone.Exit(&s.Plain, "x")
	by := func(r *placedActor) *process.Acting {
		return &process.Acting{System: &s.System, Process: &r.Process, Worker: new(executor.Worker)}
	}
	goroutine := &process.Acting{System: &s.System, Process: s.goroutine()}
	choose := func(k int) *func(int) int {
		f := func(n int) int { require.Equal(t, stages, n); return k }
		return &f
	}
	spread := func(k int) func(wire.PID, int) int {
		return func(_ wire.PID, n int) int { require.Equal(t, stages, n); return k }
	}
	type place = runner.Place
	for what, c := range map[string]struct {
		place  place
		by     *process.Acting
		spread func(wire.PID, int) int
		stage  *executor.Stage // nil: one of the stages that processes are spread over
		pinned bool
		err    error
		says   string
	}{
		"anywhere, from outside":               {by: &s.Plain},
		"anywhere, by a goroutine":             {by: goroutine},
		"anywhere, by a neighbour":             {by: by(onOne), stage: s.Pool.Stage(1)},
		"anywhere, by one on an own stage":     {by: by(onOwn), stage: own, pinned: true},
		"anywhere, by one on a closed stage":   {by: by(onClosed)},
		"spread, from outside":                 {by: &s.Plain, spread: spread(2), stage: s.Pool.Stage(2), pinned: true},
		"spread, by one on a stage":            {by: by(onOne), spread: spread(2), stage: s.Pool.Stage(2), pinned: true},
		"spread, by one on an own stage":       {by: by(onOwn), spread: spread(2), stage: own, pinned: true},
		"spread, by one on a closed stage":     {by: by(onClosed), spread: spread(0), stage: s.Pool.Stage(0), pinned: true},
		"spread, badly":                        {by: &s.Plain, spread: spread(3), says: "Config.Spread returned stage (3): want 0 to 2"},
		"a number":                             {by: by(onOne), place: place{Kind: runner.Number, Number: 2}, stage: s.Pool.Stage(2), pinned: true},
		"a number, although there is a spread": {by: by(onOne), spread: spread(1), place: place{Kind: runner.Number}, stage: s.Pool.Stage(0), pinned: true},
		"a number that is too great":           {by: &s.Plain, place: place{Kind: runner.Number, Number: 3}, says: "OnStage(3): want 0 to 2"},
		"a number below zero":                  {by: &s.Plain, place: place{Kind: runner.Number, Number: -1}, says: "OnStage(-1): want 0 to 2"},
		"a choice":                             {by: &s.Plain, place: place{Kind: runner.Chosen, Choose: choose(1)}, stage: s.Pool.Stage(1), pinned: true},
		"a bad choice":                         {by: &s.Plain, place: place{Kind: runner.Chosen, Choose: choose(9)}, says: "the function of the Place returned stage (9): want 0 to 2"},
		"an own stage":                         {by: by(onOne), place: place{Kind: runner.Own, Stage: own}, stage: own, pinned: true},
		"a closed stage":                       {by: &s.Plain, place: place{Kind: runner.Own, Stage: closed}, err: runner.ErrClosed},
		"beside one":                           {by: &s.Plain, place: place{Kind: runner.Beside, PID: onOne.PID()}, stage: s.Pool.Stage(1), pinned: true},
		"beside one on an own stage":           {by: &s.Plain, place: place{Kind: runner.Beside, PID: onOwn.PID()}, stage: own, pinned: true},
		"beside one that is gone":              {by: &s.Plain, place: place{Kind: runner.Beside, PID: gone.PID()}, err: process.ErrNoProcess, says: gone.PID().String()},
		"beside one on no stage":               {by: &s.Plain, place: place{Kind: runner.Beside, PID: goroutine.PID()}, err: runner.ErrOffStage},
	} {
		stage, pinned, err := c.place.Home(c.by, c.spread)
		if c.err != nil || c.says != "" {
			require.ErrorContains(t, err, c.says, what)
			if c.err != nil {
				require.ErrorIs(t, err, c.err, what)
			}
			continue
		}
		require.NoError(t, err, what)
		require.Equal(t, c.pinned, pinned, what)
		if c.stage == nil {
			require.False(t, stage.IsOwn(), what)
			require.False(t, stage.IsClosed(), what)
		} else {
			require.Same(t, c.stage, stage, what)
		}
	}
	require.True(t, onOne.Pinned(), "somebody wants to be beside it")
}

// Where a running process may be moved, and where it is then. A process on a stage made for it is pinned: invariant 1.
func TestMove(t *testing.T) {
	s := newPlacedSystem(t)
	own, closed, ordered := s.Pool.NewStage(false), s.Pool.NewStage(false), s.Pool.NewStage(false)
	closed.Close()
	order := new(runner.Order)
	gone := s.spawn(s.Pool.Stage(0), nil, nil)
	gone.Exit(&s.Plain, "x")
	r := s.spawn(s.Pool.Stage(0), nil, nil)
	type place = runner.Place
	inOrder := place{Kind: runner.Own, Stage: ordered, Order: order}
	there := s.spawn(ordered, &inOrder, nil)
	for what, c := range map[string]struct {
		place place
		pid   wire.PID
		err   error
	}{
		"gone":                     {place{}, gone.PID(), process.ErrNoProcess},
		"on no stage":              {place{}, s.goroutine().PID(), runner.ErrOffStage},
		"detached":                 {place{Kind: runner.Detached}, r.PID(), runner.ErrDetached},
		"to an ordered stage":      {inOrder, r.PID(), runner.ErrOrdered},
		"to a closed stage":        {place{Kind: runner.Own, Stage: closed}, r.PID(), runner.ErrClosed},
		"beside one that is gone":  {place{Kind: runner.Beside, PID: gone.PID()}, r.PID(), process.ErrNoProcess},
		"beside one on no stage":   {place{Kind: runner.Beside, PID: s.goroutine().PID()}, r.PID(), runner.ErrOffStage},
		"where it is, in an order": {inOrder, there.PID(), nil},
	} {
		require.ErrorIs(t, c.place.Move(&s.Plain, c.pid), c.err, what)
	}
	require.Same(t, s.Pool.Stage(0), r.Process.Stage())
	is := func(want *executor.Stage) func(*executor.Stage) bool {
		return func(s *executor.Stage) bool { return s == want }
	}
	move := func(p place, want *executor.Stage, what string) {
		require.NoError(t, p.Move(&s.Plain, r.PID()))
		s.on(r, is(want), what)
		s.send(r, 1) // it goes on there
		testkit.UntilTrue(t, func() bool { return r.Intake().Len() == 0 }, "it takes its messages")
	}
	move(place{Kind: runner.Number, Number: 1}, s.Pool.Stage(1), "on stage 1")
	move(place{Kind: runner.Own, Stage: own}, own, "on its own stage")
	require.True(t, r.Pinned())
	require.NoError(t, (&place{}).Move(&s.Plain, r.PID()))
	s.on(r, func(s *executor.Stage) bool { return !s.IsOwn() }, "anywhere")
	testkit.UntilTrue(t, func() bool { return !r.Pinned() }, "free")
	move(place{Kind: runner.Beside, PID: there.PID()}, ordered, "beside another")
	ordered.Close()
	require.Equal(t, runner.ErrOrdered, inOrder.Move(&s.Plain, there.PID()))
}

// A process that moves loses no message, and takes messages in order, while others send to it.
func TestMoveLosesNothing(t *testing.T) {
	s := newPlacedSystem(t)
	const n = 3000
	done := make(chan struct{})
	next := 0
	r := s.spawn(s.Pool.Stage(0), nil, func(_ *process.Acting, msg any) {
		require.Equal(t, next, msg)
		if next++; next == n {
			close(done)
		}
	})
	own := s.Pool.NewStage(false)
	places := []runner.Place{{}, {Kind: runner.Own, Stage: own}, {Kind: runner.Number, Number: 1},
		{Kind: runner.Number, Number: 2}}
	for i := range n {
		s.send(r, i)
		if i%10 == 0 {
			require.NoError(t, places[i/10%len(places)].Move(&s.Plain, r.PID()))
		}
	}
	testkit.Receive(t, done)
}

// A process leaves its stage if that was closed before others could find the process.
func TestStarted(t *testing.T) {
	s := newPlacedSystem(t)
	closed := s.Pool.NewStage(false)
	r, stays := s.spawn(closed, nil, nil), s.spawn(s.Pool.Stage(1), nil, nil)
	runner.Started(&r.Process)
	require.Same(t, closed, r.Process.Stage())
	closed.Close()
	runner.Started(&r.Process)
	runner.Started(&stays.Process)
	runner.Started(s.goroutine())
	s.on(r, func(s *executor.Stage) bool { return !s.IsOwn() }, "it has left")
	require.Same(t, s.Pool.Stage(1), stays.Process.Stage())
}

// Evict empties closed stages: each process from one is on an open stage afterwards, with its messages. Evict waits for
// all but the caller.
func TestEvict(t *testing.T) {
	s := newPlacedSystem(t)
	one, two, open := s.Pool.NewStage(false), s.Pool.NewStage(false), s.Pool.NewStage(false)
	var ones, twos []*placedActor
	for range 20 {
		ones, twos = append(ones, s.spawn(one, nil, nil)), append(twos, s.spawn(two, nil, nil))
	}
	stays := s.spawn(open, nil, nil)
	s.goroutine()
	gone := s.spawn(one, nil, nil)
	gone.Exit(&s.Plain, "x")
	closed := func(st *executor.Stage) bool { return st.IsClosed() }
	require.NoError(t, runner.Evict(t.Context(), &s.Plain, closed))
	require.Same(t, one, ones[0].Process.Stage(), "none is closed")
	one.Close()
	two.Close()
	require.NoError(t, runner.Evict(t.Context(), &s.Plain, closed))
	for _, all := range [][]*placedActor{ones, twos} {
		for _, r := range all {
			require.False(t, r.Process.Stage().IsOwn())
			require.Same(t, all[0].Process.Stage(), r.Process.Stage(), "they were together")
			s.send(r, 1)
		}
	}
	for _, r := range append(ones, twos...) {
		testkit.UntilTrue(t, func() bool { return r.handled.Load() == 1 }, "it goes on")
	}
	require.Same(t, open, stays.Process.Stage())
}

// A handler that does not return keeps its process on the stage until the context of Evict ends; the process then moves
// when the turn is over. The process that evicts moves when its own turn is over.
func TestEvictWaits(t *testing.T) {
	s := newPlacedSystem(t)
	closed := s.Pool.NewStage(false)
	goOn, in := make(chan struct{}), make(chan struct{})
	busy := s.spawn(closed, nil, func(*process.Acting, any) { close(in); <-goOn })
	s.send(busy, 1)
	testkit.Receive(t, in)
	closed.Close()
	errEnd := errors.New("end")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errEnd)
	is := func(st *executor.Stage) bool { return st == closed }
	require.ErrorIs(t, runner.Evict(ctx, &s.Plain, is), errEnd)
	require.Same(t, closed, busy.Process.Stage())
	close(goOn)
	s.on(busy, func(st *executor.Stage) bool { return st != closed }, "it has left")

	last := s.Pool.NewStage(false)
	by := s.spawn(last, nil, nil)
	s.run(by, func(a *process.Acting) {
		last.Close()
		is := func(st *executor.Stage) bool { return st == last }
		if err := runner.Evict(context.Background(), a, is); err != nil || by.Process.Stage() != last {
			panic("it does not wait for itself, and moves nobody within a turn")
		}
	})
	s.on(by, func(st *executor.Stage) bool { return st != last }, "it has left")
}
