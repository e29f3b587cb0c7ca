package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/actornode/actornode/node/metrics"
	"github.com/actornode/actornode/node/tasks"
)

// deadline of each request.
const deadline = 5 * time.Second

// Handler answers the requests.
func (s *Service) Handler() http.Handler {
	r := prometheus.NewRegistry()
	count := func() float64 { return float64(s.sessions.Stats().Processes) }
	r.MustRegister(metrics.New(metrics.Config{Node: s.n}), collectors.NewGoCollector(),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "hour_sessions"}, count))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(r, promhttp.HandlerOpts{}))
	mux.HandleFunc("POST /visits/{user}", s.limited(s.visit))
	mux.HandleFunc("POST /jobs", s.limited(s.job))
	return mux
}

// limited passes on the requests of clients that are within their limits.
func (s *Service) limited(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), deadline)
		defer cancel()
		client, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		ok, err := s.Allow(ctx, client)
		switch {
		case err != nil:
			fail(w, err)
		case !ok:
			http.Error(w, "too many requests", http.StatusTooManyRequests)
		default:
			next(w, r.WithContext(ctx))
		}
	}
}

func (s *Service) visit(w http.ResponseWriter, r *http.Request) {
	visits, err := s.Visit(r.Context(), r.PathValue("user"))
	if err != nil {
		fail(w, err)
		return
	}
	json.NewEncoder(w).Encode(map[string]int{"visits": visits})
}

func (s *Service) job(w http.ResponseWriter, r *http.Request) {
	job, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	result, err := s.Run(r.Context(), string(job))
	if err != nil {
		fail(w, err)
		return
	}
	io.WriteString(w, result)
}

// fail answers a request that has failed.
func fail(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	switch {
	case errors.Is(err, tasks.ErrFull):
		status = http.StatusServiceUnavailable
	case errors.Is(err, context.DeadlineExceeded):
		status = http.StatusGatewayTimeout
	}
	http.Error(w, err.Error(), status)
}
