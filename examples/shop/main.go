// Command shop is the service of a shop: HTTP in front of servers for the stock, the orders and the carts.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/supervisor"
)

// stopping is how long the end may take: less than what Kubernetes gives before it kills, 30 s.
const stopping = 25 * time.Second

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen")
	delay := flag.Duration("drain-delay", 0, "how long /readyz says no before the program stops to listen")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	l, err := net.Listen("tcp", *addr)
	if err == nil {
		err = run(ctx, l, *delay, Config{
			Items:   map[string]Item{"bread": {320, 50}, "milk": {140, 200}, "tea": {450, 20}},
			Pay:     pay,
			Timeout: 5 * time.Second, Idle: 30 * time.Minute, Queue: 1000, Cart: 10,
		})
	}
	if err != nil {
		log.Fatal(err)
	}
}

// run serves until ctx ends or the supervisor gives up.
func run(ctx context.Context, l net.Listener, delay time.Duration, c Config) (err error) {
	n, err := node.Start(node.Config{})
	if err != nil {
		return fmt.Errorf("start the node: %w", err)
	}
	defer func() { err = errors.Join(err, n.Stop()) }()
	s, err := Start(ctx, n, c)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: c.Timeout}
	return supervisor.Run(ctx, n, s.top, s.service(server, l, delay))
}

// service ends from the outside in: no new requests, then those under way; after that the servers end in reverse order.
func (s *Shop) service(server *http.Server, l net.Listener, delay time.Duration) supervisor.Service {
	return supervisor.Service{
		Serve: func() error { return server.Serve(l) },
		Drain: func(ctx context.Context) error {
			s.draining.Store(true)
			time.Sleep(delay)
			return server.Shutdown(ctx)
		},
		Stop: delay + stopping,
	}
}

var errNotPaid = errors.New("the bank refuses")

// pay stands for the bank.
func pay(ctx context.Context, o Order) error {
	select {
	case <-time.After(50 * time.Millisecond):
	case <-ctx.Done():
		return ctx.Err()
	}
	if o.Cents > 100_00 {
		return errNotPaid
	}
	return nil
}
