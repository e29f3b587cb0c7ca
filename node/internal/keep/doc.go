// Package keep keeps the services of a node up: processes that are started again when they have
// ended, in whatever way. A plan (restart.go) says when, and when a service is given up.
//
// # Nouns
//
//   - A [Service] is a process that is kept up.
//   - A [Keeper] keeps the services of one node up.
//   - A [Host] is the node, as far as a keeper knows it.
//
// # Invariants
//
//  1. Each service of a keeper has one goroutine, until the service has been given up or the
//     keeper is stopped.
//  2. The PID of a service is that of the process that its goroutine waits for, or zero: none
//     runs.
//
// # Goroutines
//
//	goroutine   started by     ended by                waited for by
//	keep        Keeper.Keep    Stop, or giving up      Stop
package keep
