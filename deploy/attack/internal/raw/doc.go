// Package raw implements the protocols of a daemon byte by byte, for tests that violate them on purpose, and runs a daemon
// in a separate process for them to attack.
//
// # Nouns
//
//   - A [Conn] is a connection with a timeout for every read and write.
//   - [EPMD], [Erlang], [Native], [Gossip] and [HTTP] are clients of one protocol each. A client has a method for each step
//     of its handshake, whose parameters are the values that an attack wants to falsify, and one that does all steps
//     ([DialErlang], [DialNative]).
//   - A [Daemon] is a separate process of cmd/actornode, with the limits of [Options]. Build builds the program once per
//     test process.
//
// This calls a process of the demo from an unknown node:
//
//	d := raw.Start(t, raw.Options{})
//	e, err := raw.DialErlang(d.Erlang, raw.Self("x@127.0.0.1", 1), d.Cookie)
//	err = e.Control(wire.Tuple{6, e.PID(1), wire.Atom(""), wire.Atom("counter")}, message)
//	frame, err := e.Frame()
//
// The package checks the data of a peer only as far as it needs to continue: the rest is up to the callers. No method waits
// longer than [Conn].Patience.
//
// # Goroutines
//
//	name              started by  ended by              owns
//	Daemon.watch      Start       the daemon's end      cmd.Wait
//	os/exec's copier  Start       the daemon's end      what the daemon prints
package raw
