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
	"github.com/actornode/actornode/node/sys"
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
	failed := make(chan error, 2)
	go func() { failed <- server.Serve(l) }()
	go func() {
		if reason, err := node.AwaitExit(ctx, n, s.top); err == nil {
			failed <- fmt.Errorf("the supervisor has ended: %v", reason)
		}
	}()
	select {
	case err := <-failed:
		return errors.Join(err, server.Close())
	case <-ctx.Done():
		return s.drain(server, delay)
	}
}

// drain ends the service from the outside in: no new requests, then those under way, then the servers in reverse order.
func (s *Shop) drain(server *http.Server, delay time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), delay+stopping)
	defer cancel()
	s.draining.Store(true)
	time.Sleep(delay)
	if err := server.Shutdown(ctx); err != nil {
		return fmt.Errorf("wait for the requests under way: %w", err)
	}
	if err := sys.Stop(ctx, s.n, s.top, node.Shutdown); err != nil {
		return fmt.Errorf("stop the servers: %w", err)
	}
	return nil
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
