package peers

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/wire/links"
)

// Spin estimates how soon the next message arrives. Sleeping and waking takes several times as long as reading, handling and
// answering a message; on an idle machine, where the core sleeps too, ten times. So after a message that arrived alone the
// reader spins for a moment: a peer that waits for each answer soon sends the next message. It does so while that succeeds in
// at least every second case, and only if no other reader of the node does.
type Spin struct {
	Link links.BusyReader // nil if the link cannot spin
	Env  env.Env
	skip int // how many messages it slept after, following the last failure
	left int // how many of these are left

	rested    time.Time // when it last called the Go scheduler
	contended bool      // others needed the core
}

// QuotaOfCPU reports whether the program has a CPU quota. It is read once.
var QuotaOfCPU = sync.OnceValue(func() bool { return CPUQuota(os.DirFS("/")) })

// SpinTime returns how long a reader spins on a machine with that many cores, given the setting asked, for which 0 is the
// default; -1 means not at all. Under a quota a program that spins is throttled later, when there is work to do.
func SpinTime(asked time.Duration, cores int, quota bool) time.Duration {
	switch {
	case asked < 0 || cores < 2 || quota:
		return -1
	case asked == 0:
		return DefaultReadTime
	}
	return asked
}

// Await spins up to d for the next frame, if that is expected to succeed. It repeatedly calls between, unless that is nil.
// spins is set while a reader of the node spins.
func (p *Spin) Await(d time.Duration, spins *atomic.Bool, between func()) {
	if p.Link == nil || d <= 0 {
		return
	}
	if p.left > 0 {
		p.left--
		return
	}
	if runtime.GOMAXPROCS(0) < 2 || spins.Load() {
		return
	}
	if now := p.Env.Now(); between == nil && now.Sub(p.rested) > goschedAfter {
		runtime.Gosched()
		p.rested = now
	}
	if !spins.CompareAndSwap(false, true) {
		return
	}
	came := p.Link.Await(d, between)
	spins.Store(false)
	p.learn(came)
}

// learn records whether a frame arrived.
func (p *Spin) learn(came bool) {
	contended := p.contended
	p.contended = false
	if came && !contended {
		p.skip /= 2
		return
	}
	p.skip = min(2*p.skip+1, maxSkip)
	p.left = p.skip
}

// yield lets others run while the reader spins for d. If more than half of that time passes until the reader runs again,
// others need the cores.
func (p *Spin) yield(d time.Duration) {
	start := p.Env.Now()
	runtime.Gosched()
	if p.Env.Since(start) > d/2 {
		p.contended = true
	}
}
