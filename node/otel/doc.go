// Package otel makes spans of OpenTelemetry for what Actors handle. A trace goes through processes, nodes and languages.
//
//	cfg := node.Config{Name: "shop@10.0.0.1"}
//	otel.Trace(&cfg, otel.Config{Ratio: 0.01})
//	n, err := node.Start(cfg)
//
// The program sets up the SDK of OpenTelemetry, which this package does not import, before that: otel.SetTracerProvider, or
// Provider in [Config].
//
// # How a trace travels
//
// The context of a span, a W3C traceparent, is the label of a sequential trace token: see package seqtrace. So it goes with
// messages, calls and spawns, by both protocols, to and from OTP, through processes and nodes that know nothing of traces. An
// Elixir program hands its context on with :seq_trace.set_token(:label, traceparent): docs/guides/traces.md has the code.
//
// # Semantics
//
//   - A message that comes with a sampled traceparent has a span while its handler runs: of kind server for a call, consumer
//     for others. What the handler sends, calls and spawns belongs to that span. One that is not sampled has none,
//     and its label is passed on.
//   - A message without a token begins a trace if Config says so. A token with another label is left alone.
//   - The span has the registered name of the process, or its behaviour, and the Go type of the message, or of what a call asks:
//     "till main.Deposit". No value of a message is in it.
//   - A handler that ends its process by an error or a panic has a span with the status error and the error's text; the crash
//     report, with what a supervisor decides, has trace_id and span_id. Reasons normal and shutdown are no errors. An error
//     that a call is answered with is not seen.
//   - Lines of c.Log() have trace_id and span_id.
//   - Calls and Deliver by a plain goroutine carry the span of their ctx. See TokenLabel in [node.Config].
//   - A [node.ProcessFunc] has no spans of its own, for it takes its messages itself: what it sends belongs to the span of the
//     sender. With [Context] and [Label] it can make some.
//   - tracestate and baggage are not carried: OTP's token has one label.
//
// What a process sends later, by a timer or in a later message of its own, belongs to no trace.
package otel
