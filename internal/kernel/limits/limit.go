package limits

import "sync/atomic"

// Limit bounds one kind of resource. Create one with [NewLimit].
type Limit struct {
	name    string
	max     atomic.Int64
	used    atomic.Int64
	refused atomic.Uint64
}

// Use is the state of a limit at one moment.
type Use struct {
	Name    string
	Max     int64 // 0 if unlimited
	Used    int64
	Refused uint64 // number of refusals so far
}

// NewLimit returns a limit of max; with 0 it is unlimited and only counts.
func NewLimit(name string, max int64) *Limit {
	l := &Limit{name: name}
	l.max.Store(max)
	return l
}

// SetMax changes the maximum; 0 means unlimited. If max is below what is used, nothing can be taken until enough has been
// given back.
func (l *Limit) SetMax(max int64) { l.max.Store(max) }

// Take takes n and reports whether that was possible; if not, it is counted as refused.
func (l *Limit) Take(n int64) bool {
	if used, max := l.used.Add(n), l.max.Load(); max > 0 && used > max {
		l.used.Add(-n)
		l.refused.Add(1)
		return false
	}
	return true
}

// Add counts n, even beyond the maximum; n may be negative.
func (l *Limit) Add(n int64) { l.used.Add(n) }

// Give gives back n of what was taken or added.
func (l *Limit) Give(n int64) { l.used.Add(-n) }

// Over reports whether more is used than the maximum.
func (l *Limit) Over() bool {
	max := l.max.Load()
	return max > 0 && l.used.Load() > max
}

// Used returns what is used.
func (l *Limit) Used() int64 { return l.used.Load() }

// Max returns the maximum, or 0 if unlimited.
func (l *Limit) Max() int64 { return l.max.Load() }

// Refuse counts a refusal without Take.
func (l *Limit) Refuse() { l.refused.Add(1) }

// Refused returns the number of refusals so far.
func (l *Limit) Refused() uint64 { return l.refused.Load() }

// Use returns the state of the limit, for display.
func (l *Limit) Use() Use { return Use{l.name, l.max.Load(), l.used.Load(), l.refused.Load()} }
