package otp

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// basics are the functions of erlang and timer that other nodes run here for their effects: exceptions, messages,
// names, waiting.
func (t *tools) basics() []function {
	const m = "erlang"
	return []function{
		{m, "error", []int{1}, plain(func(args []any) (any, error) { return nil, rpc.Raise(args[0]) })},
		{m, "exit", []int{1}, plain(func(args []any) (any, error) { return nil, node.ExitWith(args[0]) })},
		{m, "throw", []int{1}, plain(func(args []any) (any, error) { return nil, rpc.Throw(args[0]) })},
		{m, "apply", []int{3}, t.apply},
		{m, "apply", []int{2}, t.applyFun},
		{m, "send", []int{2}, t.send},
		{m, "register", []int{2}, t.register},
		{m, "unregister", []int{1}, t.unregister},
		{m, "unique_integer", []int{0}, plain(t.uniqueInteger)},
		{"timer", "sleep", []int{1}, sleep},
		{"io", "format", []int{1, 2}, printFormat},
		{"io", "put_chars", []int{1}, printChars},
		{"io", "nl", []int{0}, func(ctx context.Context, _ []any) (any, error) { return wire.AtomOK, Print(ctx, "\n") }},
	}
}

// printFormat is io:format: it prints through the caller's group leader.
func printFormat(ctx context.Context, args []any) (any, error) {
	text, ok := wire.AsText(args[0])
	if a, isAtom := args[0].(wire.Atom); isAtom {
		text, ok = string(a), true
	}
	if !ok {
		return nil, errBadArg
	}
	var values []any
	if len(args) == 2 {
		if values, ok = wire.AsList(args[1]); !ok {
			return nil, errBadArg
		}
	}
	out, err := format(text, values)
	if err != nil {
		return nil, errBadArg
	}
	return wire.AtomOK, Print(ctx, out)
}

func printChars(ctx context.Context, args []any) (any, error) {
	text, ok := wire.AsText(args[0])
	if !ok {
		return nil, errBadArg
	}
	return wire.AtomOK, Print(ctx, text)
}

func (t *tools) apply(ctx context.Context, args []any) (any, error) {
	module, ok1 := args[0].(wire.Atom)
	function, ok2 := args[1].(wire.Atom)
	list, ok3 := wire.AsList(args[2])
	if !ok1 || !ok2 || !ok3 {
		return nil, errBadArg
	}
	return rpc.Apply(ctx, t.n, module, function, list)
}

func (t *tools) applyFun(ctx context.Context, args []any) (any, error) {
	f, ok1 := args[0].(wire.Export)
	list, ok2 := wire.AsList(args[1])
	if _, foreign := args[0].(wire.Fun); foreign {
		return nil, rpc.ErrUndef
	}
	switch {
	case !ok1 || !ok2:
		return nil, errBadArg
	case len(list) != f.Arity:
		return nil, rpc.Raise(wire.Tuple{wire.Atom("badarity"), wire.Tuple{f, wire.List(list)}})
	}
	return rpc.Apply(ctx, t.n, f.Module, f.Function, list)
}

// send is erlang:send. No mailbox of this node blocks it, but a slow third node does: what others send must not cost
// anybody the connection to that node. It sends nothing that the caller may not send itself.
func (t *tools) send(ctx context.Context, args []any) (any, error) {
	var dest wire.Dest
	switch to := args[0].(type) {
	case wire.PID:
		dest = to
	case wire.Ref:
		dest = to
	case wire.Atom:
		dest = to
	case wire.Tuple:
		at, ok := atOf(to)
		if !ok {
			return nil, errBadArg
		}
		dest = at
	default:
		return nil, errBadArg
	}
	err := t.n.Inside(process.Key{}).AskerOf(ctx).Send(dest, args[1])
	if _, name := dest.(wire.Atom); name && errors.Is(err, node.ErrNoName) {
		return nil, errBadArg
	}
	return args[1], nil
}

// register is erlang:register. It raises system_limit, which OTP does not need, for a node that has already registered
// as many names as it may.
func (t *tools) register(ctx context.Context, args []any) (any, error) {
	name, ok1 := args[0].(wire.Atom)
	pid, ok2 := args[1].(wire.PID)
	if !ok1 || !ok2 {
		return nil, errBadArg
	}
	by := t.n.Inside(process.Key{}).AskerOf(ctx)
	if !by.MayName(pid) {
		return nil, errProtected
	}
	switch err := t.n.Inside(process.Key{}).RegisterFor(by.Node(), name, pid); {
	case errors.Is(err, node.ErrTooMany):
		return nil, errSystemLimit
	case err != nil:
		return nil, errBadArg
	}
	return wire.AtomTrue, nil
}

func (t *tools) unregister(ctx context.Context, args []any) (any, error) {
	name, ok := args[0].(wire.Atom)
	if !ok {
		return nil, errBadArg
	}
	by := t.n.Inside(process.Key{}).AskerOf(ctx)
	if pid, ok := t.n.Whereis(name); ok && !by.MayName(pid) { // Unregister refuses protected names
		return nil, errProtected
	}
	switch err := t.n.Unregister(name); {
	case errors.Is(err, node.ErrProtected):
		return nil, errProtected
	case err != nil:
		return nil, errBadArg
	}
	return wire.AtomTrue, nil
}

// unique counts for uniqueInteger.
type unique struct{ last atomic.Int64 }

func (t *tools) uniqueInteger([]any) (any, error) { return int(t.unique.last.Add(1)), nil }

// sleep waits for args[0] milliseconds, or, with infinity, until the process that runs it is killed.
func sleep(ctx context.Context, args []any) (any, error) {
	var after <-chan time.Time
	if args[0] != wire.Atom("infinity") {
		ms, ok := wire.AsInt(args[0])
		if !ok || ms < 0 || ms > 1<<32 {
			return nil, errBadArg
		}
		timer := time.NewTimer(time.Duration(ms) * time.Millisecond)
		defer timer.Stop()
		after = timer.C
	}
	select {
	case <-after:
		return wire.AtomOK, nil
	case <-ctx.Done():
		return nil, cause.Of(ctx)
	}
}
