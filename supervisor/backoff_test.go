package supervisor_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/supervisor"
)

// starts notes when a child was started; the start fails, or the child crashes after a while.
type starts struct {
	lives time.Duration // 0: until it is told to end
	fails bool

	mu    sync.Mutex
	began time.Time
	all   []time.Duration // since the first
}

func (r *starts) at() []time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

func (r *starts) start(...any) (node.Actor, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.began.IsZero() {
		r.began = time.Now()
	}
	r.all = append(r.all, time.Since(r.began))
	if r.fails && len(r.all) > 1 {
		return nil, errors.New("no")
	}
	return startFuncs{init: func(c *node.Context) error {
		if r.lives > 0 {
			_, err := c.SendAfter(r.lives, c.Self(), atomA)
			return err
		}
		return nil
	}}, nil
}

func seconds(s ...float64) (d []time.Duration) {
	for _, s := range s {
		d = append(d, time.Duration(s*float64(time.Second)))
	}
	return d
}

// The waits of a child that crashes at once, and those of one that fails to start,
// grow up to the longest.
func TestBackoffGrows(t *testing.T) {
	for _, fails := range []bool{false, true} {
		inBubble(t, nil, func(s *oracleNode) {
			r := &starts{fails: fails, lives: 1}
			s.start(supervisor.Spec{Intensity: 1000, Children: []supervisor.Child{
				{ID: atomA, Start: r.start, Backoff: supervisor.Backoff{Initial: time.Second, Factor: 3, Max: 20 * time.Second}}}})
			time.Sleep(time.Minute)
			at := r.at()
			for i := range at {
				at[i] = at[i].Round(time.Millisecond)
			}
			assert.Equal(s, seconds(0, 1, 4, 13, 33, 53), at)
		})
	}
}

// The waits of a child that has run for long start over.
func TestBackoffReset(t *testing.T) {
	inBubble(t, nil, func(s *oracleNode) {
		r := &starts{}
		sup := s.start(supervisor.Spec{Intensity: 1000, Children: []supervisor.Child{
			{ID: atomA, Start: r.start, Backoff: supervisor.Backoff{Initial: time.Second, Reset: 30 * time.Second}}}})
		for _, lives := range []time.Duration{1, 1, 29, 30, 1, 1} {
			time.Sleep(lives * time.Second)
			s.crash(sup, atomA, atomB)
			for s.infos(sup)[atomA].Restarting {
				time.Sleep(time.Second)
				synctest.Wait()
			}
		}
		//                            wait 1, 2, 4,  1 (30 s of life),   2,    4
		assert.Equal(s, seconds(0, 2, 5, 38, 69, 72, 77), r.at())
		s.end(sup)
	})
}

// An exit that leads to no restart does not lengthen a later wait.
func TestBackoffOfTransient(t *testing.T) {
	inBubble(t, nil, func(s *oracleNode) {
		r := &starts{}
		sup := s.start(supervisor.Spec{Children: []supervisor.Child{
			{ID: atomA, Start: r.start, Restart: supervisor.Transient, Backoff: supervisor.Backoff{Initial: time.Second}}}})
		for range 5 {
			s.crash(sup, atomA, node.Normal)
			_, err := supervisor.RestartChild(background, s.n, sup, atomA)
			require.NoError(s, err)
		}
		s.crash(sup, atomA, atomB)
		time.Sleep(time.Minute)
		assert.Equal(s, seconds(0, 0, 0, 0, 0, 0, 1), r.at())
		s.end(sup)
	})
}

// Restarts count from the exit, and the waits do not reduce their number.
func TestBackoffCounts(t *testing.T) {
	inBubble(t, nil, func(s *oracleNode) {
		r := &starts{lives: time.Millisecond}
		sup := s.start(supervisor.Spec{Intensity: 3, Period: 10 * time.Second, Children: []supervisor.Child{
			{ID: atomA, Start: r.start, Backoff: supervisor.Backoff{Initial: time.Second, Factor: 1}}}})
		assert.Equal(s, node.Exited{From: sup, Reason: node.Shutdown}, s.self.Receive())
		assert.Len(s, r.at(), 4)
		assert.Equal(s, 3*time.Second+4*time.Millisecond, time.Since(r.began))

		r = &starts{fails: true, lives: time.Millisecond} // tries count, too
		sup = s.start(supervisor.Spec{Intensity: 3, Period: 10 * time.Second, Children: []supervisor.Child{
			{ID: atomA, Start: r.start, Backoff: supervisor.Backoff{Initial: time.Second, Factor: 1}}}})
		assert.Equal(s, node.Exited{From: sup, Reason: node.Shutdown}, s.self.Receive())
		assert.Len(s, r.at(), 4)

		r = &starts{lives: time.Millisecond} // if the waits are long enough it goes on for ever
		sup = s.start(supervisor.Spec{Intensity: 3, Period: 10 * time.Second, Children: []supervisor.Child{
			{ID: atomA, Start: r.start, Backoff: supervisor.Backoff{Initial: 4 * time.Second, Factor: 1}}}})
		time.Sleep(time.Hour)
		assert.Len(s, r.at(), 900)
		s.end(sup)
	})
}

// While a child waits, requests get the answers that OTP gives between two tries.
func TestRequestsWhileWaiting(t *testing.T) {
	inBubble(t, nil, func(s *oracleNode) {
		r := &starts{}
		sup := s.start(supervisor.Spec{Intensity: 10, Children: []supervisor.Child{
			{ID: atomA, Start: r.start, Backoff: supervisor.Backoff{Initial: time.Minute}}, {ID: atomB, Start: echo}}})
		s.crash(sup, atomA, atomB)
		info := s.infos(sup)[atomA]
		assert.True(s, info.Restarting)
		assert.True(s, info.PID.IsZero())
		c, err := supervisor.CountChildren(background, s.n, sup)
		require.NoError(s, err)
		assert.Equal(s, supervisor.Counts{Specs: 2, Active: 1, Workers: 2}, c)
		_, err = supervisor.RestartChild(background, s.n, sup, atomA)
		assert.Equal(s, supervisor.ErrRestarting, err)
		assert.Equal(s, supervisor.ErrRestarting, supervisor.DeleteChild(background, s.n, sup, atomA))
		_, err = supervisor.StartChild(background, s.n, sup, supervisor.Child{ID: atomA, Start: echo})
		assert.Equal(s, supervisor.ErrAlreadyPresent, err)

		// A terminated child no longer waits; started by request, it is not started a second time when the wait would
		// have ended.
		require.NoError(s, supervisor.TerminateChild(background, s.n, sup, atomA))
		assert.False(s, s.infos(sup)[atomA].Restarting)
		pid, err := supervisor.RestartChild(background, s.n, sup, atomA)
		require.NoError(s, err)
		time.Sleep(time.Hour)
		assert.Equal(s, pid, s.infos(sup)[atomA].PID)
		assert.Len(s, r.at(), 2)

		// A terminated child stays away.
		s.crash(sup, atomA, atomB)
		require.NoError(s, supervisor.TerminateChild(background, s.n, sup, atomA))
		time.Sleep(time.Hour)
		assert.Len(s, r.at(), 2)
		require.NoError(s, supervisor.DeleteChild(background, s.n, sup, atomA))

		assert.Zero(s, s.end(sup))
	})
}

// A wait does not delay the end.
func TestEndWhileWaiting(t *testing.T) {
	for _, strategy := range []supervisor.Strategy{supervisor.OneForOne, supervisor.OneForAll, supervisor.RestForOne,
		supervisor.SimpleOneForOne} {
		inBubble(t, nil, func(s *oracleNode) {
			r := &starts{}
			sup := s.start(supervisor.Spec{Strategy: strategy, Intensity: 10, Children: []supervisor.Child{
				{ID: atomA, Start: r.start, Backoff: supervisor.Backoff{Initial: time.Hour}}}})
			if strategy == supervisor.SimpleOneForOne {
				pid, err := supervisor.StartDynamic(background, s.n, sup)
				require.NoError(s, err)
				require.NoError(s, s.n.Send(pid, atomB))
			} else {
				s.crash(sup, atomA, atomB)
			}
			synctest.Wait()
			kids, err := supervisor.WhichChildren(background, s.n, sup)
			require.NoError(s, err)
			assert.True(s, kids[0].Restarting)
			assert.Zero(s, s.end(sup))
			time.Sleep(2 * time.Hour)
			assert.Len(s, r.at(), 1)
		})
	}
}

// With one_for_all the other children wait, too; with rest_for_one, those after it.
func TestBackoffOfGroups(t *testing.T) {
	inBubble(t, nil, func(s *oracleNode) {
		a, b, c := &starts{}, &starts{}, &starts{}
		sup := s.start(supervisor.Spec{Strategy: supervisor.RestForOne, Intensity: 10, Children: []supervisor.Child{
			{ID: atomA, Start: a.start},
			{ID: atomB, Start: b.start, Backoff: supervisor.Backoff{Initial: 10 * time.Second, Factor: 1}},
			{ID: 3, Start: c.start},
		}})
		s.crash(sup, atomB, atomB)
		time.Sleep(5 * time.Second)
		infos := s.infos(sup)
		assert.False(s, infos[atomA].PID.IsZero())
		assert.True(s, infos[atomB].Restarting)
		assert.Zero(s, infos[3].PID)
		time.Sleep(10 * time.Second)
		assert.Equal(s, seconds(0), a.at())
		assert.Equal(s, seconds(0, 10), b.at())
		assert.Equal(s, seconds(0, 10), c.at())

		// a takes down the children after it, also one that waits, whose wait is void then, even if it waits again.
		s.crash(sup, atomB, atomB) // at 15
		time.Sleep(5 * time.Second)
		s.crash(sup, atomA, atomB) // at 20
		assert.Equal(s, seconds(0, 20), a.at())
		assert.Equal(s, seconds(0, 10, 20), b.at())
		time.Sleep(2 * time.Second)
		s.crash(sup, atomB, atomB) // at 22
		time.Sleep(time.Minute)
		assert.Equal(s, seconds(0, 20), a.at())
		assert.Equal(s, seconds(0, 10, 20, 32), b.at())
		assert.Equal(s, seconds(0, 10, 20, 32), c.at())
		s.end(sup)
	})
	inBubble(t, nil, func(s *oracleNode) {
		a, b, c := &starts{}, &starts{}, &starts{}
		sup := s.start(supervisor.Spec{Strategy: supervisor.OneForAll, Intensity: 10, Children: []supervisor.Child{
			{ID: atomA, Start: a.start},
			{ID: atomB, Start: b.start, Backoff: supervisor.Backoff{Initial: 10 * time.Second}},
			{ID: 3, Start: c.start, Restart: supervisor.Temporary},
		}})
		s.crash(sup, atomB, atomB)
		infos := s.infos(sup)
		assert.Len(s, infos, 2, "a temporary child is forgotten")
		assert.Zero(s, infos[atomA].PID)
		time.Sleep(time.Minute)
		assert.Equal(s, seconds(0, 10), a.at())
		assert.Equal(s, seconds(0, 10), b.at())
		assert.Equal(s, seconds(0), c.at())
		s.end(sup)
	})
}
