package supervisor

import (
	"math"
	"time"

	"github.com/actornode/actornode/internal/kernel/calls"
)

// The pure half of a supervisor: decisions after an exit. Nothing here depends on a process or a clock.

// span is the set of children that an action applies to.
type span uint8

const (
	none span = iota
	self      // the child that has exited
	rest      // it and those started after it
	all
)

// action is a supervisor's reaction to a child that has exited, or whose restart has failed and is due again.
type action struct {
	report  bool // report the exit
	drop    bool // do not restart the child
	restart span // stop these in reverse order of start, and start them again in order
	end     bool // the supervisor ends with the reason shutdown
	limit   bool // end because of too many restarts
}

// decide returns the action for the exit of a child. others is the number of other significant children that are neither
// stopped nor gone.
func decide(s *Spec, k *Child, reason any, others int, w *window, now time.Time) action {
	if k.Restart == Permanent || k.Restart == Transient && !calls.IsClean(reason) {
		a := decideRetry(s, w, now)
		a.report = true
		return a
	}
	end := k.Significant && (s.AutoShutdown == AnySignificant || s.AutoShutdown == AllSignificant && others == 0)
	return action{report: !calls.IsClean(reason), drop: true, end: end}
}

// decideRetry returns the action for a child whose restart is due.
func decideRetry(s *Spec, w *window, now time.Time) action {
	if !w.add(now, s.Period, s.Intensity) {
		return action{drop: true, end: true, limit: true}
	}
	return action{restart: s.Strategy.span()}
}

// span returns which children are restarted with one that has exited.
func (s Strategy) span() span {
	switch s {
	case OneForAll:
		return all
	case RestForOne:
		return rest
	}
	return self
}

// window holds the times of recent restarts: at most as many as the intensity, in a ring, so that adding one takes constant
// time.
type window struct {
	start time.Time // of the first restart, with a monotonic clock reading
	at    []int64   // ns since start; a ring
	first int
	n     int
}

// add records a restart at now. It reports whether there were at most limit within the period.
func (w *window) add(now time.Time, period time.Duration, limit int) bool {
	if w.at == nil {
		w.start = now
	}
	t := int64(now.Sub(w.start))
	for w.n > 0 && w.at[w.first] < t-int64(period) {
		w.first = (w.first + 1) % len(w.at)
		w.n--
	}
	if w.n >= limit {
		return false
	}
	if w.n == len(w.at) {
		w.grow()
	}
	w.at[(w.first+w.n)%len(w.at)] = t
	w.n++
	return true
}

func (w *window) grow() {
	at := make([]int64, max(4, 2*len(w.at)))
	for i := range w.n {
		at[i] = w.at[(w.first+i)%len(w.at)]
	}
	w.at, w.first = at, 0
}

// longest is the longest wait, 146 years; a longer one could overflow.
const longest = 1 << 62

// wait returns the delay before restart number tries, counted from 0. chance is a random number in [0, 1).
func (b *Backoff) wait(tries int, chance float64) time.Duration {
	if b.Initial == 0 {
		return 0
	}
	d := min(float64(b.Initial)*math.Pow(b.Factor, float64(tries)), float64(b.Max))
	return time.Duration(min(max(1, d*(1+b.Jitter*(2*chance-1))), longest))
}
