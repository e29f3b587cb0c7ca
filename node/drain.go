package node

import (
	"errors"
	"sync/atomic"

	"github.com/actornode/actornode/wire"
)

// systemLimit is what a node that is being drained answers: OTP's word for a
// spawn_request that the node has no room for, which rpc and erpc pass on.
const systemLimit Atom = "system_limit"

// Drain makes the node take on nothing new for others: from now on whatever other
// nodes want to start or call here by name, by spawn, rpc or erpc, is refused with
// system_limit. What runs goes on, links, monitors, messages and calls to processes
// included, and so do spawns from here. It cannot be taken back. Stop is what ends
// the node then.
func (n *Node) Drain() { n.draining.Store(true) }

// Draining reports whether Drain has been called.
func (n *Node) Draining() bool { return n.draining.Load() }

// Shed makes the node take on nothing new from others while on is set, as a program does
// that is short of memory: what other nodes want to start or call here by name is
// refused with system_limit, as [Node.Drain] does it, and so are their connections,
// but for one a second, so that an operator can look at the node. What runs goes on,
// connections that there are included, and those of the native protocol that are being
// mended.
func (n *Node) Shed(on bool) { n.shed.on.Store(on) }

// Shedding reports whether the node does what [Node.Shed] says, and how often it has
// refused something for that so far.
func (n *Node) Shedding() (on bool, refused uint64) { return n.shed.on.Load(), n.shed.refused.Load() }

// shedding is the state of Shed.
type shedding struct {
	on      atomic.Bool
	refused atomic.Uint64
	last    atomic.Int64 // when a connection was let in last, in seconds since 1970
}

// takesNothing reports whether what another node wants to start here is refused.
func (n *Node) takesNothing() bool {
	if n.shed.on.Load() {
		n.shed.refused.Add(1)
		return true
	}
	return n.Draining()
}

// errShedding is why a connection is refused.
var errShedding = errors.New("node: this node is short of memory and accepts only one new connection a second")

// lacksRoom returns why a node that wants to connect, and has proved nothing yet, is
// refused; nil: it is not.
func (n *Node) lacksRoom() error {
	if !n.shed.on.Load() || n.shed.last.Load() != n.env.Now().Unix() {
		return nil
	}
	n.shed.refused.Add(1)
	return errShedding
}

// takeRoom lets a node in that has proved who it is, or returns why not.
func (n *Node) takeRoom() error {
	last, now := n.shed.last.Load(), n.env.Now().Unix()
	if !n.shed.on.Load() || last != now && n.shed.last.CompareAndSwap(last, now) {
		return nil
	}
	n.shed.refused.Add(1)
	return errShedding
}

// refused is the answer to what Drain refuses, by rex.
func refused() any {
	return wire.Tuple{wire.Atom("badrpc"), wire.Tuple{wire.Atom("EXIT"), systemLimit}}
}
