// Package admin is the operator's service of a node, and the client used by the command line. Package node/admin documents
// the service, its requests and answers as terms, which peers may make them and what can be lost; programs start the
// service there.
//
// # Nouns
//
//   - The service is a process registered as [Name]. [Start] starts it with a [Config].
//
//   - The client is a set of functions: [Status], [Processes] and so on. Each makes one request, from a node or a process
//     on one.
//
//   - A [Stream] delivers events as they happen: messages of traced processes ([Trace]), or dead letters ([DeadLetters]).
//
//     s, err := admin.Status(ctx, from, "go@host")
//     top, err := admin.Processes(ctx, from, "go@host", admin.Query{Sort: "mailbox", Limit: 20})
//     trace, err := admin.Trace(ctx, from, "go@host", admin.TraceQuery{Targets: []any{"counter"}})
//     for e := range trace.C { … }
//
// # Invariants
//
//  1. The service never blocks: each request that may take long runs in its own process. Beyond Config.Workers of them the
//     answer is busy.
//  2. An answer, a stream's buffer and the number of streams are bounded.
//  3. A stream ends with its client, with the node, or when its client closes it.
//  4. With [Config].ReadOnly no request changes anything except what is being traced.
//
// # Goroutines
//
//	name      started by          ends with                  owns
//	worker    a request           its answer, or the node    nothing: a Process
//	pump      a stream            the stream                 the source of its events
//	reader    a client's Stream   Close, its end, its ctx    the client's handle
package admin
