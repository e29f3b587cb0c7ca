package node

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/cgroup"
	"github.com/actornode/actornode/wire/dist"
)

// spinPolicy is what a reader knows of how soon messages come. To sleep and to be woken
// takes several times as long as to read a message, to handle it and to answer; on a
// machine that has nothing else to do, where the core sleeps too, ten times. So a reader to
// which a message has come alone spins for a moment: a peer that waits for each answer
// sends the next message soon. It does so while that is of use in every second case at
// least, and only if no other reader of the node does.
type spinPolicy struct {
	link dist.Keen // nil: the link cannot spin
	skip int       // so many messages it slept after, the last time that it was of no use
	left int       // so many it will yet

	rested    time.Time // when it last let the Go scheduler in
	contended bool      // others have needed the core: see peer.yieldWhileSpinning
}

// maxSkip is how many messages a reader sleeps after, at most, before it spins again.
const maxSkip = 255

// goschedAfter is for how long a reader spins now and again before it lets the Go
// scheduler in. One that never did would be taken for a goroutine that hogs its processor:
// after 10 ms Go's monitor takes that away, and looks every 20 us for a while. Each time
// another thread is woken, so not too often.
const goschedAfter = 5 * time.Millisecond

// quotaOfCPU reports whether the program has a quota of processor time. It is read once.
var quotaOfCPU = sync.OnceValue(func() bool { return cgroup.CPUQuota(os.DirFS("/")) })

// spinTime returns for how long a reader spins on a machine with so many cores where
// Distribution.Awake is asked; -1: not at all. Under a quota whoever spins is made to wait
// later, when there is something to do.
func spinTime(asked time.Duration, cores int, quota bool) time.Duration {
	switch {
	case asked < 0 || cores < 2 || quota:
		return -1
	case asked == 0:
		return defaultAwake
	}
	return asked
}

// await spins up to d for what comes next, if that is of use. It calls between again and
// again, unless that is nil. spins says that a reader of the node spins.
func (p *spinPolicy) await(d time.Duration, spins *atomic.Bool, between func()) {
	if p.link == nil || d <= 0 {
		return
	}
	if p.left > 0 {
		p.left--
		return
	}
	if runtime.GOMAXPROCS(0) < 2 || spins.Load() {
		return
	}
	if now := time.Now(); between == nil && now.Sub(p.rested) > goschedAfter {
		runtime.Gosched()
		p.rested = now
	}
	if !spins.CompareAndSwap(false, true) {
		return
	}
	came := p.link.Await(d, between)
	spins.Store(false)
	contended := p.contended
	p.contended = false
	if came && !contended {
		p.skip /= 2
		return
	}
	p.skip = min(2*p.skip+1, maxSkip)
	p.left = p.skip
}

// spinForNext spins for what comes next, if the policy says so. A goroutine to which the last
// message may have gone runs meanwhile, and what it sends is sent: yield does that.
func (p *peer) spinForNext(yield func()) {
	if p.guest.Ran() {
		p.spin.await(p.n.dist.cfg.Awake, &p.n.dist.spins, nil)
		return
	}
	p.Box.Defer()
	p.spin.await(p.n.dist.cfg.Awake, &p.n.dist.spins, yield)
	p.Box.EndDefer()
}

// yieldWhileSpinning lets others run while p spins and defers, and sends what they have
// written. If half of the time to spin goes by until p runs again, others need the cores.
func (p *peer) yieldWhileSpinning() {
	start := time.Now()
	runtime.Gosched()
	if time.Since(start) > p.n.dist.cfg.Awake/2 {
		p.spin.contended = true
	}
	p.Box.Yield()
}
