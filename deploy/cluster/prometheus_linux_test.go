package cluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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

// number returns the value of the first result.
func (a answer) number() float64 {
	text, _ := a.Data.Result[0].Value[1].(string)
	n, _ := strconv.ParseFloat(text, 64)
	return n
}

// ask sends a query to Prometheus in its container.
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

// alertAfter is how long a fault must last in the table of faults until there is an alert.
const alertAfter = 8 * time.Second

// startPrometheus starts Prometheus from the compose file. Only the times in its files are shorter: a fault counts
// after hold, rates of counters are over ten seconds, and an hour of history becomes a minute. nil: there is no image.
func (s *stack) startPrometheus(t testing.TB, image string, hold time.Duration) *container {
	if image == "" {
		return nil
	}
	x := s.in(t)
	dir := t.TempDir()
	openFolders(t, dir)
	rules, err := os.ReadFile("../prometheus/rules.yaml")
	require.NoError(t, err)
	for _, short := range []struct{ long, with string }{{`(?m)^( +for:) .*$`, "${1} " + hold.String()},
		{`(changes\([^\[]*)\[\d+m\]`, "${1}[60s]"}, {`\[\d+h\]`, "[60s]"}, {`\[\d+h:\d+m\]`, "[60s:1s]"},
		{`\[\d+m\]`, "[10s]"}, {`offset \d+[mh]`, "offset 10s"}} {
		rules = regexp.MustCompile(short.long).ReplaceAll(rules, []byte(short.with))
	}
	config, err := os.ReadFile("../prometheus/prometheus.yml")
	require.NoError(t, err)
	config = []byte(strings.NewReplacer("interval: 15s", "interval: 1s", "refresh_interval: 5s", "refresh_interval: 1s").
		Replace(string(config)))
	override := fmt.Appendf(nil, `services:
  prometheus:
    volumes: ["%[1]s/prometheus.yml:/etc/prometheus/prometheus.yml:ro", "%[1]s/rules.yaml:/etc/prometheus/rules.yaml:ro"]
`, dir)
	for name, text := range map[string][]byte{"prometheus.yml": config, "rules.yaml": rules, "override.yaml": override} {
		require.NoError(t, os.WriteFile(dir+"/"+name, text, 0o644))
	}
	x.files = append(slices.Clone(s.files), dir+"/override.yaml")
	x.vars = append(slices.Clone(s.vars), "PROMETHEUS_IMAGE="+image, "PROMETHEUS_PORT=0")
	_, err = x.compose("up", "-d", "--no-build", "--no-deps", "prometheus")
	require.NoError(t, err)
	p := x.look(x.run("ps", "-q", "--no-trunc", "--filter", "label=com.docker.compose.project="+s.tag,
		"--filter", "label=com.docker.compose.service=prometheus"), "prometheus")
	t.Cleanup(func() { s.try("rm", "-f", p.id) })
	until(t, func() string { // each container is found, and scraped
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
	return p
}

// fired returns the alerts that an expression finds, as NAME ADDRESS.
func (c *container) fired(t testing.TB, expr string) (all []string) {
	a, err := c.query(expr)
	require.NoError(t, err)
	for _, r := range a.Data.Result {
		all = append(all, r.Metric["alertname"]+" "+r.Metric["instance"])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

const firing = `ALERTS{alertstate="firing"}`

// alerted checks which alerts have fired since a row began, and returns them when they have ended.
func (f *fault) alerted(r row, began time.Time) string {
	p := f.s.prometheus
	if p == nil {
		return "not looked at"
	}
	until(f.t, func() string { return strings.Join(p.fired(f.t, firing), ", ") })
	got := p.fired(f.t, fmt.Sprintf("max_over_time(%s[%.0fs])", firing, time.Since(began).Seconds()))
	var names []string
	for _, a := range got {
		name, instance, _ := strings.Cut(a, " ")
		switch {
		case name == gone[0] && !slices.ContainsFunc(f.s.nodes, func(c *container) bool { return c.ip+":9100" == instance }):
			continue // a container of an earlier row, which has been removed
		case name == missing[0] && r.lost != never:
			continue // the others miss it, for as long as it takes
		}
		assert.Equal(f.t, f.victim.ip+":9100", instance, "%s is for another node", name)
		assert.Contains(f.t, append(r.alerts, r.mayAlert...), name)
		names = append(names, name)
	}
	if r.parted {
		for _, c := range f.s.nodes {
			assert.Contains(f.t, got, missing[0]+" "+c.ip+":9100")
		}
		names = append(names, missing[0])
	}
	for _, name := range r.alerts {
		assert.Contains(f.t, names, name)
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ", ")
}

// testPrometheus lets Prometheus scrape the cluster, and fire an alert.
func (s *stack) testPrometheus(t *testing.T, image string) {
	if image == "" {
		t.Skip("not installed: Debian's prometheus, for containers")
	}
	x := s.in(t)
	p := s.startPrometheus(t, image, 3*time.Second)
	rules, err := p.ask("/api/v1/rules")
	require.NoError(t, err)
	require.NotEmpty(t, rules.Data.Groups)
	x.testPanels(t, p)
	assert.Empty(t, p.fired(t, firing), "all is well")

	victim := s.nodes[0]
	of := func(alert string, all ...*container) (l []string) {
		for _, c := range all {
			l = append(l, alert+" "+c.ip+":9100")
		}
		return l
	}
	begun := 0 // number of kills of the victim's process
	for _, r := range []struct {
		begin func()
		want  []string // each at some time
		end   func()
	}{
		{func() { s.run("pause", victim.id) }, slices.Concat(of("ActornodeDown", victim), of("ActornodeNodesMissing", s.nodes[1:]...)),
			func() { s.run("unpause", victim.id) }},
		{func() { s.run("stop", victim.id) }, of("ActornodeGone", victim), func() {
			s.run("start", victim.id)
			require.NoError(t, victim.find("go"))
		}},
		{func() {
			for begun < 3 {
				before, _ := p.query(fmt.Sprintf("process_start_time_seconds{instance=%q}", victim.ip+":9100"))
				s.run("kill", "-s", "KILL", victim.id)
				s.try("start", victim.id) // Docker may have started it
				begun++
				until(t, func() string {
					now, err := p.query(fmt.Sprintf("changes(process_start_time_seconds{instance=%q}[5m])", victim.ip+":9100"))
					if err != nil || len(now.Data.Result) == 0 || now.number() < float64(begun) {
						return fmt.Sprintf("%d starts after %v are not seen: %v %v", begun, before, now, err)
					}
					return ""
				})
			}
		}, of("ActornodeRestarted", victim), func() {}},
	} {
		r.begin()
		seen := make(map[string]bool)
		until(t, func() string {
			for _, a := range p.fired(t, firing) {
				seen[a] = true
			}
			for _, a := range r.want {
				if !seen[a] {
					return fmt.Sprint(a, " has not fired, but ", seen)
				}
			}
			return ""
		})
		r.end()
		until(t, func() string {
			if got := p.fired(t, firing); len(got) > 0 {
				return fmt.Sprint("alerts: ", got)
			}
			return ""
		})
	}
	x.ready()
	rules, err = p.ask("/api/v1/rules")
	require.NoError(t, err)
	for _, r := range rules.Data.Groups[0].Rules {
		assert.Equal(t, "ok", r.Health, "%s: %s", r.Name, r.LastError)
	}
}

// testPanels makes the queries of each panel of the dashboards.
func (s *stack) testPanels(t *testing.T, p *container) {
	type panel struct {
		Title   string
		Targets []struct{ RefID, Expr string }
	}
	var panels []panel
	files, err := filepath.Glob("../grafana/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		var board struct{ Panels []panel }
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(b, &board), name)
		panels = append(panels, board.Panels...)
	}
	variables := strings.NewReplacer("$__rate_interval", "10s", "$instance", ".*", "$behaviour", ".*", "$name", ".*",
		"$peer", ".*")
	asked := 0
	var empty []string
	until(t, func() string { // rates need two scrapes
		asked, empty = 0, nil
		for _, panel := range panels {
			for _, x := range panel.Targets {
				a, err := p.query(variables.Replace(x.Expr))
				if err != nil || a.Status != "success" {
					return fmt.Sprintf("%s: %v %s", panel.Title, err, a.Error)
				}
				if strings.Contains(x.Expr, "actornode_keyed_") || strings.Contains(x.Expr, "actornode_pool_") {
					continue // the demo has none of these: TestAlerts shows that they have data
				}
				if asked++; len(a.Data.Result) == 0 {
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
