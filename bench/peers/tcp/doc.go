// Tcp is the baseline for every networked Go program: the benches between two OS processes written with net.Conn and
// length-prefixed bytes, without nodes. Nothing here has a name, a term, a codec, a link, a heartbeat, a bounded queue, an
// order beyond that of one connection, or more than one receiver per connection. The difference to a distributed system is
// the cost of these.
//
//	run build                   compile
//	run list                    the benches, one a line
//	run BENCH [key=value ...]   one bench, one JSON line
//
// Each bench is a file: its entry in the table of main.go, its near end, which runs it, and its far end, which runs in
// another OS process of the same program. The near end listens on the loopback interface on a port chosen by the system,
// the far end dials. Sockets have Go's defaults, including TCP_NODELAY.
//
//  1. A message on the wire is
//
//     4 bytes   the length of the rest, big-endian
//     8 bytes   a number, big-endian
//     n bytes   zeros
//
//     and the answer of remote_throughput the length and three numbers.
//
//  2. What is sent is a fresh []byte a message, and so is what comes. A reader
//     allocates no more than the bench's own size, whatever the length says.
//
//  3. remote_latency: one Write and one Read a ball at each end, on the goroutine
//     that serves or returns it. No other goroutine is woken: what an actor system
//     adds here are the wake-ups behind its reader. The ball takes 32 bytes on the
//     wire; that of this node takes 17 in the native protocol and 70 in Erlang's.
//
//  4. remote_throughput: the senders share one buffered writer under a mutex, and the last of them flushes it. No sender
//     flushes for latency, unlike in a node, which cannot know whether more messages follow.
//
//  5. Every goroutine and the far end have ended when the bench returns.
//
// Neither bench has the parameter proto: there is no protocol to choose.
//
//	goroutine   started by          ends
//	wait        package pair        with the far end's OS process; stop waits for it
//	sender      remote_throughput   when it has sent its numbers, or the connection is gone
//
// remote_latency has two speeds. A ball that stays on one core costs at each end a
// write, a read that finds nothing, a wait for the socket and a read, and two switches
// between the processes. One that goes to the other core and back pays besides for
// waking that up twice, and takes four to eight times as long. The scheduler of the
// system chooses, run by run: compare medians of many rounds, or pin all of a
// comparison to one core (taskset -c 0).
package main
