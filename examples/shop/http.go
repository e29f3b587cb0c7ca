package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/keyed"
	"github.com/actornode/actornode/node/metrics"
)

var errBadRequest = errors.New("bad request")

// statuses says how an error is answered.
var statuses = []struct {
	err    error
	status int
}{
	{errBadRequest, http.StatusBadRequest},
	{keyed.ErrKey, http.StatusBadRequest},
	{errNoOrder, http.StatusNotFound},
	{errEmpty, http.StatusConflict},
	{errSoldOut, http.StatusConflict},
	{errNotPaid, http.StatusPaymentRequired},
	{node.ErrMailboxFull, http.StatusTooManyRequests}, // of the client's own cart
	{errBusy, http.StatusServiceUnavailable},
	{keyed.ErrFull, http.StatusServiceUnavailable},
	{keyed.ErrFailing, http.StatusServiceUnavailable},
	{context.DeadlineExceeded, http.StatusGatewayTimeout},
}

// Handler answers the requests.
func (s *Shop) Handler() http.Handler {
	took := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "shop_request_seconds"}, []string{"route", "status"})
	count := func() float64 { return float64(s.carts.Stats().Processes) }
	registry := prometheus.NewRegistry()
	registry.MustRegister(took, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "shop_carts"}, count),
		metrics.New(metrics.Config{Node: s.n}), collectors.NewGoCollector())

	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", s.ready)
	for route, f := range map[string]func(*http.Request) (any, error){
		"GET /items":                  func(r *http.Request) (any, error) { return ask(r.Context(), s.n, "stock", List{}) },
		"GET /carts/{user}":           func(r *http.Request) (any, error) { return askCart(s, r, Look{}) },
		"POST /carts/{user}/items":    s.add,
		"POST /carts/{user}/checkout": func(r *http.Request) (any, error) { return askCart(s, r, Checkout{}) },
		"GET /orders/{id}": func(r *http.Request) (any, error) {
			return ask(r.Context(), s.n, "orders", Show{ID: r.PathValue("id")})
		},
	} {
		mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
			began := time.Now()
			status := s.answer(w, r, f)
			took.WithLabelValues(route, strconv.Itoa(status)).Observe(time.Since(began).Seconds())
		})
	}
	return mux
}

func askCart[Q genserver.Returning[R], R any](s *Shop, r *http.Request, req Q) (R, error) {
	return keyed.Ask(r.Context(), s.n, s.carts, r.PathValue("user"), req)
}

func (s *Shop) add(r *http.Request) (any, error) {
	var add Add
	if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 1<<16)).Decode(&add); err != nil {
		return nil, fmt.Errorf("%w: %w", errBadRequest, err)
	}
	return askCart(s, r, add)
}

// answer calls f with the deadline of the request, which goes along from server to server.
func (s *Shop) answer(w http.ResponseWriter, r *http.Request, f func(*http.Request) (any, error)) (status int) {
	ctx, cancel := context.WithTimeout(r.Context(), s.Timeout)
	defer cancel()
	v, err := f(r.WithContext(ctx))
	status = http.StatusOK
	if err != nil {
		status, v = statusOf(err), map[string]string{"error": err.Error()}
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
	return status
}

func statusOf(err error) int {
	for _, s := range statuses {
		if errors.Is(err, s.err) {
			return s.status
		}
	}
	return http.StatusInternalServerError // a server has crashed meanwhile, for example
}

// ready tells a load balancer whether to send requests.
func (s *Shop) ready(w http.ResponseWriter, _ *http.Request) {
	if s.draining.Load() {
		http.Error(w, "draining", http.StatusServiceUnavailable)
		return
	}
	for _, name := range []node.Atom{"stock", "orders", "carts"} {
		if _, ok := s.n.Whereis(name); !ok {
			http.Error(w, string(name)+" does not run", http.StatusServiceUnavailable)
			return
		}
	}
	fmt.Fprintln(w, "ready")
}
