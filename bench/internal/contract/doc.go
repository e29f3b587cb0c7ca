// Package contract is shared by all benched systems written in Go: the command line of a bench, its timing, and its JSON
// line.
//
// Its nouns: a [System] is a program with a table of benches; a [Bench] is one of them, with its [Param] list; a body
// receives its [Params] and a [Meter]; its output is a [Result]. A complete system is
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
// Every program that calls [System.Main] guarantees:
//
//  1. Stdout has one JSON line if the exit status is 0, and nothing otherwise.
//  2. Status 1 means a failed check of the bench, status 2 a usage error; in both cases stderr describes the error, and for
//     a usage error what is allowed.
//  3. Only the work between Start and Stop is timed, on the monotonic clock.
//  4. Parameters are printed in the order they are declared, extras in the order
//     they are reported.
//  5. GOGC is 400, as in the daemon, unless the environment sets it.
//
// The package starts no goroutines. A body must end its own goroutines.
package contract
