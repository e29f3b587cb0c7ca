// Package attack attacks running daemons, and checks the invariants of each attack. It contains only tests: rows of a
// table, each against a separate process of cmd/actornode. Package raw has clients that violate the protocols on purpose.
//
//	ACTORNODE_TESTS=merge go test ./deploy/attack    the quick attacks, as in make merge
//	make night PARTS=attack                          all of them, and the table of what came out
//	ACTORNODE_TESTS=merge go test ./deploy/attack -run Attacks/plain/epmd -v    some
//
// # Nouns
//
//   - A [row] is an attack: a name, the setup of its daemon, a function that attacks, and the expectations.
//   - A setup defines how a daemon is started. Rows of one setup share a daemon, one after the other; two setups run at a
//     time.
//   - The vault is a daemon with its own main and passwords in its processes: the test binary itself.
//   - A bystander is a well-behaved client. Some hold a connection by each protocol and call counter all the time, one
//     reconnects again and again. Their longest wait measures the service for others.
//
// # What must hold
//
// For every row, unless it says otherwise:
//
//   - The process is alive, /livez and /readyz return ok, and the log has no panic and no race.
//   - The peak resident memory during the attack is below 256 MiB. The address space is limited to 4 GiB.
//   - No connection of a bystander breaks or is refused, and none waits for more than 5 s.
//   - Within 20 s after the attack the numbers of goroutines and open files are back to their previous values.
//   - At most 128 KiB of log were written, plus 96 KiB for each second after the first, without the cookie, and without
//     control characters.
//
// These times are for an idle machine. The test measures the speed of the machine and scales them. They are checked only in
// make night and with -attack.all, where nothing else runs; in make merge it is enough that events happen at all.
//
// The attack itself checks refusals, with require.
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
// A row that takes more than a second or two has slow: true, and runs only in make night and with -attack.all. One that
// needs root, another program or another system declares it in needs, and is skipped if that is missing.
//
// # Goroutines
//
//	name            started by    ended by           owns
//	bystander.run   target        the target's end   its connection and its figures
//	group           TestAttacks   its last row       a target
//
// # Time
//
// A Go program reads the time from the kernel, without libc: libfaketime has no effect, which a row shows. A time namespace
// shifts only the monotonic clock, before the start. So no row lets the wall clock jump while a daemon runs.
//
// Seeds are fixed: an attack sends the same bytes each time.
package attack
