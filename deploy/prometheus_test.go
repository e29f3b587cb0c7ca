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
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/internal/testkit/porttest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/metrics"
	"github.com/actornode/actornode/node/nodetest"
)

// lost is the part of a message that says that a tool is missing.
const lost = "it is not asked (Debian: prometheus)"

func TestPromtool(t *testing.T) {
	promtool := erltest.NeedTool(t, "promtool", lost)
	for _, args := range [][]string{{"check", "rules", "prometheus/rules.yaml"}, {"check", "config", "prometheus/prometheus.yml"},
		{"test", "rules", "prometheus/rules_test.yaml"}} {
		out, err := exec.Command(promtool, args...).CombinedOutput()
		assert.NoError(t, err, string(out))
	}
	r := prometheus.NewRegistry()
	n := nodetest.Start(t, node.Config{})
	r.MustRegister(metrics.New(metrics.Config{Node: n}))
	w := httptest.NewRecorder()
	promhttp.HandlerFor(r, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	cmd := exec.Command(promtool, "check", "metrics")
	cmd.Stdin = w.Body
	out, err := cmd.CombinedOutput()
	assert.NoError(t, err, string(out))
	assert.Empty(t, string(out))
}

// promtool is asked about each alert when it must fire and when it must not.
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

// The metrics of all rules are in each of the tests without a fault, or without a node.
func TestRulesAreTestedWithoutFault(t *testing.T) {
	var rules []string
	for _, g := range document[struct {
		Groups []struct {
			Rules []struct{ Expr string }
		}
	}](t, "prometheus/rules.yaml").Groups {
		for _, r := range g.Rules {
			rules = append(rules, r.Expr)
		}
	}
	names := regexp.MustCompile(`\b(actornode_[a-z_]+|process_[a-z_]+|up)\b`).FindAllString(strings.Join(rules, "\n"), -1)
	require.NotEmpty(t, names)
	begins := []string{"a gap", "begin", "a restart", "silence", "a split", "vanished"}
	for _, g := range document[struct {
		Tests []struct {
			Name   string
			Series []struct{ Series string } `yaml:"input_series"`
		}
	}](t, "prometheus/rules_test.yaml").Tests {
		i := slices.IndexFunc(begins, func(b string) bool { return strings.HasPrefix(g.Name, b) })
		if i < 0 {
			continue
		}
		begins = slices.Delete(begins, i, i+1)
		for _, name := range names {
			has := slices.ContainsFunc(g.Series, func(s struct{ Series string }) bool { return strings.HasPrefix(s.Series, name+"{") })
			assert.True(t, has, "prometheus/rules_test.yaml: %s: there is no series of %s", g.Name, name)
		}
	}
	assert.Empty(t, begins, "tests that are missing")
}

// server is a real Prometheus. It ends with the test.
type server struct{ addr, targets string }

// look makes it scrape these targets from now on.
func (s *server) look(t *testing.T, targets ...string) {
	list, err := json.Marshal([]any{map[string]any{"targets": append([]string{}, targets...)}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.targets+".new", list, 0o600))
	require.NoError(t, os.Rename(s.targets+".new", s.targets))
}

// sees waits until an expression has a result.
func (s *server) sees(t *testing.T, expr string) {
	settles(t, func() string {
		if len(s.query(expr).Data.Result) == 0 {
			return "no result: " + expr
		}
		return ""
	})
}

// scrape starts a Prometheus that scrapes targets each second, and evaluates rules twice as often.
func scrape(t *testing.T, rules string, targets ...string) *server {
	program := erltest.NeedTool(t, "prometheus", lost)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rules.yaml"), []byte(rules), 0o600))
	file := filepath.Join(dir, "prometheus.yml")
	s := &server{addr: fmt.Sprint("127.0.0.1:", porttest.Reserve(t)), targets: filepath.Join(dir, "targets.json")}
	s.look(t, targets...)
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `
global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 500ms}
rule_files: [rules.yaml]
scrape_configs: [{job_name: actornode, file_sd_configs: [{files: [%q], refresh_interval: 1s}]}]
`, s.targets), 0o600))
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

// answer is an answer of Prometheus.
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

// settles polls only twice a second: each query is work for Prometheus.
func settles(t *testing.T, wrong func() string) {
	t.Helper()
	testkit.UntilEvery(t, 500*time.Millisecond, wrong)
}

// evaluated waits until all rules have been evaluated, and reports those that failed.
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
