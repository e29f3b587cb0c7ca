package otel

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"

	api "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/seqtrace"
	"github.com/actornode/actornode/wire"
)

// Config says which messages have spans. The zero value: those that come with a trace.
type Config struct {
	// Provider makes the spans. Default: that of otel.GetTracerProvider, when Trace is called.
	Provider trace.TracerProvider
	// Ratio is the part, from 0 to 1, of the messages without a trace that begin one. The choice is made for each message by
	// itself, so what a message that was not chosen causes may be chosen. Default: 0.
	Ratio float64
	// Begin, if not nil, makes those messages begin a trace, too, for which it returns true. It is called in the process,
	// for each message without a trace token.
	Begin func(c *node.Context, msg any) bool
}

// Trace makes a node with cfg trace: its Actors have spans, and the calls of its plain goroutines carry the span of their
// context. It puts an interceptor before those in cfg, and sets TokenLabel.
func Trace(cfg *node.Config, o Config) {
	cfg.Interceptors = slices.Insert(slices.Clone(cfg.Interceptors), 0, Interceptor(o))
	cfg.TokenLabel = Label
}

// scope is the name of what makes the spans.
const scope = "github.com/actornode/actornode/node/otel"

// Interceptor makes the spans, for some processes only: see Interceptors in [node.Options].
func Interceptor(o Config) node.Interceptor {
	if o.Provider == nil {
		o.Provider = api.GetTracerProvider()
	}
	t := &tracer{spans: o.Provider.Tracer(scope), begin: o.Begin, always: o.Ratio >= 1}
	if o.Ratio > 0 && o.Ratio < 1 {
		t.below = uint64(o.Ratio * math.MaxUint64)
	}
	return t.intercept
}

// Context returns the context of the process, see Context of [node.Context], with the span of the message that it handles, for
// what speaks OpenTelemetry, such as HTTP clients. In a [node.ProcessFunc] the span is that of the sender.
func Context(p interface {
	seqtrace.Process
	Context() context.Context
}) context.Context {
	own := p.Inside(process.Key{}).Acting().Own()
	if span, ok := own.LabelledBy().(trace.Span); ok {
		return trace.ContextWithSpan(p.Context(), span)
	}
	if t, ok := own.Traceparent(); ok {
		return trace.ContextWithRemoteSpanContext(p.Context(), contextOf(t))
	}
	return p.Context()
}

// Label returns the span in ctx as the label of a trace token, a W3C traceparent; nil if there is none. It is what Trace sets
// as TokenLabel. A ProcessFunc that has begun a span sets it with SetLabel of package seqtrace, and then sends with it.
func Label(ctx context.Context) any {
	if s := trace.SpanContextFromContext(ctx); s.IsValid() {
		return labelOf(s)
	}
	return nil
}

func labelOf(s trace.SpanContext) []byte {
	return watch.Traceparent{Trace: s.TraceID(), Span: s.SpanID(), Flags: byte(s.TraceFlags())}.Label()
}

func contextOf(t watch.Traceparent) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: t.Trace, SpanID: t.Span, TraceFlags: trace.TraceFlags(t.Flags),
		Remote: true})
}

// tracer makes the spans of a node. It does not change.
type tracer struct {
	spans  trace.Tracer
	begin  func(c *node.Context, msg any) bool
	always bool
	below  uint64 // random numbers below it begin a trace
}

// intercept is a node.Interceptor.
func (t *tracer) intercept(c *node.Context, msg any, next node.Handler) error {
	label, traced := c.Inside(process.Key{}).Acting().Own().Label()
	if !traced {
		if t.begins(c, msg) {
			return t.handle(c, msg, next, nil, trace.SpanContext{})
		}
		return next(c, msg)
	}
	if parent, ok := watch.ReadTraceparent(label); ok && trace.TraceFlags(parent.Flags).IsSampled() {
		return t.handle(c, msg, next, label, contextOf(parent))
	}
	return next(c, msg)
}

// begins reports whether a message without a token begins a trace.
func (t *tracer) begins(c *node.Context, msg any) bool {
	return t.always || t.below != 0 && rand.Uint64() < t.below || t.begin != nil && t.begin(c, msg)
}

// handle is intercept for a message with a span. label is that of the message, nil if the span begins a trace.
func (t *tracer) handle(c *node.Context, msg any, next node.Handler, label any, parent trace.SpanContext) error {
	ctx := context.Background()
	if label != nil {
		ctx = trace.ContextWithRemoteSpanContext(ctx, parent)
	}
	kind, typ := kindOf(c, msg)
	name, behaviour := c.Inside(process.Key{}).Named()
	who := string(name)
	if name == "" {
		who = behaviour
	}
	_, span := t.spans.Start(ctx, who+" "+typ, trace.WithSpanKind(kind))
	if !span.SpanContext().IsValid() { // nothing makes spans
		return next(c, msg)
	}
	if span.IsRecording() {
		span.SetAttributes(attribute.String("messaging.system", "actornode"), attribute.String("messaging.operation.type", "process"),
			attribute.String("actornode.node", string(c.Node().Name())), attribute.String("actornode.pid", c.Self().String()),
			attribute.String("actornode.behaviour", behaviour), attribute.String("actornode.message.type", typ))
		if name != "" {
			span.SetAttributes(attribute.String("messaging.destination.name", string(name)))
		}
	}
	own := c.Inside(process.Key{}).Acting().Own()
	own.SetLabel(labelOf(span.SpanContext()), span)
	returned := false
	defer func() {
		if returned {
			return
		}
		cause := recover()
		if cause != nil { // otherwise the handler has called runtime.Goexit
			crashed(span, node.Panicked(cause))
		}
		span.End()
		if cause != nil {
			panic(cause)
		}
	}()
	err := next(c, msg)
	if returned = true; !ended(span, err) { // the report of a crash has the label
		restore(own, label)
	}
	span.End()
	return err
}

// ended records how the process ends, if err, the result of its handler, ends it. It reports whether that is a failure.
func ended(span trace.Span, err error) (failed bool) {
	if err == nil || err == process.ErrGivesWay || errors.Is(err, node.ErrUnhandled) {
		return false
	}
	switch why := node.ReasonOf(err).(type) {
	case *node.Crash:
		crashed(span, why)
		return true
	case wire.Atom:
		if why == node.Normal || why == node.Shutdown {
			return false
		}
	case wire.Tuple:
		if len(why) == 2 && why[0] == node.Shutdown {
			return false
		}
	}
	span.SetStatus(codes.Error, "exit")
	return true
}

// restore gives the process the label that its message came with.
func restore(p *process.Process, label any) {
	if label == nil {
		p.ClearToken()
		return
	}
	p.SetLabel(label, nil)
}

// crashed records why the process ends.
func crashed(span trace.Span, why *node.Crash) {
	span.RecordError(why, trace.WithAttributes(attribute.Bool("exception.escaped", true)))
	span.SetStatus(codes.Error, "crash")
}

// kindOf returns the kind of the span of a message, and the type of the message, or of the body of a call.
func kindOf(c *node.Context, msg any) (kind trace.SpanKind, typ string) {
	if r, ok := c.Node().AsRequest(msg); ok {
		return trace.SpanKindServer, typeOf(r.Body)
	}
	if m, ok := msg.(node.PeerMessage); ok {
		msg = m.Message
	}
	if body, ok := node.AsCast(msg); ok {
		msg = body
	}
	return trace.SpanKindConsumer, typeOf(msg)
}

// typeOf returns the type of a value. A value has no part in it.
func typeOf(v any) string {
	if v == nil {
		return "nil"
	}
	return reflect.TypeOf(v).String()
}
