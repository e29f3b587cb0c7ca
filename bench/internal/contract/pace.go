package contract

import "time"

// Pace lets so many things happen a second, evenly. A caller that is late does not wait until
// it has caught up. It belongs to one goroutine.
type Pace struct {
	every time.Duration
	began time.Time
	count int
}

// NewPace returns the pace of rate things a second, from now on.
func NewPace(rate int) *Pace {
	return &Pace{every: time.Second / time.Duration(rate), began: time.Now()}
}

// Next counts one thing and returns how long to wait before it, 0 for what is late.
func (p *Pace) Next() time.Duration {
	p.count++
	return max(0, time.Until(p.began.Add(time.Duration(p.count)*p.every)))
}

// Wait is Next, and sleeps.
func (p *Pace) Wait() {
	if d := p.Next(); d > 0 {
		time.Sleep(d)
	}
}

// Rate returns how many things a second there have been.
func (p *Pace) Rate() float64 { return float64(p.count) / time.Since(p.began).Seconds() }
