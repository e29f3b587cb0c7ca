package global

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/kernel/global"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

// Errors of this package; callers compare them with errors.Is.
var (
	ErrNotPublished = errors.New("global: the node is hidden: set Distribution.Published to global.Join")
	ErrTaken        = errors.New("global: another process has the name, or the process has another name")
)

// Methods that resolve a clash: two processes have the same name when two partitions become one. The function is called
// on the node of one of the processes, with the name and both PIDs, and returns the PID that keeps the name,
// or the atom none. One of a program is a function that its node exports: see package rpc.
var (
	// RandomExit kills the process whose node has the greater name. It is the default.
	RandomExit = tables.RandomExit.(wire.Export)
	// RandomNotify sends {global_name_conflict, Name} to that process.
	RandomNotify = tables.RandomNotify.(wire.Export)
	// NotifyAll sends {global_name_conflict, Name, OtherPid} to both. Neither keeps the name.
	NotifyAll = tables.NotifyAll.(wire.Export)
)

// Options of a registration. The zero value works.
type Options struct {
	// Method resolves clashes. Default: RandomExit.
	Method wire.Export
	// Again takes the name from the process that has it: re_register_name.
	Again bool
}

// Register gives a process of any node a name on all nodes of the cluster: global:register_name. The process has the
// name until it exits, or until Unregister. Register waits for the lock on names. Errors: [ErrTaken], [*wire.EncodeError],
// [ErrNotPublished], those of [node.Call]; after the end of ctx the registration goes on.
func Register(ctx context.Context, from node.Caller, name any, pid node.PID, o Options) error {
	if o.Method == (wire.Export{}) {
		o.Method = RandomExit
	}
	if o.Method.Arity != 3 {
		return fmt.Errorf("global: the method %v has %d arguments: want 3, the name and two PIDs", o.Method, o.Method.Arity)
	}
	if err := check(name); err != nil {
		return err
	}
	ok, err := ask[bool](ctx, from, global.Registering{Name: name, PID: pid, Method: o.Method, Again: o.Again})
	if err == nil && !ok {
		return fmt.Errorf("%w: %s", ErrTaken, wire.Format(name))
	}
	return err
}

// Unregister removes a name on all nodes: global:unregister_name. Errors: [ErrNotPublished], those of [node.Call].
func Unregister(ctx context.Context, from node.Caller, name any) error {
	_, err := ask[bool](ctx, from, global.Unregistering{Name: name})
	return err
}

// Whois returns the process that has a name: global:whereis_name. It looks at a table of this node.
func Whois(n *node.Node, name any) (node.PID, bool) { return system(n).Global.Whois(name) }

// Names returns all names, unordered: global:registered_names. Binaries are strings.
func Names(n *node.Node) []any { return system(n).Global.Names() }

// Sync waits until this node has the same names as others that it is connected to, all by default: global:sync. Errors:
// [ErrNotPublished], those of [node.Call].
func Sync(ctx context.Context, from node.Caller, nodes ...node.Atom) error {
	if len(nodes) == 0 {
		nodes = of(from).Nodes()
	}
	_, err := ask[bool](ctx, from, global.Syncing{Nodes: nodes})
	return err
}

// Disconnect ends the connections to all visible nodes, without other nodes taking them for lost: global:disconnect. It
// returns those nodes. Errors: [ErrNotPublished], those of [node.Call].
func Disconnect(ctx context.Context, from node.Caller) ([]node.Atom, error) {
	return ask[[]node.Atom](ctx, from, global.Leaving{})
}

// State is what a node knows about the others.
type State struct {
	Known     []node.Atom // the nodes that share names with this one, sorted
	Synced    []node.Atom // those of them that have confirmed it
	Unreached []node.Atom // nodes of the cluster that could not be connected in the last five minutes, sorted
	Locks     int         // resources that are locked on this node
	Quiet     bool        // no handshake, lock or request is under way
}

// Look returns the state. Errors: [ErrNotPublished], those of [node.Call].
func Look(ctx context.Context, from node.Caller) (State, error) {
	s, err := ask[global.State](ctx, from, global.Looking{})
	return State(s), err
}

// ask calls the name server.
func ask[R, Q any](ctx context.Context, from node.Caller, req Q) (R, error) {
	if system(of(from)).Global == nil {
		var none R
		return none, ErrNotPublished
	}
	return node.Call[R](ctx, from, global.Name, req)
}

func of(from node.Caller) *node.Node { return from.Inside(process.Key{}).Node() }

func system(n *node.Node) *process.System { return n.Inside(process.Key{}).System() }

// check returns an error if a term cannot be sent to other nodes.
func check(terms ...any) error {
	for _, t := range terms {
		if _, err := etf.Append(nil, t); err != nil {
			return fmt.Errorf("global: a name, a resource and a requester must be Erlang terms: %w", &wire.EncodeError{Err: err})
		}
	}
	return nil
}

// ID is a resource to lock and its requester: two requesters of one resource exclude each other. Both are any terms.
type ID struct{ Resource, Requester any }

func (id ID) term() wire.Tuple { return wire.Tuple{id.Resource, id.Requester} }

// TryLock locks a resource on nodes, by default on this one and all visible ones: global:set_lock without retries. False:
// another requester has it. A lock ends with Unlock by the process that set it, or with that process; a
// plain goroutine's lock ends with Unlock by a plain goroutine of the same node, or with the node. Missing nodes do not
// count. Errors: [*wire.EncodeError], [ErrNotPublished], the error of ctx; then nothing is locked.
func TryLock(ctx context.Context, from node.Caller, id ID, nodes ...node.Atom) (bool, error) {
	if err := check(id.Resource, id.Requester); err != nil {
		return false, err
	}
	if system(of(from)).Global == nil {
		return false, ErrNotPublished
	}
	if err := cause.Of(ctx); err != nil {
		return false, err
	}
	nodes = lockable(from, nodes)
	all := make([]*node.Future[any], len(nodes))
	for i, at := range nodes {
		all[i] = node.Async[any](from, node.At{Name: global.Name, Node: at}, any(wire.Tuple{wire.Atom("set_lock"), id.term()}))
	}
	refused := false
	var set []node.Atom
	for i, f := range all {
		v, err := node.Await(ctx, from, f)
		if err != nil && ctx.Err() != nil {
			unlock(from, id, nodes) // behind the questions, whose answers nobody reads
			return false, cause.Of(ctx)
		}
		if err != nil {
			continue // the node is not there
		}
		if ok, isBool := wire.AsBool(v); isBool && ok {
			set = append(set, nodes[i])
		} else {
			refused = true
		}
	}
	if refused {
		for _, f := range unlock(from, id, set) {
			_, _ = node.Await(ctx, from, f)
		}
	}
	return !refused, nil
}

// Lock is TryLock until it succeeds: global:set_lock.
func Lock(ctx context.Context, from node.Caller, id ID, nodes ...node.Atom) error {
	nodes = lockable(from, nodes)
	for times := 1; ; times++ {
		ok, err := TryLock(ctx, from, id, nodes...)
		if ok || err != nil {
			return err
		}
		if _, err := ask[bool](ctx, from, global.Pausing{Times: times}); err != nil {
			return err
		}
	}
}

// Unlock removes a lock that the process has set: global:del_lock. Errors: the error of ctx; the lock is still
// removed.
func Unlock(ctx context.Context, from node.Caller, id ID, nodes ...node.Atom) error {
	for _, f := range unlock(from, id, lockable(from, nodes)) {
		if _, err := node.Await(ctx, from, f); err != nil && ctx.Err() != nil {
			return cause.Of(ctx)
		}
	}
	return nil
}

// Trans calls f while the resource is locked: global:trans. Errors: those of Lock, and that of f. The lock is also removed
// if f panics.
func Trans(ctx context.Context, from node.Caller, id ID, f func() error, nodes ...node.Atom) error {
	nodes = lockable(from, nodes)
	if err := Lock(ctx, from, id, nodes...); err != nil {
		return err
	}
	defer Unlock(context.WithoutCancel(ctx), from, id, nodes...)
	return f()
}

func unlock(from node.Caller, id ID, nodes []node.Atom) []*node.Future[any] {
	all := make([]*node.Future[any], len(nodes))
	for i, at := range nodes {
		all[i] = node.Async[any](from, node.At{Name: global.Name, Node: at}, any(wire.Tuple{wire.Atom("del_lock"), id.term()}))
	}
	return all
}

// lockable returns the nodes that a lock is for.
func lockable(from node.Caller, nodes []node.Atom) []node.Atom {
	if len(nodes) > 0 {
		return slices.Clone(nodes)
	}
	n := of(from)
	return append([]node.Atom{n.Name()}, n.Nodes()...)
}
