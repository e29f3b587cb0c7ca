package inbox

// Node carries one message through a mailbox. A Node belongs to exactly one
// party at a time: the sender until it is pushed, the mailbox until the reader
// drops it, then the goroutine that recycles it. The reader of a default mailbox recycles
// nodes, so that a message needs no allocation beyond itself.
type Node struct {
	next *Node
	Msg  any // nil once the node is free
}

// Free is a stack of recycled nodes with a single owner.
type Free struct {
	top *Node
	n   int
}

// Batch is the number of nodes that are moved at once from a Free list with too many to an empty one.
const Batch = 256

// Get returns a node that carries msg, a recycled one if possible.
func (f *Free) Get(msg any) *Node {
	if n := f.top; n != nil {
		f.top = n.next
		f.n--
		n.next = nil
		n.Msg = msg
		return n
	}
	return &Node{Msg: msg}
}

// Put takes a node without other references.
func (f *Free) Put(n *Node) {
	n.Msg = nil
	n.next = f.top
	f.top = n
	f.n++
}

// Len returns the number of nodes in f.
func (f *Free) Len() int { return f.n }

// Split removes [Batch] nodes from f, which must hold that many, and returns them as a separate list.
func (f *Free) Split() Free {
	top, last := f.top, f.top
	for range Batch - 1 {
		last = last.next
	}
	f.top, last.next = last.next, nil
	f.n -= Batch
	return Free{top, Batch}
}
