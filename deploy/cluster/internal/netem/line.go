package netem

import (
	"errors"
	"math/rand/v2"
	"time"
)

// Rule defines the faults of packets. The zero value does nothing.
type Rule struct {
	Loss    float64       // share of packets that are lost, 0 to 1; 1 is a cut cable
	Corrupt float64       // share of packets of which one bit is flipped
	Reorder float64       // share of packets that skip the delay, and so overtake others
	Delay   time.Duration // of each packet
	Jitter  time.Duration // maximum random change of the delay, in both directions
	Rate    int           // bits per second; 0: no limit
	Backlog int           // bytes that wait because of Rate; further packets are lost. Default: 64 KiB
}

func (r Rule) validate() error {
	for _, share := range []float64{r.Loss, r.Corrupt, r.Reorder} {
		if share < 0 || share > 1 {
			return errors.New("netem: a share of packets is from 0 to 1")
		}
	}
	if r.Delay < 0 || r.Jitter < 0 || r.Jitter > r.Delay || r.Rate < 0 || r.Backlog < 0 {
		return errors.New("netem: delays, rate and backlog are not negative, and the jitter is not greater than the delay")
	}
	return nil
}

// headers is the number of leading bytes that are not corrupted: the IP header, which identifies the packet.
const headers = 20

// line applies a rule to the packets of one direction.
type line struct {
	rule   Rule
	random *rand.Rand
	free   time.Time // when the bandwidth is free again
}

// pass returns when a packet leaves, or ok false if it is lost. changed reports whether it changed the packet.
func (l *line) pass(now time.Time, packet []byte) (at time.Time, changed, ok bool) {
	r := &l.rule
	if l.random.Float64() < r.Loss {
		return now, false, false
	}
	if len(packet) > headers && l.random.Float64() < r.Corrupt {
		packet[headers+l.random.IntN(len(packet)-headers)] ^= 1 << l.random.IntN(8)
		changed = true
	}
	at = now
	if r.Rate > 0 {
		backlog := r.Backlog
		if backlog == 0 {
			backlog = 64 << 10
		}
		if l.free.Before(now) {
			l.free = now
		}
		if l.free.Sub(now).Seconds()*float64(r.Rate)/8 > float64(backlog) {
			return now, false, false
		}
		l.free = l.free.Add(time.Duration(float64(len(packet)) * 8 / float64(r.Rate) * float64(time.Second)))
		at = l.free
	}
	if r.Delay > 0 && l.random.Float64() >= r.Reorder {
		at = at.Add(r.Delay + time.Duration((2*l.random.Float64()-1)*float64(r.Jitter)))
	}
	return at, changed, true
}
