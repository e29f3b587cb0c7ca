package deploy_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/internal/nodehook"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/metrics"
)

func text(t *testing.T, file string) string {
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(b)
}

func document[T any](t *testing.T, file string) (v T) {
	require.NoError(t, yaml.Unmarshal([]byte(text(t, file)), &v), file)
	return v
}

// registry is what a daemon shows.
func registry(t *testing.T) *prometheus.Registry {
	n, err := node.Start(node.Config{Name: "a@actornode"})
	require.NoError(t, err)
	t.Cleanup(func() { n.Stop() })
	nodehook.Count(n, "supervisor_restarts", "shop", "front")
	nodehook.Count(n, "supervisor_shutdowns", "shop")
	r := prometheus.NewRegistry()
	r.MustRegister(metrics.New(metrics.Config{Node: n}), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// alert is a rule of prometheus/rules.yaml.
type alert struct {
	Alert, Expr         string
	Labels, Annotations map[string]string
}

type rules struct{ Groups []struct{ Rules []alert } }

func alerts(t *testing.T) (all []alert) {
	for _, g := range document[rules](t, "prometheus/rules.yaml").Groups {
		all = append(all, g.Rules...)
	}
	return all
}

// expressions are those of the alerts and of the dashboard, by where they are.
func expressions(t *testing.T) map[string]string {
	all := make(map[string]string)
	for _, r := range alerts(t) {
		all["alert "+r.Alert] = r.Expr
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ RefID, Expr string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text(t, "grafana/actornode.json")), &board))
	for _, p := range board.Panels {
		for _, x := range p.Targets {
			all[fmt.Sprintf("panel %s %s", p.Title, x.RefID)] = strings.NewReplacer("$__rate_interval", "1m", "$instance",
				".*").Replace(x.Expr)
		}
	}
	require.Greater(t, len(all), 30)
	return all
}

// Every metric of an alert or a panel is one that the daemon has.
func TestMetricsAreThere(t *testing.T) {
	there := nodehook.MetricNames()
	families, err := registry(t).Gather()
	require.NoError(t, err)
	for _, f := range families {
		there = append(there, f.GetName(), f.GetName()+"_sum", f.GetName()+"_count")
	}
	named := regexp.MustCompile(`\b(actornode|go|process)_[a-z_]+\b`)
	used := make(map[string]bool)
	for where, expr := range expressions(t) {
		all := named.FindAllString(expr, -1)
		assert.True(t, len(all) > 0 || strings.Contains(expr, "up{"), "%s: %s", where, expr)
		for _, m := range all {
			used[m] = true
			assert.Contains(t, there, m, where)
		}
	}
	for _, m := range nodehook.MetricNames() { // and most are of use
		switch m {
		case "actornode_info", "actornode_registered_names", "actornode_mailboxes_examined", "actornode_scheduler_stages",
			"actornode_peer_up":
		default:
			assert.True(t, used[m], "%s is in no panel and no alert", m)
		}
	}
}

type service struct {
	Environment map[string]string
	Image       string
	Profiles    []string
	Secrets     []string
	Volumes     []string
	Build       struct{ Context, Dockerfile string }
}

type compose struct {
	Services map[string]service
	Secrets  map[string]struct{ File string }
}

// value is what compose makes of a variable with a default: ${NAME:-default}.
var value = regexp.MustCompile(`\$\{[A-Z_]+:-([^}]*)\}`)

// The nodes of the compose file have a configuration that the daemon takes, and are
// what Prometheus scrapes. Package cluster runs it.
func TestCompose(t *testing.T) {
	const dir = "docker"
	c := document[compose](t, dir+"/compose.yaml")
	known := make(map[string]bool)
	for _, s := range config.Default().Settings() {
		known[s.Env()] = true
	}
	var nodes []string
	for name, s := range c.Services {
		for _, v := range s.Volumes {
			from, _, _ := strings.Cut(v, ":")
			if strings.HasPrefix(from, "$") { // TLS: the user's
				continue
			}
			assert.FileExists(t, filepath.Join(dir, from,
				map[bool]string{true: "datasources/prometheus.yaml"}[strings.HasSuffix(from, "provisioning")]), name)
		}
		assert.Regexp(t, value, s.Image, "%s: its image can be another", name)
		for _, x := range s.Secrets {
			assert.Equal(t, "./secrets/cookie", value.ReplaceAllString(c.Secrets[x].File, "$1"), name)
		}
		if s.Build.Dockerfile == "" {
			continue
		}
		assert.FileExists(t, filepath.Join(dir, s.Build.Context, s.Build.Dockerfile))
		assert.FileExists(t, filepath.Join(dir, s.Build.Context, "go.mod"))
		for k := range s.Environment {
			assert.True(t, known[k], "%s of service %s is no variable of the daemon", k, name)
		}
		assert.NotContains(t, s.Environment, "ACTORNODE_COOKIE", "docker inspect would show it")
		cfg, err := config.Load(config.Source{Env: func(k string) (string, bool) {
			v, ok := s.Environment[k]
			return value.ReplaceAllString(v, "$1"), ok
		}})
		require.NoError(t, err, name)
		assert.Equal(t, "/run/secrets/cookie", cfg.CookieFile)
		assert.Equal(t, name, cfg.Discovery.DNS.Host, "the nodes of a service find each other")
		_, port, _ := net.SplitHostPort(cfg.HTTP.Listen)
		assert.Equal(t, "9100", port)
		nodes = append(nodes, name)
	}
	require.ElementsMatch(t, []string{"node", "tls"}, nodes)
	assert.Equal(t, []string{"tls"}, c.Services["tls"].Profiles)
	assert.Equal(t, []string{"erlang"}, c.Services["erlang"].Profiles)
	p := document[struct {
		RuleFiles     []string `yaml:"rule_files"`
		ScrapeConfigs []struct {
			DNS []struct {
				Names []string
				Port  int
			} `yaml:"dns_sd_configs"`
		} `yaml:"scrape_configs"`
	}](t, "prometheus/prometheus.yml")
	assert.ElementsMatch(t, nodes, p.ScrapeConfigs[0].DNS[0].Names)
	assert.Equal(t, 9100, p.ScrapeConfigs[0].DNS[0].Port)
	for _, f := range p.RuleFiles {
		assert.FileExists(t, filepath.Join("prometheus", f))
		assert.True(t, slices.ContainsFunc(c.Services["prometheus"].Volumes,
			func(v string) bool { return strings.Contains(v, "/etc/prometheus/"+f) }))
	}
	board := document[struct {
		Providers []struct{ Options struct{ Path string } }
	}](t, "grafana/provisioning/dashboards/actornode.yaml").Providers[0].Options.Path
	assert.True(t, slices.ContainsFunc(c.Services["grafana"].Volumes,
		func(v string) bool { return strings.Contains(v, ":"+board+"/actornode.json") }))
}

// What the Dockerfile copies, sets and runs is there.
func TestDockerfile(t *testing.T) {
	text := text(t, "docker/Dockerfile")
	known := map[string]bool{"ACTORNODE_CONFIG": true}
	for _, s := range config.Default().Settings() {
		known[s.Env()] = true
	}
	for _, v := range regexp.MustCompile(`\bACTORNODE_[A-Z_]+[A-Z]\b`).FindAllString(text, -1) {
		assert.True(t, known[v], v)
	}
	assert.DirExists(t, "../cmd/actornode")
	copied := regexp.MustCompile(`/src/([A-Z_]+(?:\.md)?)`).FindAllStringSubmatch(text, -1)
	assert.Equal(t, []string{"LICENSE", "THIRD_PARTY_LICENSES.md"}, []string{copied[0][1], copied[1][1]},
		"what ships has its licences with it")
	for _, c := range copied {
		assert.FileExists(t, "../"+c[1])
	}
	mod, err := os.ReadFile("../go.mod")
	require.NoError(t, err)
	goVersion := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(mod))
	assert.Contains(t, text, "ARG GO_IMAGE=golang:"+goVersion[1]+"\nFROM ${GO_IMAGE} AS build\n")
}
