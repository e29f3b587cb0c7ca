// Package systemd tells the service manager that has started this program how the program is: the protocol of sd_notify(3).
//
// # Nouns
//
//   - A [Service] is this program, as the manager sees it.
//   - A message is a datagram of lines NAME=VALUE to the socket that the variable NOTIFY_SOCKET names.
//   - The watchdog is the manager's: it ends a program that has sent no WATCHDOG=1 for the time in WATCHDOG_USEC.
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
// The library github.com/coreos/go-systemd has the messages, too. It opens a socket for each, waits without a limit where the
// manager does not read, reads the variables of the process only, and knows neither phases nor who feeds the watchdog.
//
// # Phases
//
//	starting ──Ready──► ready ◄──READY=1── reloading
//	    │                 └────RELOADING=1────►
//	    └──────────────── Stopping ────────────► stopping
//
// # Invariants
//
//  1. READY=1 is sent after Ready only, and nothing but WATCHDOG=1 and STATUS after STOPPING=1.
//  2. Between RELOADING=1 and the READY=1 that answers it there is nothing but WATCHDOG=1.
//  3. Feed sends WATCHDOG=1 only after the program has answered, except while it stops: the stop has a limit of its own.
//  4. A message takes at most a second. One that cannot be sent is lost, and logged.
//
// # Goroutines
//
// The package starts none. Feed runs in one of its caller's until its context ends. All methods may be called at the same time.
package systemd
