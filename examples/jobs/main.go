// Command jobs is a queue of jobs in memory: a bounded number runs at once, and those that fail are tried again.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/supervisor"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen")
	workers := flag.Int("workers", 8, "jobs that run at once")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	l, err := net.Listen("tcp", *addr)
	if err == nil {
		err = run(ctx, l, Config{
			Handlers: map[string]Handler{"fetch": fetch, "divide": divide},
			Workers:  *workers, Max: 100_000, Tries: 5,
			First: time.Second, Last: time.Minute, Deadline: 10 * time.Minute, Keep: time.Hour,
		})
	}
	if err != nil {
		log.Fatal(err)
	}
}

// run serves until ctx ends or the supervisor gives up.
func run(ctx context.Context, l net.Listener, c Config) (err error) {
	n, err := node.Start(node.Config{})
	if err != nil {
		return fmt.Errorf("start the node: %w", err)
	}
	defer func() { err = errors.Join(err, n.Stop()) }()
	top, err := Start(ctx, n, c)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: Handle(n), ReadHeaderTimeout: 5 * time.Second}
	return supervisor.Run(ctx, n, top, supervisor.Service{
		Serve: func() error { return server.Serve(l) },
		Drain: func(ctx context.Context) error {
			err := server.Shutdown(ctx)
			lost, drainErr := genserver.Call(ctx, n, queueName, Drain{})
			if drainErr != nil {
				return errors.Join(err, fmt.Errorf("wait for the jobs that run: %w", drainErr))
			}
			slog.Info("drained", "jobs_lost", lost)
			return err
		},
	})
}

// fetch gets a page: {"url": "https://go.dev"}. The result is its length.
func fetch(ctx context.Context, input json.RawMessage) (any, error) {
	var page struct{ URL string }
	if err := json.Unmarshal(input, &page); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrGiveUp, err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, page.URL, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrGiveUp, err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, errors.New(response.Status)
	}
	return io.Copy(io.Discard, response.Body)
}

// divide divides two numbers: [12, 3]. It panics, which fails the try, if there are fewer, or the second is 0.
func divide(_ context.Context, input json.RawMessage) (any, error) {
	var numbers []int
	if err := json.Unmarshal(input, &numbers); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrGiveUp, err)
	}
	return numbers[0] / numbers[1], nil
}
