package otp

import (
	"context"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// patience is how long OTP's gen waits for an answer, in ms.
const patience = 5000

const genCall wire.Atom = "$gen_call"

// behaviours are the functions of sys, gen_server, gen_event and supervisor that rpc calls.
func (t *tools) behaviours() []function {
	system := func(what wire.Atom) func(context.Context, []any) (any, error) {
		return func(ctx context.Context, args []any) (any, error) {
			return t.askWithin(ctx, "sys", what, args, 1, wire.Atom("system"), what)
		}
	}
	children := func(what wire.Atom) func(context.Context, []any) (any, error) {
		return func(ctx context.Context, args []any) (any, error) {
			return t.askFor(ctx, "supervisor", what, args, genCall, what)
		}
	}
	return []function{
		{"sys", "get_status", []int{1, 2}, system("get_status")},
		{"sys", "get_state", []int{1, 2}, system("get_state")},
		{"gen_server", "call", []int{2, 3}, t.genCall},
		{"gen_server", "cast", []int{2}, t.genCast},
		{"net_kernel", "nodes_info", []int{0}, plain(t.nodesInfo)},
		{"gen_event", "which_handlers", []int{1}, t.handlers},
		{"supervisor", "which_children", []int{1}, children("which_children")},
		{"supervisor", "count_children", []int{1}, children("count_children")},
		{"supervisor", "get_callback_module", []int{1}, plain(t.callback)},
	}
}

// askWithin is askFor with the timeout args[index], if there is one.
func (t *tools) askWithin(ctx context.Context, m, f wire.Atom, args []any, index int, label, body any) (any, error) {
	var timeout any = patience
	if len(args) > index {
		timeout = args[index]
	}
	ctx, cancel, ok := within(ctx, timeout)
	defer cancel()
	if !ok {
		return nil, errBadArg
	}
	return t.askFor(ctx, m, f, args, label, body)
}

func (t *tools) genCall(ctx context.Context, args []any) (any, error) {
	return t.askWithin(ctx, "gen_server", "call", args, 2, genCall, args[1])
}

// genCast is gen_server:cast: like erlang:send of a cast, but the process need not exist.
func (t *tools) genCast(ctx context.Context, args []any) (any, error) {
	if _, err := t.send(ctx, []any{args[0], wire.Tuple{wire.Atom("$gen_cast"), args[1]}}); err != nil {
		if _, named := args[0].(wire.Atom); !named {
			return nil, err
		}
	}
	return wire.AtomOK, nil
}

// handlers is gen_event:which_handlers, which exits with the plain reason.
func (t *tools) handlers(ctx context.Context, args []any) (any, error) {
	v, err := t.ask(ctx, args[0], genCall, wire.Atom("which_handlers"))
	if err == nil {
		return v, nil
	}
	reason, err := reasonOf(err)
	if err != nil {
		return nil, err
	}
	return nil, node.ExitWith(reason)
}

// callback is supervisor:get_callback_module.
func (t *tools) callback(args []any) (any, error) {
	pid, ok := args[0].(wire.PID)
	if name, named := args[0].(wire.Atom); named {
		pid, ok = t.n.Whereis(name)
	}
	p, alive := t.running(pid)
	if !ok || !alive {
		return nil, exitIn(node.NoProc, "sys", "get_status", args)
	}
	return moduleOf(p), nil
}
