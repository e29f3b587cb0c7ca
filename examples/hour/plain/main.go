// Command plain is the service of the folder above, in plain Go.
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
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

// run serves until ctx ends, and then lets requests that are under way end.
func run(ctx context.Context, l net.Listener, c Config) error {
	server := &http.Server{Handler: New(c).Handler(), ReadHeaderTimeout: deadline}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return errors.Join(err, server.Close())
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.Background(), 2*deadline)
	defer cancel()
	return server.Shutdown(last)
}

// work stands for what a job does.
func work(ctx context.Context, job string) (string, error) {
	if !sleep(ctx, time.Second) {
		return "", ctx.Err()
	}
	return strings.ToUpper(job), nil
}
