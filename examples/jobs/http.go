package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
)

var errBadRequest = errors.New("bad request")

// statuses says how an error is answered.
var statuses = map[error]int{
	errBadRequest:            http.StatusBadRequest,
	errKind:                  http.StatusBadRequest,
	errNoJob:                 http.StatusNotFound,
	errEnded:                 http.StatusConflict,
	errNotDead:               http.StatusConflict,
	errFull:                  http.StatusServiceUnavailable,
	errStops:                 http.StatusServiceUnavailable,
	context.DeadlineExceeded: http.StatusGatewayTimeout,
}

// Handle answers the requests.
func Handle(n *node.Node) http.Handler {
	mux := http.NewServeMux()
	handle := func(route string, status int, f func(*http.Request) (any, error)) {
		mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
			defer cancel()
			v, err := f(r.WithContext(ctx))
			answer(w, status, v, err)
		})
	}
	handle("POST /jobs", http.StatusAccepted, func(r *http.Request) (any, error) {
		s, err := submission(r)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errBadRequest, err)
		}
		return ask(r, n, s)
	})
	handle("GET /jobs/{id}", http.StatusOK, func(r *http.Request) (any, error) {
		return ask(r, n, Show{ID: r.PathValue("id")})
	})
	handle("DELETE /jobs/{id}", http.StatusOK, func(r *http.Request) (any, error) {
		return ask(r, n, Cancel{ID: r.PathValue("id")})
	})
	handle("GET /dead", http.StatusOK, func(r *http.Request) (any, error) { return ask(r, n, Dead{}) })
	handle("POST /dead/{id}", http.StatusAccepted, func(r *http.Request) (any, error) {
		return ask(r, n, Revive{ID: r.PathValue("id")})
	})
	return mux
}

// ask asks the queue, and waits while it is started again.
func ask[Q genserver.Returning[R], R any](r *http.Request, n *node.Node, req Q) (R, error) {
	return node.Retry(r.Context(), n, func() (R, error) { return genserver.Call(r.Context(), n, queueName, req) })
}

// submission reads {"kind": "fetch", "input": ..., "within": "1m"}.
func submission(r *http.Request) (s Submit, err error) {
	var body struct {
		Kind, Within string
		Input        json.RawMessage
	}
	if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 1<<20)).Decode(&body); err != nil {
		return Submit{}, err
	}
	s.Kind, s.Input = body.Kind, body.Input
	if body.Within != "" {
		s.Within, err = time.ParseDuration(body.Within)
	}
	return s, err
}

func answer(w http.ResponseWriter, status int, v any, err error) {
	if err != nil {
		status, v = http.StatusInternalServerError, map[string]string{"error": err.Error()}
		for of, s := range statuses {
			if errors.Is(err, of) {
				status = s
			}
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}
