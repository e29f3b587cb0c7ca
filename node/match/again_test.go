package match

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
)

// looks is a case that counts how often it is asked about a number, and takes no message.
type looks struct{ n *int }

func (c looks) addTo(m *Match) {
	m.add(reflect.TypeFor[int](), rule{bind: func(any, any) (any, bool) { *c.n++; return nil, false }})
}

// text is the type that the receives of the tests take.
type text string

// A receive does not look again at messages that the one before has left, if both use one Match and no user function
// decides; and no receive looks at messages older than its mark. All others look at everything.
func TestReceiveDoesNotLookAgain(t *testing.T) {
	const waiting = 1000
	n := 0
	got := 0
	take := On(func(text) { got++ })
	for _, c := range []struct {
		name  string
		cases []Case
		again bool
	}{
		{name: "types", cases: []Case{take}},
		{name: "an interface", cases: []Case{On(func(error) {}), take}},
		{name: "a value", cases: []Case{On(func(bool) {}).Is(true), take}},
		{name: "a request", cases: []Case{Reply(func(*node.Process, bool) (int, error) { return 1, nil }), take}},
		{name: "a match in a match", cases: []Case{New(take)}},
		{name: "a timeout", cases: []Case{take, After(time.Hour, func() {})}},
		{name: "a guard", cases: []Case{On(func(bool) {}).If(func(bool) bool { return true }), take}, again: true},
		{name: "a guard in a match", cases: []Case{New(take.If(func(text) bool { return true }))}, again: true},
		{name: "a value that is no value", cases: []Case{On(func([]int) {}).Is([]int{1}), take}, again: true},
		{name: "a projection", cases: []Case{Project(never, On(func(int) {})), take}, again: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			actortest.EachBlocking(t, func(t *testing.T, s actortest.Style) {
				s.Run(t, nodetest.Start(t, node.Config{}), func(p *node.Process) {
					m := New(append([]Case{looks{&n}}, c.cases...)...)
					for i := range waiting {
						require.NoError(t, p.Send(p.Self(), i))
					}
					n, got = 0, 0
					for range 10 {
						require.NoError(t, p.Send(p.Self(), text("x")))
						require.NoError(t, Receive(p, m))
					}
					want := waiting
					if c.again {
						want *= 10
					}
					require.Equal(t, []int{want, 10}, []int{n, got})

					n, got = 0, 0
					for range 10 {
						since := p.Mark()
						require.NoError(t, p.Send(p.Self(), 7))
						require.NoError(t, p.Send(p.Self(), text("x")))
						require.NoError(t, ReceiveSince(p, since, m))
					}
					require.Equal(t, []int{10, 10}, []int{n, got})
				})
			})
		})
	}
}

func never(bool) (int, bool) { return 0, false }

// A receive works only on the process that it is for.
func TestBlocking(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	require.Same(t, h.Inside(process.Key{}).Acting(), &blocking(h.Process).Acting)
	actortest.EachBlocking(t, func(t *testing.T, s actortest.Style) {
		s.Run(t, n, func(p *node.Process) { require.Same(t, p.Inside(process.Key{}).Acting(), &blocking(p).Acting) })
	})
}

// Receives with several matches, with marks and without a Match take what they would take from a list.
func TestReceiveModel(t *testing.T) {
	r := testkit.Rand(t)
	actortest.EachBlocking(t, func(t *testing.T, s actortest.Style) {
		s.Run(t, nodetest.Start(t, node.Config{}), func(p *node.Process) {
			var got any
			late := After(0, func() { got = nil })
			threshold := 0
			over := func(n int) bool { return n > threshold }
			matches := []struct {
				m    *Match
				fits func(msg any) bool
			}{
				{New(On(func(m int) { got = m }), late), func(msg any) bool { _, ok := msg.(int); return ok }},
				{New(On(func(m text) { got = m }), late), func(msg any) bool { _, ok := msg.(text); return ok }},
				{New(On(func(m fmt.Stringer) { got = m }), late), func(msg any) bool { _, ok := msg.(fmt.Stringer); return ok }},
				{New(On(func(m int) { got = m }).Is(5), late), func(msg any) bool { return msg == 5 }},
				{New(On(func(m int) { got = m }).If(over), late), func(msg any) bool { n, ok := msg.(int); return ok && over(n) }},
			}
			var box []any
			var since func(time.Duration, func(any) bool) (any, error)
			marked := 0
			for range 3000 {
				threshold = r.IntN(10)
				switch r.IntN(5) {
				case 0, 1:
					msg := []any{r.IntN(10), text("a"), time.Duration(r.IntN(10))}[r.IntN(3)]
					require.NoError(t, p.Send(p.Self(), msg))
					box = append(box, msg)
					continue
				case 2:
					if r.IntN(4) == 0 {
						since, marked = p.Mark(), len(box)
					}
					continue
				}
				k := matches[r.IntN(len(matches))]
				from := 0
				if since != nil && r.IntN(3) == 0 {
					from = marked
					require.NoError(t, ReceiveSince(p, since, k.m))
				} else {
					require.NoError(t, Receive(p, k.m))
				}
				at := slices.IndexFunc(box[from:], k.fits)
				if at < 0 {
					require.Nil(t, got)
					continue
				}
				at += from
				require.Equal(t, box[at], got)
				box = slices.Delete(box, at, at+1)
				if at < marked {
					marked--
				}
			}
		})
	})
}
