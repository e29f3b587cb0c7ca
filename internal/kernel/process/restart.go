package process

import "time"

const (
	mostEnds   = 10
	KeepPeriod = time.Minute

	firstPause = 10 * time.Millisecond
	lastPause  = time.Second
)

// plan decides when a service is started again, and when it is given up: at once, then after a pause that is doubled from 10 ms
// to 1 s with each end within Period. More than mostEnds within it are too many. It has no clock, and one owner. The zero
// value is that of a service that has never ended.
//
// OTP's kernel_sup allows no restart at all of net_kernel and rex, and 4 an hour of those that can be done without. Here
// a restart loses little, so a few are allowed; one that ends again and again as soon as it is started is given up after
// 3 s.
type plan struct {
	ends  []time.Time // within the last Period
	total int
}

// After is told of an end. It returns how long to wait before the next start; false:
// there have been too many.
func (p *plan) After(now time.Time) (pause time.Duration, ok bool) {
	for len(p.ends) > 0 && now.Sub(p.ends[0]) >= KeepPeriod {
		p.ends = p.ends[1:]
	}
	p.ends = append(p.ends, now)
	p.total++
	k := len(p.ends)
	switch {
	case k > mostEnds:
		return 0, false
	case k == 1:
		return 0, true
	}
	return min(firstPause<<(k-2), lastPause), true
}

// Recent returns how many ends there have been within the Period before the last one.
func (p *plan) Recent() int { return len(p.ends) }

// Total returns how many there have been.
func (p *plan) Total() int { return p.total }
