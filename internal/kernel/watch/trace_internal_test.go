package watch

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/wire"
)

// tracer is a trace, and its feed.
type tracer struct {
	Trace
	events []TraceEvent
	missed int
	room   int
	ended  bool
}

func newTracer(most int) *tracer {
	t := &tracer{room: 1 << 20}
	t.Trace = Trace{Feed: t, Kinds: TraceAll, Max: most, Show: func(msg any) any { return msg }}
	return t
}

func (t *tracer) Send(e TraceEvent) { t.events = append(t.events, e) }
func (t *tracer) Full() bool        { return len(t.events) == t.room }
func (t *tracer) Miss()             { t.missed++ }
func (t *tracer) Close()            { t.ended = true }

// processes holds PIDs of processes, with the exit reasons of the dead ones.
type processes struct {
	pids  []wire.PID
	ended map[wire.PID]any
}

var errNone = errors.New("there is no such process")

func newRegistry(n int) (*Traces, *processes) {
	ps := &processes{ended: make(map[wire.PID]any)}
	origin := wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 1})
	for i := range n {
		ps.pids = append(ps.pids, origin.PID(uint64(i)))
	}
	r := new(Traces)
	r.Init(TraceHost{
		Now:       time.Now,
		Find:      ps.find,
		IsOwn:     func(msg any) bool { return msg == "own" },
		ErrorTerm: func(err error) any { return err.Error() },
	})
	return r, ps
}

func (ps *processes) find(pid wire.PID) (EndedFunc, error) {
	if !slices.Contains(ps.pids, pid) {
		return nil, errNone
	}
	return func() (any, bool) {
		reason, ended := ps.ended[pid]
		return reason, ended
	}, nil
}

// Whatever is added and taken away, the view matches a plain model, and is nil exactly if nobody is traced.
func TestRegistry(t *testing.T) {
	random := testkit.Rand(t)
	for range testkit.By(10, 30, 3000) {
		r, ps := newRegistry(100)
		model := map[*tracer]map[wire.PID]bool{}
		var tracers []*tracer
		for range 6 {
			tr := newTracer(1 + random.IntN(10))
			tracers, model[tr] = append(tracers, tr), map[wire.PID]bool{}
		}
		for range 300 {
			tr, p := tracers[random.IntN(len(tracers))], ps.pids[random.IntN(len(ps.pids))]
			mine := model[tr]
			switch random.IntN(8) {
			case 0:
				r.Gone(p, "over")
				for o, of := range model {
					if of[p] {
						require.Equal(t, TraceEvent{Kind: TraceExit, Process: p, Message: "over"}, o.events[len(o.events)-1])
						delete(of, p)
						require.Equal(t, len(of) == 0, o.ended)
					}
				}
			case 1, 2:
				require.Equal(t, mine[p], r.Remove(&tr.Trace, p))
				delete(mine, p)
			case 3:
				if random.IntN(10) == 0 {
					r.End(&tr.Trace)
					clear(mine)
					require.True(t, tr.ended)
				}
			default:
				err := r.Add(&tr.Trace, p)
				switch {
				case tr.ended:
					require.ErrorIs(t, err, ErrTraceOver)
				case !mine[p] && len(mine) == tr.Max:
					require.ErrorIs(t, err, ErrTraceFull)
				default:
					require.NoError(t, err)
					mine[p] = true
				}
			}
			nobody := true
			v := r.View()
			for _, p := range ps.pids {
				var want []*Trace
				for tr, of := range model {
					if of[p] {
						want = append(want, &tr.Trace)
					}
				}
				if want != nil || v.Traced(p) {
					require.ElementsMatch(t, want, v.by(p))
				}
				nobody = nobody && want == nil
			}
			require.Equal(t, nobody, v == nil)
		}
		r.Stop()
		require.Nil(t, r.View())
		for tr, of := range model {
			require.True(t, tr.ended || len(of) == 0, slices.Collect(maps.Keys(of)))
			require.ErrorIs(t, r.Add(&tr.Trace, ps.pids[0]), ErrTraceOver)
		}
	}
}

// If one process is too many or does not exist, none is added.
func TestAddIsAllOrNothing(t *testing.T) {
	r, ps := newRegistry(3)
	tr := newTracer(2)
	require.ErrorIs(t, r.Add(&tr.Trace, ps.pids...), ErrTraceFull)
	require.Nil(t, r.View())
	stranger := wire.NewOrigin(wire.NodeID{Name: "b@h", Creation: 1}).PID(1)
	require.ErrorIs(t, r.Add(&tr.Trace, ps.pids[1], stranger), errNone)
	require.Nil(t, r.View())
	require.NoError(t, r.Add(&tr.Trace, ps.pids[0], ps.pids[1], ps.pids[0]))
	require.NoError(t, r.Add(&tr.Trace, ps.pids[:2]...), "they are traced already")
	require.False(t, r.View().Traced(stranger), "a PID of another node with the same number")
	require.False(t, r.Remove(&tr.Trace, stranger))
	require.False(t, r.View().Traced(wire.PID{}))
}

// A process that has died while it was added is shown as dead, and is in no view.
func TestAddTheDead(t *testing.T) {
	r, ps := newRegistry(3)
	tr := newTracer(3)
	ps.ended[ps.pids[0]] = "early"
	require.NoError(t, r.Add(&tr.Trace, ps.pids...))
	require.Equal(t, []TraceEvent{{Kind: TraceExit, Process: ps.pids[0], Message: "early"}}, tr.events)
	require.False(t, r.View().Traced(ps.pids[0]))
	tr.Children = true
	ended, err := ps.find(ps.pids[0])
	require.NoError(t, err)
	r.View().Spawned(ps.pids[1], ps.pids[0], ended)
	require.Equal(t, []TraceEvent{{Kind: TraceSpawn, Process: ps.pids[1], Other: ps.pids[0]},
		{Kind: TraceExit, Process: ps.pids[0], Message: "early"}}, tr.events[1:])
	require.False(t, r.View().Traced(ps.pids[0]))
	require.Zero(t, tr.missed)
}

// No message of a quiet process is shown, in either direction.
func TestQuiet(t *testing.T) {
	r, ps := newRegistry(3)
	tr, quiet := newTracer(2), ps.pids[2]
	tr.Quiet = quiet
	require.NoError(t, r.Add(&tr.Trace, ps.pids[0], quiet))
	v := r.View()
	v.Message(ps.pids[0], quiet, 1)
	v.Message(quiet, ps.pids[0], 2)
	v.Received(ps.pids[1], quiet, 3)
	v.Away(quiet, wire.PID{}, "there", "b@h", 4)
	require.Empty(t, tr.events)
	v.Message(ps.pids[0], ps.pids[1], 5)
	require.Equal(t, []TraceEvent{{Kind: TraceSend, Process: ps.pids[0], Other: ps.pids[1], Message: 5}}, tr.events)
}

// Messages are shown as Show makes them, at both ends, for the wanted kinds, while there is room.
func TestMessages(t *testing.T) {
	r, ps := newRegistry(3)
	a, b := ps.pids[0], ps.pids[1]
	tr := newTracer(2)
	tr.Kinds, tr.Show, tr.room = TraceSend|TraceReceive, func(msg any) any { return wire.Tuple{msg} }, 6
	require.NoError(t, r.Add(&tr.Trace, a, b))
	v := r.View()
	v.Message(a, b, 1)
	v.Message(wire.PID{}, b, "own")
	v.Received(a, b, 2) // whatever another node says about the sender
	v.Away(a, wire.PID{}, "there", "b@h", 3)
	v.Away(a, ps.pids[2], "", "b@h", 4)
	v.Event(TraceLink, a, b, "", nil)
	v.Answered(b, a, 5, nil)
	v.Answered(b, a, nil, errNone)
	require.Equal(t, []TraceEvent{
		{Kind: TraceSend, Process: a, Other: b, Message: wire.Tuple{1}},
		{Kind: TraceReceive, Process: b, Other: a, Message: wire.Tuple{1}},
		{Kind: TraceReceive, Process: b, Message: "own"},
		{Kind: TraceReceive, Process: b, Other: a, Message: wire.Tuple{2}},
		{Kind: TraceSend, Process: a, Name: "there", Node: "b@h", Message: wire.Tuple{3}},
		{Kind: TraceSend, Process: a, Other: ps.pids[2], Message: wire.Tuple{4}},
	}, tr.events)
	require.Equal(t, 4, tr.missed)
	tr.events = nil
	v.Answered(wire.PID{}, a, nil, errNone)
	require.Equal(t, []TraceEvent{{Kind: TraceReceive, Process: a,
		Message: wire.Tuple{wire.Tuple{wire.Atom("$go_reply"), wire.Tuple{wire.AtomError, errNone.Error()}}}}}, tr.events)
	var nobody *TraceView
	nobody.Event(TraceLink, a, b, "", nil)
	nobody.Message(a, b, 6)
	nobody.Received(a, b, 7)
	nobody.Away(a, b, "", "", 8)
	require.False(t, nobody.Traced(a))
}

// The serial numbers are those of erts: the clock follows incoming ones, and rises with each outgoing one.
func TestToken(t *testing.T) {
	var k TraceToken
	me := wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 1}).PID(1)
	take := func(token any) bool { return k.Take(&Carried{Msg: "a message", Token: token}) }
	require.Nil(t, k.Next(me))
	require.True(t, take(wire.Tuple{1, "label", 7, me, 0}))
	require.Equal(t, wire.Tuple{1, "label", 8, me, 7}, k.Next(me))
	require.Equal(t, wire.Tuple{1, "label", 9, me, 7}, k.Next(me))
	require.True(t, take(wire.Tuple{1, "label", 3, me, 0}))
	require.Equal(t, wire.Tuple{1, "label", 10, me, 3}, k.Next(me))
	for _, none := range []any{nil, wire.Tuple{1}, "token"} {
		require.False(t, take(none))
		require.Nil(t, k.Next(me))
		require.Nil(t, k.Left())
	}
	require.False(t, k.Take(nil))
}

// A message that stays in its mailbox gets its token back; a receiver sees it without.
func TestTokenOfMessage(t *testing.T) {
	var k TraceToken
	with := &Carried{Msg: "a message", Token: wire.Tuple{1, "label", 7, wire.PID{}, 0}}
	bare, carried := k.Open(with)
	require.Equal(t, "a message", bare)
	require.True(t, carried)
	require.Same(t, with, k.Left())
	require.Equal(t, "a message", BareMessage(with))
	bare, carried = k.Open("another")
	require.Equal(t, "another", bare)
	require.False(t, carried)
	require.Nil(t, k.Left())
	require.True(t, k.Take(&Carried{Token: with.Token}), "what a process is spawned with")
	require.Nil(t, k.Left(), "is no message")
}
