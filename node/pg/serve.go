package pg

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// Serve lets other nodes call the functions of OTP's module pg here, by rpc, for the scopes that run on this node:
// join, leave, get_members, get_local_members, which_groups and which_local_groups, with the scope pg or another as the
// first argument. As in OTP, only processes of this node can be joined here. A second Serve returns
// [node.ErrNameTaken].
func Serve(n *node.Node) error {
	for _, f := range []struct {
		name  node.Atom
		arity int // without the scope
		run   func(ctx context.Context, s *Scope, args []any) (any, error)
	}{
		{"join", 2, func(ctx context.Context, s *Scope, args []any) (any, error) {
			return change(ctx, n, s.Join, args)
		}},
		{"leave", 2, func(ctx context.Context, s *Scope, args []any) (any, error) {
			return change(ctx, n, s.Leave, args)
		}},
		{"get_members", 1, func(_ context.Context, s *Scope, args []any) (any, error) { return list(s.Members(args[0])), nil }},
		{"get_local_members", 1, func(_ context.Context, s *Scope, args []any) (any, error) {
			return list(s.LocalMembers(args[0])),
				nil
		}},
		{"which_groups", 0, func(_ context.Context, s *Scope, _ []any) (any, error) { return list(s.Groups()), nil }},
		{"which_local_groups", 0, func(_ context.Context, s *Scope, _ []any) (any, error) { return list(s.LocalGroups()), nil }},
	} {
		for extra := range 2 {
			e := wire.Export{Module: defaultName, Function: f.name, Arity: f.arity + extra}
			err := rpc.Export(n, e, func(ctx context.Context, args []any) (any, error) {
				name := defaultName
				if extra == 1 {
					var ok bool
					if name, ok = args[0].(node.Atom); !ok {
						return nil, errBadArg
					}
					args = args[1:]
				}
				if !isScope(n, name) { // which would be called
					return nil, errBadArg
				}
				s, err := Find(ctx, n, name)
				if err != nil {
					return nil, errBadArg
				}
				return f.run(ctx, s, args)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// isScope reports whether the process with a name is a scope's.
func isScope(n *node.Node, name node.Atom) bool {
	pid, _ := n.Whereis(name)
	i, err := n.Info(pid)
	return err == nil && i.Behaviour == fmt.Sprintf("%T", (*scopeProcess)(nil))
}

// What a function raises.
var (
	errBadArg    = rpc.Raise(node.Atom("badarg"))
	errProtected = rpc.Raise(node.Atom("protected")) // the caller may not name the process, see MayName of peers.Account
)

// change runs join or leave with {Group, PidOrPids}.
func change(ctx context.Context, n *node.Node, f func(context.Context, node.Caller, any, ...node.PID) error,
	args []any) (any, error) {
	var pids []node.PID
	switch who := args[1].(type) {
	case node.PID:
		pids = []node.PID{who}
	case wire.List:
		for _, m := range who {
			pid, ok := m.(node.PID)
			if !ok {
				return nil, errBadArg
			}
			pids = append(pids, pid)
		}
	default:
		return nil, errBadArg
	}
	if by := n.Inside(process.Key{}).AskerOf(ctx); slices.ContainsFunc(pids, func(pid node.PID) bool { return !by.MayName(pid) }) {
		return nil, errProtected
	}
	err := f(ctx, n, args[0], pids...)
	switch {
	case err == nil:
		return wire.AtomOK, nil
	case errors.Is(err, ErrNotJoined):
		return node.Atom("not_joined"), nil
	case errors.Is(err, ErrNotLocal):
		return nil, rpc.Raise(wire.Tuple{node.Atom("nolocal"), list(pids)})
	}
	return nil, err
}

func list[T any](l []T) wire.List {
	r := make(wire.List, len(l))
	for i, m := range l {
		r[i] = m
	}
	return r
}
