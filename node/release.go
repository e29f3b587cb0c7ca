package node

import (
	"strconv"
	"time"

	"github.com/actornode/actornode/node/internal/erpc"
	"github.com/actornode/actornode/wire"
)

// releaseTimeout bounds the question for a peer's release.
const releaseTimeout = 5 * time.Second

// release is what a peer says of itself.
type release struct {
	told   chan struct{} // closed when number is set, or will not be
	number int
}

// askRelease is the goroutine that asks a peer for its OTP release: started when
// the peer is connected, ended by the answer, the connection's end or a timeout.
// Some system messages are not alike in all releases.
func (p *peer) askRelease() {
	defer close(p.release.told)
	ctx, cancel := p.n.env.WithTimeout(p.n.dist.Context(), releaseTimeout)
	defer cancel()
	a := &p.n.acting
	t := a.promise().arm()
	a.applyOn(p, t, erpc.NewFunction(p.name, "erlang", "system_info", []any{wire.Atom("otp_release")}))
	v, err := a.await(ctx, t)
	if err != nil {
		return
	}
	if text, ok := wire.Text(v); ok {
		p.release.number, _ = strconv.Atoi(text)
	}
}

// releaseKnown reports whether release of a node needs no waiting.
func (n *Node) releaseKnown(name Atom) bool {
	p := n.peerNow(name)
	if p == nil {
		return true
	}
	select {
	case <-p.release.told:
		return true
	default:
		return false
	}
}

// release returns the OTP release of a node that is connected, such as 27; 0 if it
// is none, or does not say. Each node is asked when it connects; until it has
// answered, release waits, at most 5 s.
func (n *Node) release(name Atom) int {
	p := n.peerNow(name)
	if p == nil {
		return 0
	}
	select {
	case <-p.release.told:
		return p.release.number
	case <-p.Done():
		return 0
	}
}

// peerNow returns a node that is connected or being connected; nil: none.
func (n *Node) peerNow(name Atom) *peer {
	if n.dist == nil {
		return nil
	}
	return n.dist.get(name)
}
