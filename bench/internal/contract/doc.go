// Package contract is what every benched system written in Go shares: the
// command line of a bench, its timing, and the one JSON line that it prints.
//
// Its nouns: a [System] is a program with a table of benches; a [Bench] is one
// of them, with its [Param] list; a body gets its [Params] and a [Meter]; what
// comes out is a [Result]. A whole system is
//
//	var latency = contract.Bench{
//		Name:   "latency",
//		About:  "two actors, one ball",
//		Params: []contract.Param{contract.Int("roundtrips", 1_000_000), contract.Style()},
//		Ops:    func(p contract.Params) int { return p.Int("roundtrips") },
//		Run:    runLatency,
//	}
//
//	func runLatency(p contract.Params, m *contract.Meter) error {
//		// ... make the actors, not timed ...
//		m.Start()
//		// ... the work ...
//		m.Stop()
//		if returned != p.Int("roundtrips") {
//			return fmt.Errorf("%d balls came back", returned)
//		}
//		return nil
//	}
//
//	func main() {
//		s := contract.System{Name: "actornode", Version: "dev", Benches: []contract.Bench{latency}}
//		os.Exit(s.Main(os.Args[1:], os.Stdout, os.Stderr))
//	}
//
// What holds of every program that calls [System.Main]:
//
//  1. Stdout carries one JSON line, and only where the exit status is 0.
//  2. Status 1 is the bench's own check, status 2 the command line; either way
//     stderr says what was wrong, and for the command line what is allowed.
//  3. Only what runs between Start and Stop is timed, on the monotonic clock.
//  4. Parameters are printed in the order they are declared, extras in the order
//     they are reported.
//  5. The heap grows by 400% before it is collected (GOGC), as that of the daemon,
//     where the environment says nothing else.
//
// The package starts no goroutine. A body's goroutines are the body's to end.
package contract
