package contest

import (
	"slices"

	"github.com/actornode/actornode/bench/internal/contract"
)

// Case is a bench with its parameters and the targets for this node.
type Case struct {
	Bench   string
	Params  []string // key=value, over the bench's defaults
	Actor   Target
	Process Target

	// Even requires that extra.stddev be at most the reference's.
	Even bool
	// Styles are the participating styles of this node; nil for all that have the bench.
	Styles []string
}

// Target is the target for a style of this node. Its peak memory must always stay below the reference's.
type Target struct {
	Ratio float64 // at least this many times as fast as the reference; 0: not asked
	Bytes float64 // at most this extra.bytes_per_actor; 0: not asked
}

// name distinguishes the case from the others of the same bench.
func (c Case) name() string {
	name := c.Bench
	for _, p := range c.Params {
		name += " " + p
	}
	return name
}

// Cases returns what a contest runs.
func Cases() []Case {
	return []Case{
		{Bench: "threadring", Actor: Target{Ratio: 4.5}, Process: Target{Ratio: 1.6}},
		{Bench: "latency", Actor: Target{Ratio: 4.5}, Process: Target{Ratio: 1.6}},
		{Bench: "ring", Params: []string{"n=1000"}, Actor: Target{Ratio: 2.5}, Process: Target{Ratio: 1.8}},
		{Bench: "ring", Params: []string{"n=100000"}, Actor: Target{Ratio: 7}, Process: Target{Ratio: 3}},
		{Bench: "mailbox", Actor: Target{Ratio: 6}, Process: Target{Ratio: 3}},
		{Bench: "flow", Params: []string{"messages=5000000"}, Actor: Target{Ratio: 3}, Process: Target{Ratio: 2}},
		{Bench: "chameneos", Actor: Target{Ratio: 3.5}, Process: Target{Ratio: 1.6}, Even: true},
		{Bench: "big", Params: []string{"each=20000"}, Actor: Target{Ratio: 2.7}, Process: Target{Ratio: 1.6}},
		{Bench: "fib", Actor: Target{Ratio: 5.5}, Process: Target{Ratio: 2.5}},
		{Bench: "nqueens", Params: []string{"size=12"}, Actor: Target{Ratio: 2.7}, Process: Target{Ratio: 2.4}},
		{Bench: "spawn", Actor: Target{Ratio: 8, Bytes: 350}, Process: Target{Ratio: 1, Bytes: 3200}},
		{Bench: "mixed", Params: []string{"number=20127115513867"}, Actor: Target{Ratio: 5}, Process: Target{Ratio: 2.3}},
		{Bench: "coop"},
		{Bench: "coop", Params: []string{"suspended=all"}, Styles: []string{contract.Actor, contract.Active}},
		{Bench: "coop", Params: []string{"calls=20000", "suspended=all"}, Styles: []string{contract.Actor, contract.Active}},
		{Bench: "match"},
		{Bench: "match", Params: []string{"waiting=1000"}, Styles: []string{contract.Process, contract.Coroutine}},
		{Bench: "copy"},
		{Bench: "collect"},
		{Bench: "await"},
		{Bench: "until"},
		{Bench: "until", Params: []string{"users=20000"}},
		{Bench: "join"},
		{Bench: "selective"},
		{Bench: "blocking"},
		{Bench: "gencall", Actor: Target{Ratio: 3.5}},
		{Bench: "restart", Actor: Target{Ratio: 50}, Process: Target{Ratio: 50}},
		{Bench: "supertree", Actor: Target{Ratio: 3}, Process: Target{Ratio: 3}},
		{Bench: "etf_encode", Params: []string{"term=tuple"}, Actor: Target{Ratio: 1}},
		{Bench: "etf_decode", Params: []string{"term=tuple"}, Actor: Target{Ratio: 1}},
		{Bench: "etf_encode", Params: []string{"term=list", "times=5000"}, Actor: Target{Ratio: 1}},
		{Bench: "etf_decode", Params: []string{"term=list", "times=5000"}, Actor: Target{Ratio: 1}},
		{Bench: "remote_latency", Actor: Target{Ratio: 1}, Process: Target{Ratio: 1}},
		{Bench: "remote_throughput", Actor: Target{Ratio: 7}},
		{Bench: "remote_throughput", Params: []string{"senders=64"}, Actor: Target{Ratio: 7}},
		{Bench: "remote_spawn"},
		{Bench: "remote_spawn", Params: []string{"callers=64"}},
		{Bench: "remote_call", Actor: Target{Ratio: 1}, Process: Target{Ratio: 1}},
		{Bench: "remote_call", Params: []string{"calls=200000", "callers=64"}, Actor: Target{Ratio: 5}, Process: Target{Ratio: 5}},
		{Bench: "remote_call", Params: []string{"proto=erlang"}, Actor: Target{Ratio: 1}, Process: Target{Ratio: 1}},
		{Bench: "remote_call", Params: []string{"calls=200000", "callers=64", "proto=erlang"},
			Actor: Target{Ratio: 5}, Process: Target{Ratio: 5}},
		{Bench: "remote_bulk"},
		{Bench: "remote_idle"},
		{Bench: "remote_cpu", Params: []string{"rate=100"}},
		{Bench: "remote_cpu"},
		{Bench: "remote_cpu", Params: []string{"rate=10000"}},
	}
}

// Smoke returns every bench once with tiny parameters, to show only that it works, and without targets.
func Smoke() []Case {
	return []Case{
		{Bench: "threadring", Params: []string{"n=5", "hops=1000"}},
		{Bench: "latency", Params: []string{"roundtrips=100"}},
		{Bench: "ring", Params: []string{"n=20", "tokens=3", "passes=1000"}},
		{Bench: "mailbox", Params: []string{"senders=3", "each=100"}},
		{Bench: "flow", Params: []string{"pairs=2", "messages=1000", "window=10"}},
		{Bench: "chameneos", Params: []string{"creatures=4", "meetings=100"}},
		{Bench: "big", Params: []string{"n=5", "each=20"}},
		{Bench: "fib", Params: []string{"n=10"}},
		{Bench: "nqueens", Params: []string{"size=6", "workers=2", "threshold=2"}},
		{Bench: "spawn", Params: []string{"n=1000"}},
		{Bench: "mixed", Params: []string{"rings=2", "size=3", "token=10", "repeats=2", "number=391"}},
		{Bench: "coop", Params: []string{"calls=10", "depth=2"}},
		{Bench: "collect", Params: []string{"n=3000", "round=500"}},
		{Bench: "match", Params: []string{"messages=200"}},
		{Bench: "copy", Params: []string{"messages=600"}},
		{Bench: "await", Params: []string{"calls=15"}},
		{Bench: "until", Params: []string{"items=30", "users=3", "size=2"}},
		{Bench: "join", Params: []string{"joins=5", "width=3"}},
		{Bench: "selective", Params: []string{"asks=100", "waiting=50"}},
		{Bench: "blocking", Params: []string{"handlers=5", "sleep_ms=2", "times=2"}},
		{Bench: "remote_latency", Params: []string{"roundtrips=20"}},
		{Bench: "remote_throughput", Params: []string{"messages=100"}},
		{Bench: "remote_spawn", Params: []string{"spawns=20"}},
		{Bench: "remote_call", Params: []string{"calls=20", "callers=3"}},
		{Bench: "remote_bulk", Params: []string{"mib=1"}},
		{Bench: "remote_idle", Params: []string{"nodes=3"}},
		{Bench: "remote_cpu", Params: []string{"roundtrips=20"}},
		{Bench: "restart", Params: []string{"restarts=10"}},
		{Bench: "gencall", Params: []string{"calls=100"}},
		{Bench: "supertree", Params: []string{"n=100"}},
		{Bench: "etf_encode", Params: []string{"times=10"}},
		{Bench: "etf_decode", Params: []string{"term=list", "times=10"}},
	}
}

// benches returns the names of the benches of cases, each once.
func benches(cases []Case) []string {
	var names []string
	for _, c := range cases {
		if !slices.Contains(names, c.Bench) {
			names = append(names, c.Bench)
		}
	}
	return names
}
