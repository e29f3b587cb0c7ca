// Package health is the HTTP side of the daemon: whether it lives, whether it is
// ready, its metrics, and its profiles.
//
// # Nouns
//
//   - A [Check] is a condition with a name; all of them must hold for the daemon to
//     be ready.
//   - A [Config] says what is served; a [Server] serves it until it is stopped.
//
// How it is used:
//
//	s, err := health.Start(health.Config{Listen: "127.0.0.1:9100", Checks: checks, Alive: alive})
//	defer s.Stop(ctx)
//
// # What is served
//
//	GET /livez         200 "ok", or 503 with why not: the program should be restarted
//	GET /readyz        200 "ok", or 503 with the names of what fails and why
//	GET /readyz?verbose  the same as JSON: {"ready":false,"checks":[{"name":"cluster","ok":false,"error":"…"}]}
//	GET /metrics       Config.Metrics, if there is one
//	GET /debug/pprof/  profiles, if Config.Pprof; never the command line
//
// All else is 404. Answers are not to be cached. HEAD works as GET; other methods
// are 405.
//
// # Invariants
//
//  1. Checks are asked at each request, in their order, and cost what they cost
//     then: nothing goes on between requests.
//  2. Nothing that is served changes anything.
//
// # Goroutines
//
//	name      started by    ends with            owns
//	server    Start         Stop                 the listener
//	requests  the server    their answer, Stop   one connection each
//
// # Limits and versions
//
// HTTP/1.1, without TLS and without a password: the address should be one that
// only authorized users can reach. A request has 5 s for its header, an answer 15 s (a
// profile 15 s beside its own time); headers are 16 KiB at most.
//
// There are at most Config.Connections connections. A new one that comes then takes
// the place of the one that has been idle for the longest; if none is idle, of the
// oldest that has not sent its whole request; if all are being answered, it waits. So
// neither idle connections nor slow ones lock out other clients. Profiles take long: a client
// that may ask for them can occupy all connections.
package health
