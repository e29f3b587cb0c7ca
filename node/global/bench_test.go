package global_test

import (
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/global"
)

func BenchmarkWhois(b *testing.B) {
	n := newCluster(b).start("a")
	pid := sleeper(b, n)
	require.NoError(b, global.Register(testkit.Context(b), n, node.Atom("x"), pid, global.Options{}))
	b.ReportAllocs()
	var name any = node.Atom("x")
	for b.Loop() {
		if got, _ := global.Whois(n, name); got != pid {
			b.Fatal(got)
		}
	}
}

// BenchmarkMemory: what a name costs for a process that has nothing else, on its node, and on two nodes that share it.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		c := newCluster(b)
		n := c.start("a")
		pids := make([]node.PID, 100_000)
		register := func(prefix string) float64 {
			for i := range pids {
				pid, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
				require.NoError(b, err)
				pids[i] = pid
			}
			before := heap()
			for i, pid := range pids {
				require.NoError(b, global.Register(b.Context(), n, node.Atom(prefix+strconv.Itoa(i)), pid, global.Options{}))
			}
			return float64(heap()-before) / float64(len(pids))
		}
		b.ReportMetric(register("name"), "B/name")
		for _, pid := range pids {
			n.Exit(pid, node.Kill)
		}
		other := c.start("b")
		c.connect(n, other.Name())
		b.ReportMetric(register("other"), "B/name-on-two")
		require.NoError(b, n.Stop())
		require.NoError(b, other.Stop())
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkOTPRegister: an OTP node registers and unregisters a name in clusters of two, in turn with one of our nodes
// and with another OTP node. It prints the median of the ratios of the rounds, ours to OTP's.
func BenchmarkOTPRegister(b *testing.B) {
	erltest.Need(b)
	const times = 1000
	with := func(ours bool) func() float64 {
		c := newErlangCluster(b)
		e := c.erl("e")
		other := node.Atom("other@127.0.0.1")
		if ours {
			c.start("other")
		} else {
			c.erl("other")
		}
		require.Equal(b, "true", e.Ask("net_kernel:connect_node('%s')", other))
		says(b, e, "['"+string(other)+"']", "gen_server:call(global_name_server, get_known)")
		return func() float64 {
			text := e.Ask("element(1, timer:tc(fun() -> lists:foreach(fun(_) -> yes = global:register_name(x, self()), "+
				"global:unregister_name(x) end, lists:seq(1, %d)) end))", times)
			us, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			require.NoError(b, err, text)
			return us / times
		}
	}
	ours, otp := with(true), with(false)
	var ratios []float64
	best := [2]float64{math.Inf(1), math.Inf(1)}
	for b.Loop() {
		g, o := ours(), otp()
		ratios = append(ratios, g/o)
		best[0], best[1] = min(best[0], g), min(best[1], o)
	}
	slices.Sort(ratios)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(best[0], "µs/actornode")
	b.ReportMetric(best[1], "µs/OTP")
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
	b.Logf("ratios %.2f to %.2f in %d rounds", ratios[0], ratios[len(ratios)-1], len(ratios))
}
