// Package raw speaks the protocols of a daemon byte by byte, for tests that speak them
// wrongly on purpose, and runs a daemon in a process of its own for them to attack.
//
// # Nouns
//
//   - A [Conn] is a connection whose every read and write has a time limit.
//   - [EPMD], [Erlang], [Native], [Gossip] and [HTTP] are clients of one protocol each.
//     A client has a method for each step of its handshake, which takes the values that
//     an attack wants to be wrong, and one that does all steps ([DialErlang],
//     [DialNative]).
//   - A [Daemon] is the program cmd/actornode in a process of its own, with the
//     limits of [Options]. Build makes the program once a test process.
//
// A process of the demo is called, as a node that nobody has heard of:
//
//	d := raw.Start(t, raw.Options{})
//	e, err := raw.DialErlang(d.Erlang, raw.Self("x@127.0.0.1", 1), d.Cookie)
//	err = e.Control(wire.Tuple{6, e.PID(1), wire.Atom(""), wire.Atom("counter")}, message)
//	frame, err := e.Frame()
//
// Nothing here checks what a peer says beyond what is needed to go on: that is for the
// callers. No method waits longer than [Conn].Patience.
//
// # Goroutines
//
//	name              started by  ended by              owns
//	Daemon.watch      Start       the daemon's end      cmd.Wait
//	os/exec's copier  Start       the daemon's end      what the daemon prints
package raw
