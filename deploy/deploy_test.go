package deploy_test

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/actornode/actornode/internal/daemon/config"
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

// value matches a variable of compose with a default: ${NAME:-default}.
var value = regexp.MustCompile(`\$\{[A-Z_]+:-([^}]*)\}`)

// The daemon accepts the configuration of the nodes of the compose file, and Prometheus scrapes these nodes. Package
// cluster runs it.
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
			if strings.HasPrefix(from, "$") { // TLS: the user's files
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
	folder := document[struct {
		Providers []struct{ Options struct{ Path string } }
	}](t, "grafana/provisioning/dashboards/actornode.yaml").Providers[0].Options.Path
	for _, b := range boards(t) {
		assert.True(t, slices.ContainsFunc(c.Services["grafana"].Volumes,
			func(v string) bool { return strings.Contains(v, ":"+folder+"/"+b.file) }), "Grafana does not get %s", b.file)
	}
}

// The files that the Dockerfile copies, sets and runs exist.
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
