package otel_test

import (
	"context"
	"fmt"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/otel"
)

// A message begins a trace, and what it causes belongs to it.
func Example() {
	spans := tracetest.NewSpanRecorder() // a program has an exporter
	cfg := node.Config{}
	otel.Trace(&cfg, otel.Config{Provider: sdk.NewTracerProvider(sdk.WithSpanProcessor(spans)), Ratio: 1})
	n, err := node.Start(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer n.Stop()
	stock := node.ActorFunc(func(c *node.Context, msg any) error {
		r, ok := c.Node().AsRequest(msg)
		if !ok {
			return nil
		}
		return c.Reply(r.From, "on its way")
	})
	shop := node.ActorFunc(func(c *node.Context, msg any) error {
		r, ok := c.Node().AsRequest(msg)
		if !ok {
			return nil
		}
		answer, err := node.Call[string](context.Background(), c, node.Atom("stock"), 17)
		if err != nil {
			return err
		}
		return c.Reply(r.From, answer)
	})
	for name, actor := range map[node.Atom]node.Actor{"stock": stock, "shop": shop} {
		if _, err := n.SpawnOpt(node.Options{Name: name}, actor); err != nil {
			fmt.Println(err)
			return
		}
	}
	answer, err := node.Call[string](context.Background(), n, node.Atom("shop"), "a book")
	fmt.Println(answer, err)
	n.Stop() // all spans have ended
	one := make(map[string]bool)
	for _, s := range spans.Ended() {
		fmt.Println(s.Name(), s.SpanKind())
		one[s.SpanContext().TraceID().String()] = true
	}
	fmt.Println(len(one), "trace")
	// Output:
	// on its way <nil>
	// stock int server
	// shop string server
	// 1 trace
}
