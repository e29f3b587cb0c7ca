package node

import "github.com/actornode/actornode/internal/box"

// SendBytes is Send for a copy of b, which stays the caller's: it may be written anew as
// soon as SendBytes has returned, like what is given to an io.Writer. The message is a
// []byte of its own. For another node the bytes are copied to where they are sent from,
// if they are few, and nothing is allocated; otherwise the copy takes one allocation,
// where Send takes one for what is in the message and one for the message.
func (c *Context) SendBytes(to PID, b []byte) error {
	if c.p.status.Load() == alive && c.node.bytesAway(c.p, c, to, b) {
		return nil
	}
	return c.Send(to, box.Bytes(b))
}

// SendBytes is Send for a copy of b; see [Context.SendBytes].
func (s *Process) SendBytes(to PID, b []byte) error {
	if s.p.status.Load() == alive && s.p.node.bytesAway(&s.p, s.context(), to, b) {
		return nil
	}
	return s.Send(to, box.Bytes(b))
}

// SendBytes is Send for a copy of b; see [Context.SendBytes].
func (n *Node) SendBytes(to PID, b []byte) error {
	if n.bytesAway(nil, nil, to, b) {
		return nil
	}
	return n.Send(to, box.Bytes(b))
}

// bytesAway sends a copy of b to a process of another node, and holds who up while too
// much waits for that; false: it has done nothing.
func (n *Node) bytesAway(who *proc, c *Context, to PID, b []byte) bool {
	p := n.reach(to)
	if p == nil || n.traces() != nil {
		return false
	}
	full, taken := p.box.copied(c, n.sender(who), to, b)
	if full {
		p.pace(who, c)
	}
	return taken
}
