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

// Spin is what a reader knows of how soon messages come. To sleep and to be woken
// takes several times as long as to read a message, to handle it and to answer; on a
// machine that has nothing else to do, where the core sleeps too, ten times. So a reader to
// which a message has come alone spins for a moment: a peer that waits for each answer
// sends the next message soon. It does so while that is of use in every second case at
// least, and only if no other reader of the node does.
type Spin struct {
	Link links.BusyReader // nil: the link cannot spin
	Env  env.Env
	skip int // so many messages it slept after, the last time that it was of no use
	left int // so many it will yet

	rested    time.Time // when it last let the Go scheduler in
	contended bool      // others have needed the core
}

// QuotaOfCPU reports whether the program has a quota of processor time. It is read once.
var QuotaOfCPU = sync.OnceValue(func() bool { return CPUQuota(os.DirFS("/")) })

// SpinTime returns for how long a reader spins on a machine with so many cores where so much
// is asked, 0: the default; -1: not at all. Under a quota a program that spins is made to wait
// later, when there is something to do.
func SpinTime(asked time.Duration, cores int, quota bool) time.Duration {
	switch {
	case asked < 0 || cores < 2 || quota:
		return -1
	case asked == 0:
		return DefaultReadTime
	}
	return asked
}

// Await spins up to d for what comes next, if that is of use. It calls between again and
// again, unless that is nil. spins says that a reader of the node spins.
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

// learn notes whether what was waited for came.
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

// yield lets others run while the reader spins for d. If half of that time goes by until the
// reader runs again, others need the cores.
func (p *Spin) yield(d time.Duration) {
	start := p.Env.Now()
	runtime.Gosched()
	if p.Env.Since(start) > d/2 {
		p.contended = true
	}
}
