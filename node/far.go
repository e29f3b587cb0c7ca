package node

import "github.com/actornode/actornode/wire/dist"

// remote is another node as links, monitors and exits know it: what is to be told there. *peer
// is one. Nil: no other node is meant, or it cannot be reached. The caller of the first four
// may hold the lock of the process here.
type remote interface {
	// connectLink makes the link between near, which is alive and whose lock the caller holds,
	// and far. False: the connection is over.
	connectLink(near *proc, far PID) bool
	// cutLink takes the link away on behalf of near.
	cutLink(near uint64, far PID)
	// exitLink tells far, if near was linked to it, that near has exited.
	exitLink(near uint64, far PID, reason any)
	// exitSignal is exit/2 for a process there.
	exitSignal(from, to PID, reason any)
	// watch makes m, a monitor of a process there or of the node. False: the connection is over.
	watch(m *monitor) bool
	// unwatch takes it away.
	unwatch(m *monitor)
	// tellDown sends the Down of m, a monitor by a process there, unless it has been taken away.
	tellDown(m *monitor, pid PID, reason any)
	// pace holds the caller up while more waits to be sent there than may.
	pace(a *acting)
	// nodeName is what the node is called.
	nodeName() Atom
}

func (p *peer) nodeName() Atom { return p.name }

func (p *peer) exitSignal(from, to PID, reason any) {
	p.signal(dist.Frame{Op: dist.OpSignal, From: from, To: to, Payload: p.n.values.Outward(reason)})
}

// remoteOf returns the node of a PID, as connected or being connected.
func (n *Node) remoteOf(pid PID) remote { return asRemote(n.reach(pid)) }

// remoteNow is remoteOf without a wish to connect.
func (n *Node) remoteNow(pid PID) remote { return asRemote(n.connected(pid)) }

// remoteNamed is remoteOf for a name.
func (n *Node) remoteNamed(name Atom) remote { return asRemote(n.peer(name)) }

// asRemote is p, nil where it is nil.
func asRemote(p *peer) remote {
	if p == nil {
		return nil
	}
	return p
}
