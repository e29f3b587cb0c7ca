package lifetime

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"weak"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
)

// Collected is the exit reason of a process that nobody could reach any more.
const Collected node.Atom = "collected"

// Owner is a reference that keeps a process: the process lives at least as long as its *Owner can be
// reached. Use it only by its pointer, and do not copy it. It cannot be sent to another node: that fails
// with a wire.EncodeError; send [Owner.PID] instead.
type Owner struct {
	_    [0]sync.Mutex // go vet reports copies, and package isolation shares what an *Owner points to
	hold *hold
	code *code // of an Actor whose process does not refer to it; nil: the process does
}

// Terminator is an Actor that has something to do when it is collected, before its process ends: Terminate is called with
// the reason [Collected], like a handler. An error that it returns replaces the exit reason.
// The process keeps such an Actor, so it is not collected if its own state has its Owner, or if a cycle of
// Owners goes through it. Servers of genserver and machines of statem are Terminators if their state has Terminate.
type Terminator interface {
	Terminate(c *node.Context, reason any) error
}

// spawner is what every node.Caller implements.
type spawner interface {
	SpawnOpt(o node.Options, b node.Actor) (node.PID, error)
}

// Own starts a process that ends, with the reason [Collected], when nobody can reach its Owner and nothing keeps it:
// see the package comment. The errors are those of from.SpawnOpt, and [node.ErrArgument] if o sets Limits, Mailbox or
// the Place of an ordered stage.
func Own(from node.Caller, b node.Actor, o node.Options) (*Owner, error) {
	if o.Mailbox != nil || o.Bounds.Messages != 0 || o.Bounds.Bytes != 0 {
		return nil, fmt.Errorf("%w: a process with an owner has a mailbox of its own: Limits and Mailbox must not be set",
			node.ErrArgument)
	}
	if o.Place.Inside(process.Key{}).Order != nil {
		return nil, fmt.Errorf("%w: a process with an owner has a mailbox of its own: it cannot be on an ordered stage",
			node.ErrArgument)
	}
	h := new(hold)
	owner := &Owner{hold: h}
	h.self, h.owner = weak.Make(owner), owner
	wrapped, err := h.adopt(owner, b)
	if err != nil {
		return nil, err
	}
	o.Mailbox = mailbox.Box(h)
	pid, err := from.(spawner).SpawnOpt(o, wrapped)
	if err != nil {
		return nil, err
	}
	sys := from.Inside(process.Key{}).Node().Inside(process.Key{}).System()
	h.mu.Lock()
	h.pid, h.process = pid, sys.Lookup(pid) // nil: it has ended
	h.mu.Unlock()
	runtime.AddCleanup(owner, (*hold).unreachable, h)
	paced.count()
	return owner, nil
}

// adopt makes b the code of the process, and returns what to spawn.
func (h *hold) adopt(owner *Owner, b node.Actor) (node.Actor, error) {
	switch f := b.(type) {
	case nil:
		return nil, node.ErrArgument
	case node.ProcessFunc:
		h.blocks = true
		return f, nil // SpawnOpt refuses a nil one
	case node.ActorFunc:
		if f == nil {
			return nil, node.ErrArgument
		}
	}
	owner.code = &code{behaviour: b}
	if terminates(b) {
		h.code, owner.code = owner.code, nil
	}
	w := &wrapper{h}
	if _, ok := b.(node.Initializer); ok {
		return initializer{w}, nil
	}
	return w, nil
}

// terminates reports whether an Actor must be told that it is collected.
func terminates(b node.Actor) bool {
	if _, ok := b.(Terminator); !ok {
		return false
	}
	m, ok := b.(interface{ MayTerminate() bool })
	return !ok || m.MayTerminate()
}

// Self returns the Owner of the Actor whose handler runs, to put into messages, or nil if it has none. An Actor may keep
// it and is still collected, unless it is a [Terminator].
func Self(c *node.Context) *Owner {
	p, _ := c.Inside(process.Key{}).Process()
	if h, ok := holdOf(p); ok {
		return h.reach()
	}
	return nil
}

// PID returns the PID of the process. It is as weak as every PID: it does not keep the process.
func (o *Owner) PID() node.PID {
	o.hold.mu.Lock()
	defer o.hold.mu.Unlock()
	return o.hold.pid
}

// Send calls from.Send with the PID. Unlike a plain Send to the PID, it keeps the process until the message is in its
// mailbox, and so until it has been handled, even if nobody uses the Owner any more.
func (o *Owner) Send(from node.Caller, msg any) error {
	defer runtime.KeepAlive(o)
	return from.(interface{ Send(node.Dest, any) error }).Send(o.PID(), msg)
}

// Call is [node.Call] to the process of o. It keeps the process meanwhile.
func Call[R, Q any](ctx context.Context, from node.Caller, o *Owner, req Q) (R, error) {
	defer runtime.KeepAlive(o)
	return node.Call[R](ctx, from, o.PID(), req)
}
