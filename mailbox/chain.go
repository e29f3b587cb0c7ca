package mailbox

import (
	"iter"
	"slices"
)

// Chain is a run of messages that are pushed together. The zero value is empty.
type Chain struct {
	newest, oldest *Node
	n              int
}

// Add puts n behind what there is.
func (c *Chain) Add(n *Node) {
	n.next = c.newest
	if c.newest = n; c.oldest == nil {
		c.oldest = n
	}
	c.n++
}

// Len returns the number of messages.
func (c *Chain) Len() int { return c.n }

// All returns the messages, the oldest first. It is for a chain that is not in an
// inbox.
func (c *Chain) All() iter.Seq[any] {
	all := make([]any, 0, c.n)
	for n := c.newest; len(all) < c.n; n = n.next {
		all = append(all, n.Msg)
	}
	slices.Reverse(all)
	return slices.Values(all)
}

// PushChain is Push for all messages of a chain that is not empty, in its order and
// with nothing in between.
func (b *Inbox) PushChain(c *Chain) Result {
	for {
		old := b.head.Load()
		switch old {
		case nil, awake:
			c.oldest.next = nil
		case closed:
			return Closed
		default:
			c.oldest.next = old
		}
		if b.head.CompareAndSwap(old, c.newest) {
			if old == nil {
				return Wake
			}
			return Queued
		}
	}
}
