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

// Owner is a process as those know it who keep it: the process lives at least as long as an *Owner of it can be
// reached. It is used by its pointer only, and not copied. Another node cannot be given one: a send there fails
// with a [*wire.EncodeError], and takes [Owner.PID].
type Owner struct {
	_    [0]sync.Mutex // go vet reports copies, and package isolation shares what an *Owner leads to
	hold *hold
	code *code // of an Actor that its process does not refer to; nil: the process does
}

// Terminator is an Actor that has something to do when it is collected, before its process ends: Terminate is called with
// the reason [Collected], as if it were a handler. An error that it returns says how the process ends instead.
// Such an Actor is kept by its process, so it is not collected if its own state has its Owner, or if a cycle of
// Owners goes through it. Servers of genserver and machines of statem whose state has a method Terminate are such.
type Terminator interface {
	Terminate(c *node.Context, reason any) error
}

// spawner is what each node.Caller is.
type spawner interface {
	SpawnOpt(o node.Options, b node.Actor) (node.PID, error)
}

// Own starts a process that ends, with the reason [Collected], when nobody can reach its Owner and nothing keeps it: see
// the package comment. The errors are those of SpawnOpt of from, and [node.ErrBadOption] for Limits and Mailbox, which
// must not be set, and for the Place of an ordered stage.
func Own(from node.Caller, b node.Actor, o node.Options) (*Owner, error) {
	if o.Mailbox != nil || o.Bounds.Messages != 0 || o.Bounds.Bytes != 0 {
		return nil, fmt.Errorf("%w: a process with an owner has a mailbox of its own: Limits and Mailbox must not be set",
			node.ErrBadOption)
	}
	if o.Place.Inside(process.Key{}).Order != nil {
		return nil, fmt.Errorf("%w: a process with an owner has a mailbox of its own: it cannot be on an ordered stage",
			node.ErrBadOption)
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
	h.pid, h.process = pid, sys.Lookup(pid) // nil: it is over
	h.mu.Unlock()
	runtime.AddCleanup(owner, (*hold).unreachable, h)
	paced.count()
	return owner, nil
}

// adopt makes b the code of the process, and returns what to spawn.
func (h *hold) adopt(owner *Owner, b node.Actor) (node.Actor, error) {
	switch f := b.(type) {
	case nil:
		return nil, node.ErrNilBehaviour
	case node.ProcessFunc:
		h.blocks = true
		return f, nil // SpawnOpt refuses a nil one
	case node.ActorFunc:
		if f == nil {
			return nil, node.ErrNilBehaviour
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

// terminates reports whether an Actor is to be told that it is collected.
func terminates(b node.Actor) bool {
	if _, ok := b.(Terminator); !ok {
		return false
	}
	m, ok := b.(interface{ MayTerminate() bool })
	return !ok || m.MayTerminate()
}

// Self returns the Owner of the Actor whose handler runs, nil if it has none: to be put into messages. An Actor may keep
// it; it is collected nevertheless, unless it is a [Terminator].
func Self(c *node.Context) *Owner {
	p, _ := c.Inside(process.Key{}).Process()
	if h, ok := holdOf(p); ok {
		return h.reach()
	}
	return nil
}

// PID returns the PID of the process. It is as weak as every PID: who has only that does not keep the process.
func (o *Owner) PID() node.PID {
	o.hold.mu.Lock()
	defer o.hold.mu.Unlock()
	return o.hold.pid
}

// Send is Send of from to the process. Other than with the PID, the process is not collected before the message is in its
// mailbox, and so not before it has been handled, even if nobody uses the Owner any more.
func (o *Owner) Send(from node.Caller, msg any) error {
	defer runtime.KeepAlive(o)
	return from.(interface{ Send(node.Dest, any) error }).Send(o.PID(), msg)
}

// Call is [node.Call] to the process of o, which is kept meanwhile.
func Call[R, Q any](ctx context.Context, from node.Caller, o *Owner, req Q) (R, error) {
	defer runtime.KeepAlive(o)
	return node.Call[R](ctx, from, o.PID(), req)
}
