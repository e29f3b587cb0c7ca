package contract

import "time"

// Pace spaces events evenly at a rate per second. A late caller does not wait until it has caught up. It belongs to one
// goroutine.
type Pace struct {
	every time.Duration
	began time.Time
	count int
}

// NewPace returns a Pace of rate events per second, starting now.
func NewPace(rate int) *Pace {
	return &Pace{every: time.Second / time.Duration(rate), began: time.Now()}
}

// Next counts an event and returns how long to wait before it, or 0 if it is late.
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

// Rate returns the actual number of events per second.
func (p *Pace) Rate() float64 { return float64(p.count) / time.Since(p.began).Seconds() }
