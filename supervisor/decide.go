package supervisor

import (
	"math"
	"time"

	"github.com/actornode/actornode/internal/kernel/calls"
)

// The pure half of a supervisor: what follows from an exit. Nothing here knows a
// process or a clock.

// span says which children an action is for.
type span uint8

const (
	none span = iota
	self      // the child that has exited
	rest      // it and those started after it
	all
)

// action is what a supervisor is to do about a child that has exited, or whose
// restart has failed and is due again.
type action struct {
	report  bool // the exit is to be reported
	drop    bool // the child is not started again
	restart span // these are stopped, in reverse order of start, and started again in order
	end     bool // the supervisor ends with the reason shutdown
	limit   bool // because of too many restarts
}

// decide is what follows from the exit of a child with a reason. others is how
// many other significant children are neither stopped nor gone.
func decide(s *Spec, k *Child, reason any, others int, w *window, now time.Time) action {
	if k.Restart == Permanent || k.Restart == Transient && !calls.IsClean(reason) {
		a := decideRetry(s, w, now)
		a.report = true
		return a
	}
	end := k.Significant && (s.AutoShutdown == AnySignificant || s.AutoShutdown == AllSignificant && others == 0)
	return action{report: !calls.IsClean(reason), drop: true, end: end}
}

// decideRetry decides what follows when the restart of a child is due.
func decideRetry(s *Spec, w *window, now time.Time) action {
	if !w.add(now, s.Period, s.Intensity) {
		return action{drop: true, end: true, limit: true}
	}
	switch s.Strategy {
	case OneForAll:
		return action{restart: all}
	case RestForOne:
		return action{restart: rest}
	}
	return action{restart: self}
}

// window holds the times of recent restarts: never more than the intensity, in a
// ring, so that adding one costs the same however many there are.
type window struct {
	start time.Time // of the first restart: the clock that runs on, whatever is set
	at    []int64   // ns since start; a ring
	first int
	n     int
}

// add notes a restart at now. It reports whether there have been at most limit
// within the period.
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

// longest is the longest wait, 146 years: any more and it would be none.
const longest = 1 << 62

// wait is how long the restart number tries, from 0, has to wait. chance is a
// random number from 0 up to 1.
func (b *Backoff) wait(tries int, chance float64) time.Duration {
	if b.Initial == 0 {
		return 0
	}
	d := min(float64(b.Initial)*math.Pow(b.Factor, float64(tries)), float64(b.Max))
	return time.Duration(min(max(1, d*(1+b.Jitter*(2*chance-1))), longest))
}
