// Package forward hands requests on to other processes, and makes the caller watch those processes.
//
//	func (f *front) Receive(c *node.Context, msg any) error {
//		if r, ok := msg.(node.Request[Job]); ok {
//			return forward.Request(c, r, f.next())
//		}
//		return nil
//	}
//
// A process may hand a request on by sending it as a message. But the caller goes on watching the process that it
// called: if the process that got the request dies, the caller waits for its timeout, as in OTP. [Request] hands on the
// watch, too: the death of that process fails the call at once. Nothing changes for the caller, nor
// for the process that answers: it gets a request like any other.
//
// Nouns: the caller makes the request, the forwarder hands it on, and the worker gets it.
//
// # Invariants
//
//  1. The caller gets one answer: the worker's answer, or the worker's end, whichever comes first.
//  2. When the caller has its answer, or no longer waits, nothing of the watch is left here.
//  3. A request that could not be handed on stays with the forwarder: it answers, or tries another worker.
//  4. The end of the forwarder does not end the call, once the request has been handed on.
//
// # What the caller gets
//
//	the worker exits                    a [*node.ExitError] with its reason
//	the worker was gone                 a [*node.ExitError], noproc: errors.Is it [node.ErrNoProcess]
//	the connection to it is lost        a [*node.ExitError], noconnection
//	nobody has the name, on its node    [node.ErrNoName]; a caller on another node gets noproc
//
// # Other nodes
//
// A worker on this node answers a caller on another node directly. To a worker on another node the forwarder's node makes
// a call of its own: From.Caller is the forwarder there, and the answer comes back through this node. If the connection to
// this node is lost, the caller sees the loss of the node that it called. The worker may forward the request again, to
// any process.
//
// A caller on another node monitors the process that it called. If that is the forwarder, Request takes the monitor
// over: it no longer reports the forwarder's end; the end of the worker fires it, as a Down with the forwarder's PID. So
// gen_server:call of OTP exits with the worker's reason, as if it had called the worker. If another process forwards
// the request, the Down comes as well, but the end of the process that was called still ends the call. A caller without
// a monitor that has the reference of its request, as callers by OTP's module gen have, gets a reply: {error, Reason}.
//
// # Goroutines
//
// None: the answer, or the death of the worker, settles the call.
//
// # Limits
//
// If a process of the same node forwards a request again, the last worker is watched. A worker on this
// node that had it before can still answer; one on another node cannot. A forwarded request takes some 300 bytes until it
// is answered. With Config.DetectCycles the caller counts as waiting for the forwarder. A forwarder with an Owner
// (package lifetime) is kept until the request is answered. The name of a worker on another node is looked up there.
package forward
