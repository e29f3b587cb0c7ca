// Command hour is a service that a Go programmer writes in the first hours: limits of clients, sessions of users, jobs that are
// tried again, and HTTP in front. The folder plain has the same program without the library.
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
	"strings"
	"syscall"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/supervisor"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	l, err := net.Listen("tcp", *addr)
	if err == nil {
		err = run(ctx, l, Config{Rate: 10, Burst: 20, Idle: 30 * time.Minute, Jobs: 64, Work: work})
	}
	if err != nil {
		log.Fatal(err)
	}
}

// run serves until ctx ends or the supervisor gives up, and then lets requests that are under way end.
func run(ctx context.Context, l net.Listener, c Config) (err error) {
	n, err := node.Start(node.Config{})
	if err != nil {
		return fmt.Errorf("start the node: %w", err)
	}
	defer func() { err = errors.Join(err, n.Stop()) }()
	s, err := Start(ctx, n, c)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: deadline}
	return supervisor.Run(ctx, n, s.top, supervisor.Service{
		Serve: func() error { return server.Serve(l) }, Drain: server.Shutdown, Stop: 2 * deadline,
	})
}

// work stands for what a job does.
func work(ctx context.Context, job string) (string, error) {
	if !sleep(ctx, time.Second) {
		return "", ctx.Err()
	}
	return strings.ToUpper(job), nil
}
