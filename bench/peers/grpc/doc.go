// Grpc benchmarks calls between two OS processes with gRPC-Go and protocol buffers, both as generated: unary calls,
// insecure credentials, default options. A call has a method, an optional deadline, headers and a message. There is no
// process behind it, no link, no order: the server runs each call on a goroutine of its own.
//
//	run build                   compile; the Go command fetches the modules
//	run list                    the benches, one a line
//	run BENCH [key=value ...]   one bench, one JSON line
//
// The peer is a module of its own, so that this repository does not depend on gRPC. protoc-gen-go and
// protoc-gen-go-grpc generate folder ledger from ledger.proto.
//
//  1. The near end listens on the loopback interface and the far end dials, as with the
//     other peers; then the far end serves calls on that connection and the near end makes
//     them.
//
//  2. All callers share one client, and so one connection, as all processes of a node
//     share the connection to another.
//
//  3. The parameters proto and style have no effect: there is one protocol, and no actor.
//
//     goroutine   started by    ends
//     wait        package pair  with the far end's OS process; Between waits for it
//     caller      package pair  when its calls are answered, or one has failed
//     gRPC's own  gRPC          with the connection; Close and GracefulStop wait for them
package main
