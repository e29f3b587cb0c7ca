package node

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/cgroup"
	"github.com/actornode/actornode/wire"
)

// keen is what a reader knows of how soon messages come. To go to sleep and be woken
// takes several times as long as to read a message, to handle it and to answer; on a
// machine that has nothing else to do, where the core goes to sleep too, ten times. So a
// reader to which a message has come alone stays awake for a moment: who plays ball
// with another node has the next one soon. It does so while that is of use in every
// second case at least, and only if no other reader of the node does. Nor does it while its
// peer is on the same core, which then changes hands with every message: that is quick, too.
type keen struct {
	link wire.Keen // nil: the link cannot wait in this way
	shy  int       // so many messages it slept after, the last time that it was of no use
	wait int       // so many it will yet

	rested  time.Time // when it last let the Go scheduler in
	crowded bool      // others have needed the core: see peer.between
}

// mostShy is how many messages a reader sleeps after, at most, before it tries again.
const mostShy = 255

// awakeBeforeGosched is for how long a reader is awake now and again before it lets the Go
// scheduler in. One that never did would be taken for a goroutine that hogs its processor:
// after 10 ms Go's monitor takes that away, and looks every 20 us for a while. Each time
// another thread is woken, so not too often.
const awakeBeforeGosched = 5 * time.Millisecond

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

// await waits up to d for what comes next, if there is hope. It calls between again and
// again, unless that is nil.
func (k *keen) await(d time.Duration, awake *atomic.Bool, between func()) {
	if k.link == nil || d <= 0 {
		return
	}
	if k.wait > 0 {
		k.wait--
		return
	}
	if runtime.GOMAXPROCS(0) < 2 || awake.Load() || k.link.Beside() {
		return
	}
	if now := time.Now(); between == nil && now.Sub(k.rested) > awakeBeforeGosched {
		runtime.Gosched()
		k.rested = now
	}
	if !awake.CompareAndSwap(false, true) {
		return
	}
	came := k.link.Await(d, between)
	awake.Store(false)
	crowded := k.crowded
	k.crowded = false
	if came && !crowded {
		k.shy /= 2
		return
	}
	k.shy = min(2*k.shy+1, mostShy)
	k.wait = k.shy
}

// expect stays awake for what comes next, if there is hope. A goroutine to which the last
// message may have gone is let go meanwhile, and what it sends is sent: letGo does that.
func (p *peer) expect(letGo func()) {
	if p.guest.Ran() {
		p.keen.await(p.n.dist.cfg.Awake, &p.n.dist.awake, nil)
		return
	}
	p.box.hush()
	p.keen.await(p.n.dist.cfg.Awake, &p.n.dist.awake, letGo)
	p.box.speak()
}

// between lets others have their turn while p is awake and hushes, and sends what they
// have written. If it is long until it is p's turn again, others need the cores.
func (p *peer) between() {
	start := time.Now()
	runtime.Gosched()
	if time.Since(start) > longOwed {
		p.keen.crowded = true
	}
	if b := &p.box; b.due.Load() && b.due.Swap(false) {
		b.utter()
	}
}
