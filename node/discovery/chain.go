package discovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/actornode/actornode/wire"
)

// Chain returns a finder that asks several finders in order: if one does not find a node, it asks the next. It
// announces this node to all of them; if one announcement fails, it withdraws the others. A finder that waits for long
// leaves the later ones less time. The chain is a [Lister] of what any of its finders lists, and a [Watcher].
func Chain(finders ...Finder) Finder { return chain(finders) }

type chain []Finder

// Find is part of Finder.
func (c chain) Find(ctx context.Context, name wire.Atom) ([]Endpoint, error) {
	var errs []error
	for _, f := range c {
		ends, err := f.Find(ctx, name)
		if err == nil {
			return ends, nil
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, cmp.Or(errors.Join(errs...), fmt.Errorf("%w: %s", ErrUnknownNode, name))
}

// Announce is part of Finder.
func (c chain) Announce(ctx context.Context, a Announcement) (stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, s := range slices.Backward(stops) {
			s()
		}
	}
	for _, f := range c {
		s, err := f.Announce(ctx, a)
		if err != nil {
			stop()
			return nil, err
		}
		stops = append(stops, s)
	}
	return stop, nil
}

// List is part of Lister: what any of the finders lists, in alphabetical order.
func (c chain) List(ctx context.Context) ([]wire.Atom, error) {
	all := make(map[wire.Atom]struct{})
	var errs []error
	for _, f := range c {
		names, err := listOf(ctx, f)
		for _, n := range names {
			all[n] = struct{}{}
		}
		errs = append(errs, err)
	}
	return slices.Sorted(maps.Keys(all)), errors.Join(errs...)
}

// Watch is part of Watcher.
func (c chain) Watch(changed func()) (stop func()) {
	var stops []func()
	for _, f := range c {
		stops = append(stops, watchOf(f, changed))
	}
	return func() {
		for _, s := range stops {
			s()
		}
	}
}

// listOf returns what f lists, or nothing if f is not a Lister.
func listOf(ctx context.Context, f Finder) ([]wire.Atom, error) {
	if l, ok := f.(Lister); ok {
		return l.List(ctx)
	}
	return nil, nil
}

func watchOf(f Finder, changed func()) (stop func()) {
	if w, ok := f.(Watcher); ok {
		return w.Watch(changed)
	}
	return func() {}
}
