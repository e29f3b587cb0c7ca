package linkkit

import (
	"testing"

	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/wire/dist"
)

// Optional is a bit set of the interfaces that a protocol's links implement in addition to [dist.Link]. The protocol's test
// declares them: tests of missing ones are skipped, and links that differ from the declaration fail.
type Optional uint

// The optional interfaces, each named like that of package links.
const (
	MessageWriter Optional = 1 << iota
	LookAhead
	BatchReader
	TryFlusher
	BusyReader
	Counter
	Progress
	Explainer
	Checker

	// Everything is the set of all.
	Everything = MessageWriter | LookAhead | BatchReader | TryFlusher | BusyReader | Counter | Progress | Explainer |
		Checker
)

// optionals are the interfaces with their names, in the order of their bits.
var optionals = []struct {
	name string
	is   func(dist.Link) bool
}{
	{"links.MessageWriter", func(l dist.Link) bool { _, ok := l.(links.MessageWriter); return ok }},
	{"links.LookAhead", func(l dist.Link) bool { _, ok := l.(links.LookAhead); return ok }},
	{"links.BatchReader", func(l dist.Link) bool { _, ok := l.(links.BatchReader); return ok }},
	{"links.TryFlusher", func(l dist.Link) bool { _, ok := l.(links.TryFlusher); return ok }},
	{"links.BusyReader", func(l dist.Link) bool { _, ok := l.(links.BusyReader); return ok }},
	{"links.Counter", func(l dist.Link) bool { _, ok := l.(links.Counter); return ok }},
	{"links.Progress", func(l dist.Link) bool { _, ok := l.(links.Progress); return ok }},
	{"links.Explainer", func(l dist.Link) bool { _, ok := l.(links.Explainer); return ok }},
	{"links.Checker", func(l dist.Link) bool { _, ok := l.(links.Checker); return ok }},
}

// Of returns the optional interfaces of a link.
func Of(l dist.Link) (has Optional) {
	for i, o := range optionals {
		if o.is(l) {
			has |= 1 << i
		}
	}
	return has
}

// String lists the names.
func (o Optional) String() string {
	s := ""
	for i, opt := range optionals {
		if o&(1<<i) != 0 {
			s += " " + opt.name
		}
	}
	if s == "" {
		return "none"
	}
	return s[1:]
}

// optional compares the interfaces of both links with the declaration.
func (k kit) optional(t *testing.T) {
	a, b := k.pair(t)
	for _, l := range []dist.Link{a, b} {
		if has := Of(l); has != k.has {
			t.Errorf("of the optional interfaces a link has: %v\nits protocol says: %v", has, k.has)
		}
	}
}

// needs skips a test of an optional interface that is not declared.
func (k kit) needs(t *testing.T, o Optional) {
	t.Helper()
	if k.has&o != o {
		t.Skipf("links of this protocol lack %v, as it says", o&^k.has)
	}
}
