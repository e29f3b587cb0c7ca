package cluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// prometheusImage makes an image of Debian's Prometheus; "": it is not installed.
func (e *engine) prometheusImage() string {
	files, ok := packaged("prometheus")
	if !ok {
		return ""
	}
	return e.imported("prometheus", files, `ENTRYPOINT ["/usr/bin/prometheus", "--config.file=/etc/prometheus/prometheus.yml", `+
		`"--storage.tsdb.path=/tmp/data"]`)
}

// answer is that of Prometheus.
type answer struct {
	Status, Error string
	Data          struct {
		Result []struct {
			Metric map[string]string
		}
		Groups []struct {
			Rules []struct{ Name, Health, LastError string }
		}
	}
}

// ask asks Prometheus in its container.
func (c *container) ask(path string) (a answer, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.ip+":9090"+path, nil)
	if err != nil {
		return a, err
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		return a, err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(b, &a)
}

func (c *container) query(expr string) (answer, error) {
	return c.ask("/api/v1/query?query=" + url.QueryEscape(expr))
}

// testPrometheus starts Prometheus from the compose file. Only the times in its files are shorter.
func (s *stack) testPrometheus(t *testing.T, image string) {
	if image == "" {
		t.Skip("NO PROMETHEUS IN CONTAINERS: Debian's package prometheus is not installed")
	}
	x := s.in(t)
	dir := t.TempDir()
	openFolders(t, dir)
	for name, change := range map[string]*strings.Replacer{
		"prometheus.yml": strings.NewReplacer("interval: 15s", "interval: 1s", "refresh_interval: 5s", "refresh_interval: 1s"),
		"rules.yaml":     nil,
	} {
		b, err := os.ReadFile("../prometheus/" + name)
		require.NoError(t, err)
		text := string(b)
		if change != nil {
			text = change.Replace(text)
		} else {
			text = regexp.MustCompile(`(?m)^( +for:) .*$`).ReplaceAllString(text, "$1 3s")
		}
		require.NoError(t, os.WriteFile(dir+"/"+name, []byte(text), 0o644))
	}
	require.NoError(t, os.WriteFile(dir+"/override.yaml", fmt.Appendf(nil, `services:
  prometheus:
    volumes: ["%[1]s/prometheus.yml:/etc/prometheus/prometheus.yml:ro", "%[1]s/rules.yaml:/etc/prometheus/rules.yaml:ro"]
`, dir), 0o644))
	x.files = append(slices.Clone(s.files), dir+"/override.yaml")
	x.vars = append(slices.Clone(s.vars), "PROMETHEUS_IMAGE="+image, "PROMETHEUS_PORT=0")
	_, err := x.compose("up", "-d", "--no-build", "--no-deps", "prometheus")
	require.NoError(t, err)
	p := x.look(x.run("ps", "-q", "--no-trunc", "--filter", "label=com.docker.compose.project="+s.tag,
		"--filter", "label=com.docker.compose.service=prometheus"), "prometheus")
	defer s.run("rm", "-f", p.id)

	within(t, time.Minute, func() string { // each container is found, and scraped
		a, err := p.query(`up{job="actornode"} == 1`)
		var found []string
		for _, r := range a.Data.Result {
			found = append(found, r.Metric["instance"])
		}
		for _, c := range s.nodes {
			if !slices.Contains(found, c.ip+":9100") {
				return fmt.Sprintf("%s is not among %v: %v %s", c.ip, found, err, a.Error)
			}
		}
		return ""
	})
	rules, err := p.ask("/api/v1/rules")
	require.NoError(t, err)
	require.NotEmpty(t, rules.Data.Groups)
	alerts := func() (names []string) {
		a, err := p.query(`ALERTS{alertstate="firing"}`)
		require.NoError(t, err)
		for _, r := range a.Data.Result {
			names = append(names, r.Metric["alertname"]+" "+r.Metric["instance"])
		}
		return names
	}
	x.testPanels(t, p)
	assert.Empty(t, alerts(), "all is well")

	victim := s.nodes[0]
	want := []string{"ActornodeDown " + victim.ip + ":9100"}
	s.run("pause", victim.id)
	within(t, time.Minute, func() string {
		if got := alerts(); !slices.Equal(want, got) {
			return fmt.Sprint("alerts: ", got)
		}
		return ""
	})
	s.run("unpause", victim.id)
	within(t, time.Minute, func() string {
		if got := alerts(); len(got) > 0 {
			return fmt.Sprint("alerts: ", got)
		}
		return ""
	})
	x.ready(time.Minute)
	rules, err = p.ask("/api/v1/rules")
	require.NoError(t, err)
	for _, r := range rules.Data.Groups[0].Rules {
		assert.Equal(t, "ok", r.Health, "%s: %s", r.Name, r.LastError)
	}
}

// testPanels asks what each panel of the dashboard asks.
func (s *stack) testPanels(t *testing.T, p *container) {
	b, err := os.ReadFile("../grafana/actornode.json")
	require.NoError(t, err)
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ RefID, Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(b, &board))
	asked := 0
	var empty []string
	within(t, time.Minute, func() string { // rates need two scrapes
		asked, empty = 0, nil
		for _, panel := range board.Panels {
			for _, x := range panel.Targets {
				asked++
				a, err := p.query(strings.NewReplacer("$__rate_interval", "10s", "$instance", ".*").Replace(x.Expr))
				if err != nil || a.Status != "success" {
					return fmt.Sprintf("%s: %v %s", panel.Title, err, a.Error)
				}
				if len(a.Data.Result) == 0 {
					empty = append(empty, panel.Title+" "+x.RefID)
				}
			}
		}
		if len(empty) > asked/4 {
			return fmt.Sprintf("%d of %d panels have no data: %v", len(empty), asked, empty)
		}
		return ""
	})
	t.Logf("%d of %d queries of panels have data; none yet, since nothing of the kind has happened: %v", asked-len(empty),
		asked, empty)
}
