package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Lister is a [Finder] that knows which nodes there are, and not only where one
// is. A [Mesh] needs one.
type Lister interface {
	// List returns the nodes that the finder knows of, each once, in any order; the
	// asking one may be among them. With an error it returns those that it knows in
	// spite of it. That a node is not listed says nothing of whether it runs.
	List(ctx context.Context) ([]Atom, error)
}

// Watcher is a [Lister] that knows when its list changes.
type Watcher interface {
	// Watch has changed called after changes of the list, until stop is called; once
	// for several, perhaps, and from any goroutine. It must return at once, and must
	// not call the finder.
	Watch(changed func()) (stop func())
}

// Chain is several finders, in order: a node that the first does not find the next
// is asked for. This one is made known to all of them.
type Chain []Finder

// Find is part of Finder: it returns what the first finder returns that finds the
// node. A finder that waits for long leaves those after it less time.
func (c Chain) Find(ctx context.Context, name Atom) ([]Endpoint, error) {
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

// Announce is part of Finder. If one of the finders fails, none has the node.
func (c Chain) Announce(ctx context.Context, a Announcement) (stop func(), err error) {
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

// List is part of Lister: what any of the finders lists that can, in alphabetical
// order.
func (c Chain) List(ctx context.Context) ([]Atom, error) {
	all := make(map[Atom]struct{})
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
func (c Chain) Watch(changed func()) (stop func()) {
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

// listOf returns what f lists, nothing if it does not.
func listOf(ctx context.Context, f Finder) ([]Atom, error) {
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

// List is part of Lister: the nodes of Nodes, and what Next lists.
func (s *Static) List(ctx context.Context) ([]Atom, error) {
	if s.Next == nil {
		return slices.Sorted(maps.Keys(s.Nodes)), nil
	}
	return Chain{&Static{Nodes: s.Nodes}, s.Next}.List(ctx)
}

// Watch is part of Watcher: only the list of Next changes.
func (s *Static) Watch(changed func()) (stop func()) { return watchOf(s.Next, changed) }
