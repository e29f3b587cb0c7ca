// Package forward hands requests on to other processes, together with the watch of the caller.
//
//	func (f *front) Receive(c *node.Context, msg any) error {
//		if r, ok := msg.(node.Request[Job]); ok {
//			return forward.Request(c, r, f.next())
//		}
//		return nil
//	}
//
// A process may hand a request on by sending it as a message. But the caller goes on watching the process that it has
// called: if the one that has the request then dies, the caller waits for its timeout, as in OTP. [Request] hands on the
// watch, too: the caller gets the death of that process as its error, at once. Nothing changes for the caller, and nothing
// for the process that answers: it gets a request like any other.
//
// Nouns: the caller has made the request, the forwarder hands it on, and the worker gets it.
//
// # Invariants
//
//  1. The caller gets one answer: what the worker says, or the worker's end, whichever comes first.
//  2. When the caller has its answer, or no longer waits, nothing of the watch is left here.
//  3. A request that could not be handed on is the forwarder's, as before: it answers, or tries another worker.
//  4. The end of the forwarder does not end the call, once the request has been handed on.
//
// # What the caller gets
//
//	the worker exits                    a [*node.ExitError] with its reason
//	the worker was gone                 a [*node.ExitError], noproc: errors.Is it [node.ErrNoProcess]
//	the connection to it is lost        a [*node.ExitError], noconnection
//	nobody has the name, on its node    [node.ErrNoName]; a caller of another node noproc
//
// # Other nodes
//
// A worker of this node answers a caller of another one directly. To a worker of another node the forwarder's node makes a
// call of its own: From.Caller is the forwarder there, and the answer comes back through this node. If this node is lost
// the caller hears it as the loss of the node that it has called. The worker may forward the request again, to whom it
// likes.
//
// A caller of another node has a monitor over the process that it has called. If that is the forwarder, the monitor is taken
// over: it says nothing of the forwarder's end, and the end of the worker is its Down, with the PID of the forwarder. So
// gen_server:call of OTP exits with the reason of the worker, as if the worker had been called. If somebody else forwards
// the request, the Down comes as well, but the end of the process that was called still ends the call. A caller that has
// no monitor by the reference of its request, as all made by OTP's module gen have, gets a reply: {error, Reason}.
//
// # Goroutines
//
// None: who answers, or the death of the worker, settles the call.
//
// # Limits
//
// A request that is forwarded again by a process of the same node is watched where it went last. A worker of this
// node that had it before can still answer; one of another node cannot. A forwarded request takes some 300 bytes until it is
// answered. With Config.DetectCycles the caller counts as one who waits for the forwarder. A forwarder with an Owner
// (package lifetime) is kept until the request is answered. The name of a worker on another node is looked up there.
package forward
