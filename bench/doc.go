// Bench measures this node's actors and compares them with other systems on the
// same machine in the same run.
//
//	go run ./bench list                     the benches with their parameters
//	go run ./bench BENCH [key=value ...]    one bench, one JSON line
//	go run ./bench compare [key=value ...]  this node against its peers
//
// # One bench
//
// A run prints one line, here on several:
//
//	{"system":"actornode","version":"dev","bench":"threadring",
//	 "params":{"n":503,"hops":5000000,"style":"actor"},
//	 "seconds":0.3,"ops":5000000,"ops_per_sec":16666667,"ns_per_op":60,
//	 "peak_rss_mib":12.1,"extra":{}}
//
// seconds is the bench's own work on the monotonic clock; peak_rss_mib is the
// most memory that was ever resident, 0 where there is no /proc; extra has what
// else the bench measures, such as bytes_per_actor. The exit status is 0, 1
// where the bench's own check of its result fails, and 2 for an unknown bench or
// a wrong parameter, each with a line on stderr. (go run itself turns every
// status but 0 into 1; a program made with go build does not.)
//
// style=actor (the default) runs event-driven actors, style=process blocking
// ones, where both make sense. Messages are fresh small structs, sent through
// the public API.
//
// # A comparison
//
// compare builds the peers under bench/peers, runs them and both styles of this
// node in turn, and prints medians, ratios against Erlang, and whether the
// targets are met; it writes the same to RESULTS.md and a picture of it to
// RESULTS.svg, both in this folder. It takes
//
//	rounds=5              how often everything is run
//	benches=a,b           only these
//	peers=erlang,channels only these
//	styles=actor,process  only these
//	timeout=120           seconds a run may take
//	write=0               print the table only
//	quick=1               a smoke run: one round of every bench with tiny
//	                      parameters; prints the table only
//
// and exits with 1 if a run failed or was not done in time, after everything
// else is done. A bench that a system does not have shows as "-", a peer whose
// tools are not installed as that. Parameters and targets of the comparison are
// the table in internal/contest.
//
// # A new bench
//
// A bench is a file with one [contract.Bench] and its body:
//
//	var latency = contract.Bench{
//		Name:   "latency",
//		About:  "two actors, one ball",
//		Params: []contract.Param{contract.Int("roundtrips", 1_000_000), contract.Style()},
//		Ops:    func(p contract.Params) int { return p.Int("roundtrips") },
//		Run:    runLatency,
//	}
//
//	func runLatency(p contract.Params, m *contract.Meter) error
//
// The body makes what it needs on a node that onNode starts and stops for it,
// calls m.Start and m.Stop around the work that is timed, reports other figures
// with m.Extra, and returns an error if its result is wrong. It reads its
// parameters once, before the work. Enter the bench in the table of main.go
// and, with tiny parameters, in contest.Smoke; a test says so if either is
// forgotten.
//
// # A new peer
//
// A peer is a folder under peers with an executable named run, which takes
// build, list, or a bench with parameters as above, and exits with 3 where its
// tools are not installed. It is found by being there. A peer in Go gets all
// but the bodies from the contract package, as peers/channels does.
package main
