package otel_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/otel"
	"github.com/actornode/actornode/node/seqtrace"
)

// recorder records the spans that a provider makes.
func recorder() (*tracetest.SpanRecorder, *sdk.TracerProvider) {
	r := tracetest.NewSpanRecorder()
	return r, sdk.NewTracerProvider(sdk.WithSpanProcessor(r))
}

// spans waits for n spans that have ended, and returns them by name.
func spans(t *testing.T, r *tracetest.SpanRecorder, n int) map[string]sdk.ReadOnlySpan {
	t.Helper()
	testkit.Until(t, func() string {
		if got := len(r.Ended()); got < n {
			return fmt.Sprintf("%d spans, want %d", got, n)
		}
		return ""
	})
	all := make(map[string]sdk.ReadOnlySpan)
	for _, s := range r.Ended() {
		all[s.Name()] = s
	}
	require.Len(t, all, n)
	r.Reset()
	return all
}

type (
	order struct{ Secret string }
	store struct{ Secret string }
)

func init() {
	node.RegisterTypes(node.TypeOf[order]("otel_test.order"), node.TypeOf[store]("otel_test.store"))
}

// A call of a plain goroutine, an Actor, a process without spans, and an Actor of another node are one trace.
func TestOneTrace(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		r, provider := recorder()
		start := func(name string) *node.Node {
			cfg := c.Config(name)
			otel.Trace(&cfg, otel.Config{Provider: provider})
			return nodetest.Start(t, cfg)
		}
		here, far := start("here"), start("far")
		_, err := far.SpawnOpt(node.Options{Name: "store"}, node.ActorFunc(func(c *node.Context, msg any) error { return nil }))
		require.NoError(t, err)
		_, err = here.SpawnOpt(node.Options{Name: "relay"}, node.ProcessFunc(func(p *node.Process) error {
			for {
				if err := p.Send(node.At{Name: "store", Node: far.Name()}, p.Receive()); err != nil {
					return err
				}
			}
		}))
		require.NoError(t, err)
		var inside trace.SpanContext
		_, err = here.SpawnOpt(node.Options{Name: "shop"}, node.ActorFunc(func(c *node.Context, msg any) error {
			r, ok := c.Node().AsRequest(msg)
			if !ok {
				return node.ErrUnhandled
			}
			inside = trace.SpanContextFromContext(otel.Context(c))
			if err := c.Send(node.Atom("relay"), store{"hidden"}); err != nil {
				return err
			}
			return c.Reply(r.From, "done")
		}))
		require.NoError(t, err)

		ctx, root := provider.Tracer("test").Start(testkit.Context(t), "root")
		_, err = node.Call[string](ctx, here, node.Atom("shop"), order{"hidden"})
		require.NoError(t, err)
		root.End()
		all := spans(t, r, 3)
		shop, stored := all["shop otel_test.order"], all["store otel_test.store"]
		require.NotNil(t, shop)
		require.NotNil(t, stored)
		for _, s := range all {
			assert.Equal(t, root.SpanContext().TraceID(), s.SpanContext().TraceID())
			assert.NotContains(t, fmt.Sprint(s.Attributes(), s.Name()), "hidden")
		}
		assert.Equal(t, root.SpanContext().SpanID(), shop.Parent().SpanID())
		assert.Equal(t, shop.SpanContext().SpanID(), inside.SpanID())
		assert.Equal(t, shop.SpanContext().SpanID(), stored.Parent().SpanID())
		assert.Equal(t, trace.SpanKindServer, shop.SpanKind())
		assert.Equal(t, trace.SpanKindConsumer, stored.SpanKind())

		// Without a span, and with one that is not sampled, there are none.
		_, err = node.Call[string](testkit.Context(t), here, node.Atom("shop"), order{})
		require.NoError(t, err)
		off := trace.ContextWithSpanContext(testkit.Context(t), root.SpanContext().WithTraceFlags(0))
		_, err = node.Call[string](off, here, node.Atom("shop"), order{})
		require.NoError(t, err)
		nodetest.Settle(t, here, far)
		assert.Empty(t, r.Ended())
	})
}

// How a handler ends is in its span, and in the label that is left.
func TestEnds(t *testing.T) {
	r, provider := recorder()
	log := new(nodetest.Log)
	cfg := node.Config{Log: log.Logger()}
	outer := make(chan bool, 1)
	cfg.Interceptors = []node.Interceptor{func(c *node.Context, msg any, next node.Handler) error { return next(c, msg) }}
	otel.Trace(&cfg, otel.Config{Provider: provider, Ratio: 1})
	cfg.Interceptors = append([]node.Interceptor{func(c *node.Context, msg any, next node.Handler) error {
		defer func() {
			_, traced := seqtrace.Label(c)
			outer <- traced
		}()
		return next(c, msg)
	}}, cfg.Interceptors...)
	n := nodetest.Start(t, cfg)
	for _, c := range []struct {
		what   string
		end    func() error
		status codes.Code
		text   string
	}{
		{"nil", func() error { return nil }, codes.Unset, ""},
		{"stop", func() error { return node.ErrStop }, codes.Unset, ""},
		{"shutdown", func() error { return node.ExitWith(node.Shutdown) }, codes.Unset, ""},
		{"unhandled", func() error { return fmt.Errorf("%w: for later", node.ErrUnhandled) }, codes.Unset, ""},
		{"exit", func() error { return node.ExitWith(node.Atom("odd")) }, codes.Error, ""},
		{"error", func() error { return errors.New("no paper") }, codes.Error, "no paper"},
		{"panic", func() error { panic("no ink") }, codes.Error, "no ink"},
	} {
		pid, err := n.SpawnOpt(node.Options{Name: node.Atom(c.what)}, node.ActorFunc(func(*node.Context, any) error { return c.end() }))
		require.NoError(t, err)
		require.NoError(t, n.Send(pid, 1))
		span := spans(t, r, 1)[c.what+" int"]
		require.NotNil(t, span, c.what)
		assert.Equal(t, c.status, span.Status().Code, c.what)
		assert.Equal(t, c.status == codes.Error, testkit.Receive(t, outer), "%s: the label is restored", c.what)
		if c.text == "" {
			assert.Empty(t, span.Events(), c.what)
			continue
		}
		require.Len(t, span.Events(), 1, c.what)
		assert.Contains(t, fmt.Sprint(span.Events()[0].Attributes), c.text)
		crash := log.Await(t, func(r nodetest.LogRecord) bool {
			return r.Message == "crash report" && r.Attrs["process"] == pid.String()
		})
		assert.Equal(t, span.SpanContext().TraceID().String(), crash.Attrs["trace_id"])
		assert.Equal(t, span.SpanContext().SpanID().String(), crash.Attrs["span_id"])
		if c.what == "panic" {
			assert.Contains(t, crash.Attrs["stack"], "otel_test.TestEnds", "the stack is that of the panic")
		}
	}
}

// Which messages without a trace begin one.
func TestBegin(t *testing.T) {
	begun := func(o otel.Config, labels ...any) int {
		r, provider := recorder()
		o.Provider = provider
		var cfg node.Config
		otel.Trace(&cfg, o)
		n := nodetest.Start(t, cfg)
		pid, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
		require.NoError(t, err)
		h := nodetest.NewProbe(t, n)
		for _, label := range labels {
			seqtrace.SetLabel(h, label)
			require.NoError(t, h.Send(pid, 1))
		}
		seqtrace.Clear(h)
		for i := range 1000 {
			require.NoError(t, h.Send(pid, i))
		}
		nodetest.Settle(t, n)
		return len(r.Ended())
	}
	other := []any{17, "a label of another program", []byte{1}}
	assert.Zero(t, begun(otel.Config{}, other...))
	assert.Equal(t, 1000, begun(otel.Config{Ratio: 1}, other...))
	assert.InDelta(t, 500, begun(otel.Config{Ratio: 0.5}), 150)
	assert.Equal(t, 10, begun(otel.Config{Begin: func(_ *node.Context, msg any) bool { return msg.(int)%100 == 0 }}))
	assert.Equal(t, 1, begun(otel.Config{}, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
	assert.Zero(t, begun(otel.Config{}, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"))
}

// A provider that makes no spans, as there is without the SDK, leaves labels alone.
func TestNoProvider(t *testing.T) {
	var cfg node.Config
	otel.Trace(&cfg, otel.Config{Ratio: 1})
	n := nodetest.Start(t, cfg)
	pid, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		r, _ := c.Node().AsRequest(msg)
		_, traced := seqtrace.Label(c)
		return c.Reply(r.From, traced)
	}))
	require.NoError(t, err)
	traced, err := node.Call[bool](context.Background(), n, pid, 1)
	require.NoError(t, err)
	assert.False(t, traced)
	assert.Nil(t, otel.Label(context.Background()))
}

// What a message costs without the interceptor, and with it at several ratios.
func BenchmarkMessage(b *testing.B) {
	provider := sdk.NewTracerProvider()
	for _, c := range []struct {
		name string
		on   bool
		o    otel.Config
	}{{"Off", false, otel.Config{}}, {"0", true, otel.Config{}}, {"0.001", true, otel.Config{Ratio: 0.001}},
		{"1", true, otel.Config{Ratio: 1}}} {
		b.Run(c.name, func(b *testing.B) {
			var cfg node.Config
			if c.on {
				c.o.Provider = provider
				otel.Trace(&cfg, c.o)
			}
			n := nodetest.Start(b, cfg)
			done, left := make(chan struct{}), b.N
			var msg any = "a message"
			pid, err := n.Spawn(node.ActorFunc(func(c *node.Context, m any) error {
				if left--; left <= 0 {
					close(done)
					return node.ErrStop
				}
				seqtrace.Clear(c) // each message is one without a token
				return c.Send(c.Self(), msg)
			}))
			require.NoError(b, err)
			b.ReportAllocs()
			b.ResetTimer()
			require.NoError(b, n.Send(pid, msg))
			<-done
		})
	}
}
