package erpc

import (
	"context"
	"errors"

	"github.com/actornode/actornode/internal/kernel/calls"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Runner calls a function that a node exports.
type Runner func(ctx context.Context, module, function wire.Atom, args []any) Outcome

// Wanted returns what the process for a spawn is to do: it is a behaviour of the table, or, if f is not nil, it calls f, with
// its context, and ends with the error. allows reports what the requester may run by name; anything else is undef. E is the
// error of a process that has exited. Errors: that of an option that the node does not know, an [*calls.Exit].
func Wanted[E error, A any](t *Exports[A], s *dist.Spawn, allows func(wire.Export) bool, run Runner) (
	behaviour A, f func(context.Context) error, err error) {

	if r, ok := Asked(s); ok {
		return behaviour, func(ctx context.Context) error {
			if r.Bad || !allows(wire.Export{Module: r.Module, Function: r.Function, Arity: len(r.Args)}) {
				return r.End(r.Refused())
			}
			return r.End(run(ctx, r.Module, r.Function, r.Args))
		}, nil
	}
	if !Understood(s.Options) {
		return behaviour, nil, &calls.Exit{Reason: wire.Atom("badopt")}
	}
	module, function, args := Applied(s)
	e := wire.Export{Module: module, Function: function, Arity: len(args)}
	undef := func(context.Context) error { return Undef(module, function, args).Spawned() }
	if !allows(e) {
		return behaviour, undef, nil
	}
	behaviour, err = t.Make(module, function, args)
	switch {
	case err == nil:
		return behaviour, nil, nil
	case !errors.Is(err, ErrUndef):
		end := &calls.Exit{Reason: err}
		if term, ok := calls.OwnReason[E](err); ok {
			end.Reason = term
		}
		return behaviour, func(context.Context) error { return end }, nil
	case t.HasFunction(e):
		return behaviour, func(ctx context.Context) error { return run(ctx, module, function, args).Spawned() }, nil
	}
	return behaviour, undef, nil
}
