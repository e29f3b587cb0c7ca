// Package attack attacks running daemons, and says of each attack what must hold. It is
// tests only: rows of a table, each against the program cmd/actornode in a process of
// its own. Package raw has the clients that speak the protocols wrongly on purpose.
//
//	ACTORNODE_TESTS=merge go test ./deploy/attack    the quick attacks, as in make merge
//	make night PARTS=attack                          all of them, and the table of what came out
//	ACTORNODE_TESTS=merge go test ./deploy/attack -run Attacks/plain/epmd -v    some
//
// # Nouns
//
//   - A [row] is an attack: a name, the setup of the daemon that it needs, a function
//     that attacks, and what must hold.
//   - A setup is how a daemon is started. Rows of one setup share a daemon, one after
//     the other; two setups run at a time.
//   - The vault is a daemon that is a program of its own, with passwords in its processes: the
//     test binary itself.
//   - A bystander is a client that means no harm. Some hold a connection by each
//     protocol and call counter all the time, one connects anew again and again. How
//     long they wait at most is how well others are served.
//
// # What must hold
//
// Of every row, unless it says something else:
//
//   - The process lives, /livez and /readyz say ok, and no panic and no race is in the log.
//   - The most memory that was resident during the attack is below 256 MiB. Beyond
//     4 GiB of address space the process could not live.
//   - No connection of a bystander breaks, none waits for more than 5 s, and nobody is refused.
//   - Within 20 s after the attack goroutines and open files are back where they were.
//   - At most 128 KiB of log were written, 96 KiB more for each second after the first,
//     without the cookie, and without control characters.
//
// These times are those of an idle machine. How slow the machine is is measured meanwhile,
// and they are as many times as long. They are judged in make night and with -attack.all only,
// where nothing else runs beside; in make merge it counts that things happen at all.
//
// What must be refused is checked by the attack itself, with require.
//
// # To add a row
//
// Append it to one of the tables: strangers (nodes without the cookie), ports (EPMD,
// gossip, HTTP), terms (frames and terms that are wrong, with the cookie), controls and
// frames (made from shapes: each control message and native frame with each field wrong),
// gonodes (what only nodes of this project send each other: Go values, futures, types),
// flows (peers that take too much, too slowly, without end), kernels (the node's own
// processes), others (peers that the node dials, TLS, rights), resources (what the
// system gives to the process), secrets (what must not leave the process, or be guessed),
// starts (files that block, and a port mapper that ends, when it starts, reloads and ends).
//
//	{name: "erlang names of 64 KiB", attack: func(a *attempt) {
//		for range 50 {
//			e := a.openErlang()
//			require.NoError(a, e.SendMessage(append([]byte("N"), make([]byte, 65_534)...)))
//			a.closes(e.Conn, 2*time.Second)
//		}
//	}, want: want{log: `msg="refused an incoming connection"`}},
//
// A row that takes more than a second or two is slow: true, and runs in make night and with
// -attack.all only. One that needs root, another program or another system says so in needs, and is
// skipped where that is missing.
//
// # Goroutines
//
//	name            started by    ended by           owns
//	bystander.run   target        the target's end   its connection and its figures
//	group           TestAttacks   its last row       a target
//
// # Time
//
// A program of Go asks the kernel for the time, past libc: libfaketime is loaded and
// has no effect, which a row shows. A time namespace shifts the monotonic clock only,
// before the start. So no row has a wall clock jump while a daemon runs.
//
// Seeds are fixed: an attack sends the same bytes each time.
package attack
