package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/metrics"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/tlsdist"
)

func main() {
	if err := run(); err != nil {
		slog.Error("cannot run", "error", err)
		os.Exit(1)
	}
}

// number reads a variable that is a number.
func number(name string, otherwise int) (int, error) {
	v := os.Getenv(name)
	if v == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		return 0, fmt.Errorf("%s: want a number: %w", name, err)
	}
	return n, nil
}

// ownAddress is the address of this container in its network.
func ownAddress() (string, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return "", err
	}
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is4() && !p.Addr().IsLoopback() {
			return p.Addr().String(), nil
		}
	}
	return "", fmt.Errorf("this container is in no network: its addresses are %v", all)
}

func run() error {
	cookie, err := os.ReadFile(os.Getenv("LOAD_COOKIE_FILE"))
	if err != nil {
		return fmt.Errorf("LOAD_COOKIE_FILE: %w", err)
	}
	var calls, sends, size int
	for _, v := range []struct {
		name string
		n    *int
		def  int
	}{{"LOAD_CALLS", &calls, 5000}, {"LOAD_SENDS", &sends, 20000}, {"LOAD_SIZE", &size, 0}} {
		if *v.n, err = number(v.name, v.def); err != nil {
			return err
		}
	}
	tick := 60 * time.Second
	if v := os.Getenv("LOAD_TICK_TIME"); v != "" {
		if tick, err = time.ParseDuration(v); err != nil {
			return fmt.Errorf("LOAD_TICK_TIME: %w", err)
		}
	}
	own, err := ownAddress()
	if err != nil {
		return err
	}
	var transport dist.Transport // TCP
	if dir := os.Getenv("LOAD_TLS"); dir != "" {
		transport, err = tlsdist.New(tlsdist.Config{Cert: dir + "/cert.pem", Key: dir + "/key.pem", CA: dir + "/ca.pem"})
		if err != nil {
			return fmt.Errorf("LOAD_TLS: %w", err)
		}
	}
	n, err := node.Start(node.Config{Name: node.Atom("load@" + own), Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Distribution: &node.Distribution{Cookie: strings.TrimSpace(string(cookie)), Listen: ":4370",
			Listeners: map[string]string{"native": ":4371"}, Finder: &discovery.EPMD{}, Timing: node.Timing{TickTime: tick},
			Transport: transport}})
	if err != nil {
		return err
	}
	if _, err := pg.Start(context.Background(), n, pg.Config{}); err != nil {
		return err
	}
	var targets []*target
	names := strings.Split(os.Getenv("LOAD_NODES"), ",")
	for _, name := range names {
		t, err := newTarget(n, node.Atom(name))
		if err != nil {
			return err
		}
		targets = append(targets, t)
	}
	for i, t := range targets {
		t.others = slices.Concat(targets[i:], targets[:i])
	}
	for _, t := range targets {
		if err := t.start(n, float64(calls)/float64(len(names)), float64(sends)/float64(len(names)), size); err != nil {
			return err
		}
	}
	r := prometheus.NewRegistry()
	r.MustRegister(metrics.New(metrics.Config{Node: n}), collectors.NewGoCollector())
	http.Handle("/metrics", promhttp.HandlerFor(r, promhttp.HandlerOpts{}))
	http.HandleFunc("/take", func(w http.ResponseWriter, _ *http.Request) {
		all := make(map[node.Atom]report)
		for _, t := range targets {
			all[t.name] = t.take()
		}
		if err := json.NewEncoder(w).Encode(all); err != nil {
			slog.Warn("a report has not been read", "error", err)
		}
	})
	return http.ListenAndServe(":9100", nil)
}
