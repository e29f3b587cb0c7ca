// Package systemd reports the state of this program to the service manager that started it, with the protocol of
// sd_notify(3).
//
// # Nouns
//
//   - A [Service] is this program, as the manager sees it.
//   - A message is a datagram of lines NAME=VALUE to the socket that the variable NOTIFY_SOCKET names.
//   - The watchdog is part of the manager: it kills a program that has sent no WATCHDOG=1 for the time in WATCHDOG_USEC.
//
// Without NOTIFY_SOCKET all methods do nothing, so callers need not know whether there is a manager:
//
//	s := systemd.New(os.LookupEnv, log)
//	defer s.Close()
//	go s.Feed(ctx, alive)
//	s.Ready("go@a is up")
//	s.Reload(readConfiguration)
//	s.Stopping("draining", 30*time.Second)
//
// The library github.com/coreos/go-systemd can send these messages, too. But it opens a socket for each, blocks without a
// limit if the manager does not read, reads only the variables of the process, and handles neither phases nor the feeding
// of the watchdog.
//
// # Phases
//
//	starting ──Ready──► ready ◄──READY=1── reloading
//	    │                 └────RELOADING=1────►
//	    └──────────────── Stopping ────────────► stopping
//
// # Invariants
//
//  1. READY=1 is sent only after Ready, and only WATCHDOG=1 and STATUS after STOPPING=1.
//  2. Between RELOADING=1 and its READY=1 only WATCHDOG=1 is sent.
//  3. Feed sends WATCHDOG=1 only after alive has succeeded, except while the program stops: the stop has its own limit.
//  4. A message takes at most a second. One that cannot be sent is lost, and logged.
//
// # Goroutines
//
// The package starts none. Feed runs on the caller's goroutine until its context ends. All methods may be called
// concurrently.
package systemd
