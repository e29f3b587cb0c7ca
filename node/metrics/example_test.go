package metrics_test

import (
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/metrics"
)

func Example() {
	n, err := node.Start(node.Config{Name: "shop@localhost"})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	r := prometheus.NewRegistry()
	r.MustRegister(metrics.New(metrics.Config{Node: n, Version: "v1.0.0"}))
	h := promhttp.HandlerFor(r, promhttp.HandlerOpts{})

	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, "actornode_info") {
			fmt.Print(line)
		}
	}
	// Output: actornode_info{node="shop@localhost",version="v1.0.0"} 1
}
