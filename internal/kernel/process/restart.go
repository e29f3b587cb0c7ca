package process

import "time"

const (
	mostEnds   = 10
	KeepPeriod = time.Minute

	firstPause = 10 * time.Millisecond
	lastPause  = time.Second
)

// plan decides when a service is restarted, and when it is given up: at once, then after a pause that doubles from 10 ms to 1
// s with each end within KeepPeriod. More than mostEnds within it are too many. It has no clock, and one owner. The zero
// value is that of a service that has never ended.
//
// OTP's kernel_sup allows no restart at all of net_kernel and rex, and 4 an hour of dispensable ones. Here a restart loses
// little, so a few are allowed; a service that repeatedly ends as soon as it is started is given up after 3 s.
type plan struct {
	ends  []time.Time // within the last KeepPeriod
	total int
}

// After records an end. It returns the pause before the next start. ok is false if there have been too many ends.
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

// Recent returns the number of ends within the KeepPeriod before the last one.
func (p *plan) Recent() int { return len(p.ends) }

// Total returns the number of all ends.
func (p *plan) Total() int { return p.total }
