// Netrpc benchmarks calls between two OS processes with net/rpc, Go's own package for that, and encoding/gob, its
// codec. A call has a name, a number and a struct. There is no process behind it, no deadline, no link, no order: the
// server runs each call on a goroutine of its own.
//
//		run build                   compile
//		run list                    the benches, one a line
//		run BENCH [key=value ...]   one bench, one JSON line
//
//	 1. The near end listens on the loopback interface and the far end dials, as with the
//	    other peers; then the far end serves calls on that connection and the near end makes
//	    them.
//
//	 2. All callers share one client, and so one connection, as all processes of a node
//	    share the connection to another.
//
//	 3. The parameters proto and style have no effect: there is one protocol, and no actor.
//
//	    goroutine   started by    ends
//	    wait        package pair  with the far end's OS process; Between waits for it
//	    caller      package pair  when its calls are answered, or one has failed
package main
