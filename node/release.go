package node

import (
	"strconv"
	"time"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/wire"
)

// releaseTimeout bounds the question for a peer's release.
const releaseTimeout = 5 * time.Second

// AskRelease is part of peers.ClusterOwner: some system messages are not alike in all releases. The question
// ends with the answer, the connection or a timeout.
func (p *peer) AskRelease() (number int) {
	ctx, cancel := p.n.sys.Env.WithTimeout(p.n.dist.Context(), releaseTimeout)
	defer cancel()
	a := &p.n.sys.Plain
	t := a.Promise().NewTicket()
	p.n.applyOn(a, p, t, erpc.NewFunction(p.Name, "erlang", "system_info", []any{wire.Atom("otp_release")}))
	if v, err := a.Await(ctx, t, calls.WaitReply, At{Node: p.Name}); err == nil {
		text, _ := wire.Text(v)
		number, _ = strconv.Atoi(text)
	}
	return number
}

// releaseKnown reports whether release of a node needs no waiting.
func (n *Node) releaseKnown(name Atom) bool {
	return n.dist == nil || n.dist.IsReleaseKnown(name)
}

// release returns the OTP release of a node that is connected, such as 27; 0 if it
// is none, or does not say. Each node is asked when it connects; until it has
// answered, release waits, five seconds at most.
func (n *Node) release(name Atom) int {
	if n.dist == nil {
		return 0
	}
	return n.dist.Release(name)
}
