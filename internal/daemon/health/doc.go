// Package health is the HTTP server of the daemon: liveness, readiness, metrics and profiles.
//
// # Nouns
//
//   - A [Check] is a named condition; the daemon is ready if all of them hold.
//   - A [Config] configures a [Server], which runs until it is stopped.
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
// Any other path is 404. Responses forbid caching. HEAD works like GET; other methods are 405.
//
// # Invariants
//
//  1. Checks run at each request, in their order; nothing runs between requests.
//  2. No request changes the state of the daemon.
//
// # Goroutines
//
//	name      started by    ends with            owns
//	server    Start         Stop                 the listener
//	requests  the server    their answer, Stop   one connection each
//
// # Limits and versions
//
// HTTP/1.1, without TLS and without a password: the address should be one that only authorized users can reach. The header
// of a request may take 5 s, a response 15 s (a profile 15 s in addition to its own time); headers are 16 KiB at most.
//
// There are at most Config.Connections connections. Beyond that a new one replaces the connection that has been idle for
// the longest; if none is idle, the oldest one that has not sent its whole request; if all have a request in progress, it
// waits. So neither idle nor slow connections lock out other clients. Profiles take long: a client that may request them
// can occupy all connections.
package health
