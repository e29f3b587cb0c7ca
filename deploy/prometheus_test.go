package deploy_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/erltest"
	"github.com/actornode/actornode/internal/porttest"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/metrics"
)

// lost is what a test cannot say without a tool.
const lost = "it is not asked (Debian: prometheus)"

func TestPromtool(t *testing.T) {
	promtool := erltest.NeedTool(t, "promtool", lost)
	for _, args := range [][]string{{"check", "rules", "prometheus/rules.yaml"}, {"check", "config", "prometheus/prometheus.yml"},
		{"test", "rules", "prometheus/rules_test.yaml"}} {
		out, err := exec.Command(promtool, args...).CombinedOutput()
		assert.NoError(t, err, string(out))
	}
	r := prometheus.NewRegistry()
	n, err := node.Start(node.Config{})
	require.NoError(t, err)
	defer n.Stop()
	r.MustRegister(metrics.New(metrics.Config{Node: n}))
	w := httptest.NewRecorder()
	promhttp.HandlerFor(r, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	cmd := exec.Command(promtool, "check", "metrics")
	cmd.Stdin = w.Body
	out, err := cmd.CombinedOutput()
	assert.NoError(t, err, string(out))
	assert.Empty(t, string(out))
}

// Promtool is asked about each alert when it must fire and when it must not.
func TestRulesAreTested(t *testing.T) {
	fires, silent := make(map[string]bool), make(map[string]bool)
	for _, g := range document[struct {
		Tests []struct {
			Rules []struct {
				Alert string `yaml:"alertname"`
				Want  []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}](t, "prometheus/rules_test.yaml").Tests {
		for _, r := range g.Rules {
			fires[r.Alert] = fires[r.Alert] || len(r.Want) > 0
			silent[r.Alert] = silent[r.Alert] || len(r.Want) == 0
		}
	}
	for _, a := range alerts(t) {
		assert.True(t, fires[a.Alert] && silent[a.Alert], "prometheus/rules_test.yaml does not test %s", a.Alert)
	}
}

// server is a real Prometheus. It ends with the test.
type server struct{ addr string }

// scrape starts a Prometheus that scrapes targets each second, and looks at rules twice as often.
func scrape(t *testing.T, rules string, targets ...string) *server {
	program := erltest.NeedTool(t, "prometheus", lost)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rules.yaml"), []byte(rules), 0o600))
	file := filepath.Join(dir, "prometheus.yml")
	list, err := json.Marshal(targets)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `
global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 500ms}
rule_files: [rules.yaml]
scrape_configs: [{job_name: actornode, static_configs: [{targets: %s}]}]
`, list), 0o600))
	s := &server{fmt.Sprint("127.0.0.1:", porttest.Reserve(t))}
	cmd := exec.Command(program, "--config.file="+file, "--storage.tsdb.path="+dir, "--web.listen-address="+s.addr)
	log, err := os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	cmd.Stderr = log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = log.Close()
	})
	settles(t, func() string {
		if a := s.query("up"); len(a.Data.Result) < len(targets) {
			b, _ := os.ReadFile(log.Name())
			return fmt.Sprintf("Prometheus has scraped %d of %d targets: %s %s", len(a.Data.Result), len(targets), a.Error, b)
		}
		return ""
	})
	return s
}

// answer is one of Prometheus.
type answer struct {
	Status, Error string
	Data          struct {
		Result []struct {
			Metric map[string]string
			Value  [2]any
		}
		Groups []struct {
			Rules []struct{ Name, Health, LastError string }
		}
	}
}

func (s *server) ask(path string) (a answer) {
	r, err := http.Get("http://" + s.addr + path)
	if err != nil {
		a.Error = err.Error()
		return a
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(b, &a)
	}
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

func (s *server) query(expr string) answer {
	return s.ask("/api/v1/query?query=" + url.QueryEscape(expr))
}

// settles asks only twice a second: each question is work for Prometheus.
func settles(t *testing.T, wrong func() string) {
	t.Helper()
	testkit.UntilEvery(t, 500*time.Millisecond, wrong)
}

// evaluated waits until all rules have been, and says which could not be.
func (s *server) evaluated(t *testing.T) {
	settles(t, func() string {
		groups := s.ask("/api/v1/rules").Data.Groups
		if len(groups) == 0 {
			return "there are no rules"
		}
		for _, g := range groups {
			for _, r := range g.Rules {
				if r.Health != "ok" {
					return strings.Join([]string{r.Name, r.Health, r.LastError}, " ")
				}
			}
		}
		return ""
	})
}
