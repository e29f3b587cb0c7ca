package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// A program is written once and runs in every placement; in make test on one node, and on several that speak native.
// Its output must be the same everywhere as on one node.
type program struct {
	name string
	run  func(w *world)
}

// world is where one run of a program takes place.
type world struct {
	t     testing.TB
	ctx   context.Context // from testkit.Context
	here  *node.Node      // the program's own node
	there *node.Node      // where the processes are that the program deals with
	aside *node.Node      // a third node
	me    *node.Process   // on here; it traps exits
	lines []string

	between node.Dest // the OTP process that passes everything on; nil: none
}

// say adds a line to the output that is compared.
func (w *world) say(format string, args ...any) {
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

// check ends the run with a line about err, unless it is nil.
func (w *world) check(err error) {
	if err != nil {
		panic(broken{err})
	}
}

// broken is the panic of a program that cannot go on.
type broken struct{ error }

// next takes the program's next message.
func (w *world) next() any {
	m, err := w.me.ReceiveWithin(testkit.Limit, nil)
	w.check(err)
	return m
}

// down takes the Down of a monitor and leaves other messages in the mailbox.
func (w *world) down(ref node.Ref) node.Down {
	m, err := w.me.ReceiveWithin(testkit.Limit, func(m any) bool { d, ok := m.(node.Down); return ok && d.Ref == ref })
	w.check(err)
	return m.(node.Down)
}

// start starts a process there. Its PID has been handed here.
func (w *world) start(b node.Actor) node.PID { return w.startOn(w.there, node.Options{}, b) }

func (w *world) startOn(n *node.Node, o node.Options, b node.Actor) node.PID {
	pid, err := node.SpawnWait(w.ctx, n, o, b)
	w.check(err)
	w.later(func() { n.Exit(pid, node.Kill) })
	return hand(w, n, pid)
}

// startProcess is start for a blocking process.
func (w *world) startProcess(f func(p *node.Process) error) node.PID {
	return w.start(node.ProcessFunc(f))
}

// named starts a process there under a name, which is free again when the run is over.
func (w *world) named(name node.Atom, b node.Actor) node.At {
	w.startOn(w.there, node.Options{Name: name}, b)
	return node.At{Name: name, Node: w.there.Name()}
}

// serve is start for a process that is to be called. With OTP in between it returns an OTP process that hands on
// everything it gets.
func (w *world) serve(b node.Actor) node.PID { return w.relay(w.start(b)) }

func (w *world) relay(pid node.PID) node.PID {
	if w.between == nil {
		return pid
	}
	h, err := w.here.Open()
	w.check(err)
	defer h.Close(nil)
	w.check(h.Send(w.between, wire.Tuple{node.Atom("relay"), h.Self(), pid}))
	m, err := h.ReceiveWithin(testkit.Limit, nil)
	w.check(err)
	return m.(wire.Tuple)[1].(node.PID)
}

// hand takes a value from a node to this one, in a message.
func hand[T any](w *world, from *node.Node, v T) T {
	h, err := w.here.Open()
	w.check(err)
	defer h.Close(nil)
	w.check(w.send(from, h.Self(), v))
	m, err := h.ReceiveWithin(testkit.Limit, nil)
	w.check(err)
	got, ok := m.(T)
	if !ok {
		panic(broken{fmt.Errorf("%T was handed over, and %T came: %v", v, m, m)})
	}
	return got
}

// send sends a message through the process in between, if there is one.
func (w *world) send(from node.Caller, to node.PID, msg any) error {
	if w.between != nil {
		return node.Send(from, w.between, wire.Tuple{node.Atom("hand"), to, msg})
	}
	return node.Send(from, to, msg)
}

// later calls f when the run is over.
func (w *world) later(f func()) { w.t.Cleanup(f) }

// ask makes a call and reports its result.
func ask[R, Q any](w *world, to node.Dest, req Q) {
	r, err := node.Call[R](w.ctx, w.me, to, req)
	w.answer(r, err)
}

func (w *world) answer(r any, err error) {
	if err != nil {
		w.say("error: %v", err)
		return
	}
	w.say("%s", show(r))
}

// show writes a value with its type.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case *node.Crash:
		return showCrash(v)
	case error:
		return "error " + v.Error()
	case *big.Int:
		return "*big.Int " + v.String()
	case []any:
		return "[]interface {} " + showAll(v)
	case wire.List:
		return "list " + showAll(v)
	case wire.Tuple:
		return "tuple " + showAll(v)
	case map[string]any:
		parts := make([]string, 0, len(v))
		for k, e := range v {
			parts = append(parts, k+": "+show(e))
		}
		slices.Sort(parts)
		return "map[string]interface {} {" + strings.Join(parts, ", ") + "}"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T %+v", v, v)
	}
	return fmt.Sprintf("%T %s", v, b)
}

func showAll(vs []any) string {
	parts := make([]string, len(vs))
	for i, v := range vs {
		parts[i] = show(v)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// showCrash writes the parts of a crash that are the same wherever it is seen: not all of its stack.
func showCrash(c *node.Crash) string {
	return fmt.Sprintf("crash, panic %v, %s, stack names the function %v", c.Panic, show(c.Reason),
		strings.Contains(string(c.Stack), "near_far"))
}

// shower sends everything it gets to a process, as text.
func shower(to node.PID) node.ActorFunc {
	return func(c *node.Context, msg any) error { return c.Send(to, show(msg)) }
}

// placement is one way to place the nodes of a program.
type placement struct {
	name  string
	least testkit.Tier
	start func(t *testing.T) *world
}

var placements = []placement{
	{"native", testkit.Test, func(t *testing.T) *world { return separate(t, node.Distribution{}, "native") }},
	{"erlang", testkit.Merge, func(t *testing.T) *world { return separate(t, node.Distribution{}, "erlang") }},
	{"grace", testkit.Merge, func(t *testing.T) *world {
		cut := &clustertest.Cutter{}
		w := separate(t, node.Distribution{Timing: node.Timing{Grace: testkit.Limit}, Transport: cut}, "native")
		w.cutAgain(t, cut)
		return w
	}},
	{"otp", testkit.Merge, func(t *testing.T) *world {
		host := newOTPHost(t)
		w := worldOf(func(name node.Atom) *node.Node {
			d := node.Distribution{Cookie: erltest.Cookie,
				Finder: &discovery.EPMD{Config: host.mapper}}
			return nodetest.Start(t, node.Config{Name: name, Distribution: &d})
		})
		erl := erltest.Start(t, erltest.Options{Name: "between@127.0.0.1", Cookie: erltest.Cookie, EPMD: host.mapper.Port,
			Sources: []string{"testdata/near_far.erl"},
			Args:    []string{"+S", "2:2", "-kernel", "prevent_overlapping_partitions", "false"}})
		require.Equal(t, "true", erl.Ask("near_far:start()"))
		w.between = node.At{Name: "between", Node: node.Atom(erl.Name)}
		w.connect(t)
		return w
	}},
}

// together is everything on one node.
func together(t *testing.T) *world {
	n := nodetest.Start(t, node.Config{Name: "one@127.0.0.1", Distribution: &node.Distribution{
		Cookie: "secret", Finder: &clustertest.Places{}}})
	return &world{here: n, there: n, aside: n}
}

// separate is three nodes that speak one protocol.
func separate(t *testing.T, d node.Distribution, protocol string) *world {
	c := clustertest.NewCluster(t)
	w := worldOf(func(name node.Atom) *node.Node {
		d := d
		var err error
		d.Protocols, err = d.ProtocolsByName(protocol)
		require.NoError(t, err)
		return c.StartWith(string(name), d)
	})
	w.connect(t)
	return w
}

func worldOf(start func(name node.Atom) *node.Node) *world {
	return &world{here: start("here@127.0.0.1"), there: start("there@127.0.0.1"), aside: start("aside@127.0.0.1")}
}

// connect connects all nodes, so that no program meets a connection that is being made.
func (w *world) connect(t *testing.T) {
	nodes := []*node.Node{w.here, w.there, w.aside}
	for _, n := range nodes {
		for _, other := range nodes {
			if n != other {
				require.NoError(t, n.Ping(testkit.Context(t), other.Name()))
			}
		}
		if w.between != nil {
			require.NoError(t, n.Ping(testkit.Context(t), w.between.(node.At).Node))
		}
	}
}

// cutAgain cuts all connections every few milliseconds until the test ends.
func (w *world) cutAgain(t *testing.T, cut *clustertest.Cutter) {
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() { // ended and waited for by the cleanup
		defer close(over)
		every := time.NewTicker(10 * time.Millisecond)
		defer every.Stop()
		for ctx.Err() == nil {
			select {
			case <-every.C:
				cut.Cut()
			case <-ctx.Done():
			}
		}
	}()
	t.Cleanup(func() {
		stop()
		<-over
		require.Positive(t, cut.Cuts(), "connections have been cut")
		t.Logf("%d connections were cut", cut.Cuts())
	})
}

var _ dist.Transport = (*clustertest.Cutter)(nil)

// Every node in these tests knows the types and errors of the programs.
func init() { node.RegisterTypes(nearFarRegistered...) }

// play runs a program in a placement and returns its output.
func (w world) play(t *testing.T, p program) (lines []string) {
	w.t, w.ctx = t, testkit.Context(t)
	me := nodetest.NewProbe(t, w.here)
	me.TrapExit(true)
	w.me = me.Process
	defer func() {
		switch r := recover().(type) {
		case nil:
		case broken:
			w.say("broken off: %v", r.error)
		default:
			panic(r)
		}
		lines = w.lines
	}()
	p.run(&w)
	return w.lines
}

// programs are all programs.
func programs() []program {
	return slices.Concat(callPrograms, answerPrograms, errorPrograms, exitPrograms, messagePrograms, valuePrograms, partsPrograms,
		behaviourPrograms, groupPrograms, referencePrograms, otpformPrograms)
}

// A program does the same on one node, on two, and with OTP in between. docs/guarantees.md lists the differences.
func TestNearAndFar(t *testing.T) { nearAndFar(t, programs(), knownDifferences(t)) }

// nearAndFar runs programs in all placements. Each difference must be in differ.
func nearAndFar(t *testing.T, all []program, differ map[difference]bool) {
	want := make(map[string][]string)
	t.Run("one", func(t *testing.T) {
		w := together(t)
		for _, p := range all {
			t.Run(p.name, func(t *testing.T) {
				require.NotContains(t, want, p.name, "the name of another program")
				lines := w.play(t, p)
				t.Log("\n" + strings.Join(lines, "\n"))
				require.NotEmpty(t, lines)
				require.NotContains(t, strings.Join(lines, "\n"), "broken off")
				want[p.name] = lines
			})
		}
	})
	for _, pl := range placements {
		t.Run(pl.name, func(t *testing.T) {
			testkit.From(t, pl.least, "the placement "+pl.name)
			w := pl.start(t)
			for _, p := range all {
				t.Run(p.name, func(t *testing.T) {
					lines := w.play(t, p)
					d := difference{p.name, pl.name}
					switch same := slices.Equal(want[p.name], lines); {
					case differ[d] && same:
						t.Errorf("does not differ: take it out of %s", guarantees)
					case !differ[d] && !same:
						t.Errorf("\non one node %s\nhere        %s", indented(want[p.name]), indented(lines))
					}
				})
			}
		})
	}
	names := make(map[string]bool)
	for _, p := range all {
		names[p.name] = true
	}
	for d := range differ {
		require.True(t, names[d.program], "%s: no program is called %q", guarantees, d.program)
	}
}

func indented(lines []string) string { return strings.Join(lines, "\n            ") }

// difference is a difference from the run on one node.
type difference struct{ program, placement string }

// guarantees is the document that lists the differences.
const guarantees = "../docs/guarantees.md"

// knownDifferences reads the rows "| program | placements | why |" of the document.
func knownDifferences(t *testing.T) map[difference]bool {
	text, err := os.ReadFile(guarantees)
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "<!-- near and far:")
	require.True(t, found)
	all := make(map[difference]bool)
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if strings.HasPrefix(line, "#") {
			break
		}
		if len(cells) != 5 || strings.Contains(cells[1], "---") || strings.TrimSpace(cells[1]) == "program" {
			continue
		}
		require.NotEmpty(t, strings.TrimSpace(cells[3]), "a difference without a reason: %s", line)
		for name := range strings.SplitSeq(cells[2], ",") {
			name = strings.TrimSpace(name)
			require.True(t, slices.ContainsFunc(placements, func(p placement) bool { return p.name == name }),
				"no placement is called %q: %s", name, line)
			all[difference{strings.TrimSpace(cells[1]), name}] = true
		}
	}
	return all
}
