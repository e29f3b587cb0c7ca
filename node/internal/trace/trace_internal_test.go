package trace

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/randtest"
	"github.com/actornode/actornode/wire"
)

type proc struct{ number uint64 }

type tracer struct {
	watch Watch[tracer]
	exits []uint64
	ended bool
}

func newTracer(most int) *tracer {
	t := &tracer{watch: Watch[tracer]{Max: most}}
	t.watch.Of = t
	return t
}

func newProcs(n int) (all []Process[proc]) {
	for i := range n {
		all = append(all, Process[proc]{&proc{uint64(i)}, uint64(i)})
	}
	return all
}

// Whatever is added and taken away, the view says what a plain model says, and is nil
// exactly if nobody is traced.
func TestRegistry(t *testing.T) {
	random := randtest.New(t)
	for range 30 {
		var r Registry[proc, tracer]
		procs := newProcs(100)
		model := map[*tracer]map[uint64]bool{}
		var tracers []*tracer
		for range 6 {
			tr := newTracer(1 + random.IntN(10))
			tracers, model[tr] = append(tracers, tr), map[uint64]bool{}
		}
		for range 300 {
			tr, p := tracers[random.IntN(len(tracers))], procs[random.IntN(len(procs))]
			mine := model[tr]
			switch random.IntN(8) {
			case 0:
				r.Gone(p, func(t *tracer, last bool) {
					t.exits = append(t.exits, p.Number)
					t.ended = t.ended || last
				})
				for o, of := range model {
					if of[p.Number] {
						require.Equal(t, p.Number, o.exits[len(o.exits)-1])
						delete(of, p.Number)
						require.Equal(t, len(of) == 0, o.ended)
					}
				}
			case 1, 2:
				require.Equal(t, mine[p.Number], r.Remove(&tr.watch, p.Number))
				delete(mine, p.Number)
			case 3:
				if random.IntN(10) == 0 {
					r.End(&tr.watch)
					clear(mine)
					tr.ended = true
				}
			default:
				err := r.Add(&tr.watch, p)
				switch {
				case tr.ended:
					require.ErrorIs(t, err, ErrOver)
				case !mine[p.Number] && len(mine) == tr.watch.Max:
					require.ErrorIs(t, err, ErrFull)
				default:
					require.NoError(t, err)
					mine[p.Number] = true
				}
			}
			nobody := true
			v := r.Now()
			for _, p := range procs {
				var want []*Watch[tracer]
				for tr, of := range model {
					if of[p.Number] {
						want = append(want, &tr.watch)
					}
				}
				require.ElementsMatch(t, want, v.By(p.P, p.Number))
				nobody = nobody && want == nil
			}
			require.Equal(t, nobody, v == nil)
		}
		r.Stop(func(t *tracer) { t.ended = true })
		require.Nil(t, r.Now())
		for tr, of := range model {
			require.True(t, tr.ended || len(of) == 0, slices.Collect(maps.Keys(of)))
			require.ErrorIs(t, r.Add(&tr.watch, procs[0]), ErrOver)
		}
	}
}

// With one process too many none is added.
func TestAddIsAllOrNothing(t *testing.T) {
	var r Registry[proc, tracer]
	tr, procs := newTracer(2), newProcs(3)
	require.ErrorIs(t, r.Add(&tr.watch, procs...), ErrFull)
	require.Nil(t, r.Now())
	require.NoError(t, r.Add(&tr.watch, procs[:2]...))
	require.NoError(t, r.Add(&tr.watch, procs[:2]...), "they are traced already")
}

func TestQuiet(t *testing.T) {
	var r Registry[proc, tracer]
	tr, procs := newTracer(2), newProcs(3)
	tr.watch.Quiet, tr.watch.HasQuiet = 2, true
	require.NoError(t, r.Add(&tr.watch, procs[0]))
	require.True(t, r.Now().IsQuiet(2))
	require.False(t, r.Now().IsQuiet(0))
	require.Nil(t, r.Now().By(nil, 0))
}

// The serial numbers are those of erts: the clock follows what comes, and goes up with what
// goes.
func TestToken(t *testing.T) {
	var k Token
	me := wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 1}).PID(1)
	require.Nil(t, k.Next(me))
	require.True(t, k.Receive(wire.Tuple{1, "label", 7, me, 0}))
	require.Equal(t, wire.Tuple{1, "label", 8, me, 7}, k.Next(me))
	require.Equal(t, wire.Tuple{1, "label", 9, me, 7}, k.Next(me))
	require.True(t, k.Receive(wire.Tuple{1, "label", 3, me, 0}))
	require.Equal(t, wire.Tuple{1, "label", 10, me, 3}, k.Next(me))
	for _, none := range []any{nil, wire.Tuple{1}, "token"} {
		require.False(t, k.Receive(none))
		require.Nil(t, k.Next(me))
	}
}
