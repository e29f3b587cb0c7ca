package deploy_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/metrics"
	"github.com/actornode/actornode/node/nodetest"
)

// board is a dashboard, with the fields that are needed here. Package grafana reads it whole.
type board struct {
	file       string
	Title, UID string
	Templating struct {
		List []struct {
			Name, Type, AllValue string
			Query                any // of type query: a map
		}
	}
	Annotations struct{ List []struct{ Name, Expr string } }
	Links       []struct {
		Type        string
		Tags        []string
		IncludeVars bool
		KeepTime    bool
	}
	Tags   []string
	Panels []panel
}

type panel struct {
	Title, Type string
	Targets     []struct{ RefID, Expr string }
	FieldConfig struct {
		Defaults  struct{ Links []link }
		Overrides []struct {
			Matcher    struct{ ID, Options string }
			Properties []struct {
				ID    string
				Value json.RawMessage
			}
		}
	}
}

type link struct{ Title, URL string }

// links returns the links of a panel's data, and for those of a table column the column's name.
func (p panel) links(t *testing.T) (all []link, columns []string) {
	for _, l := range p.FieldConfig.Defaults.Links {
		all, columns = append(all, l), append(columns, "")
	}
	for _, o := range p.FieldConfig.Overrides {
		for _, x := range o.Properties {
			if x.ID != "links" {
				continue
			}
			var own []link
			require.NoError(t, json.Unmarshal(x.Value, &own))
			for _, l := range own {
				all, columns = append(all, l), append(columns, o.Matcher.Options)
			}
		}
	}
	return all, columns
}

func boards(t *testing.T) (all []board) {
	files, err := filepath.Glob("grafana/*.json")
	require.NoError(t, err)
	for _, f := range files {
		b := board{file: filepath.Base(f)}
		require.NoError(t, json.Unmarshal([]byte(text(t, f)), &b), f)
		all = append(all, b)
	}
	require.Len(t, all, 4)
	return all
}

// filled returns an expression with the values of its dashboard's variables when all is chosen, and of Grafana's
// variables.
func (b board) filled(expr string) string {
	values := []string{"$__rate_interval", "1m"}
	for _, v := range b.Templating.List {
		values = append(values, "$"+v.Name, v.AllValue)
	}
	return strings.NewReplacer(values...).Replace(expr)
}

// labels matches the query of a variable: for the values of a label of a metric.
var labels = regexp.MustCompile(`^label_values\((.*), (\w+)\)$`)

// question is a query of a dashboard to Prometheus.
type question struct {
	where, expr string
	labels      []string // which each answer must have
}

// questions returns those of panels, annotations and variables. A panel must have the labels that its links need.
func questions(t *testing.T) (all []question) {
	named := regexp.MustCompile(`\$\{__field\.labels\.(\w+)\}`)
	for _, b := range boards(t) {
		for _, p := range b.Panels {
			links, columns := p.links(t)
			var need []string
			for i, l := range links {
				for _, m := range named.FindAllStringSubmatch(l.Title+l.URL, -1) {
					need = append(need, m[1])
				}
				if columns[i] != "" {
					need = append(need, columns[i])
				}
			}
			for _, x := range p.Targets {
				all = append(all, question{fmt.Sprintf("%s: panel %s %s", b.Title, p.Title, x.RefID), b.filled(x.Expr), need})
			}
		}
		for _, a := range b.Annotations.List {
			all = append(all, question{fmt.Sprintf("%s: annotation %s", b.Title, a.Name), b.filled(a.Expr), []string{"instance"}})
		}
		for _, v := range b.Templating.List {
			if v.Type != "query" {
				continue
			}
			q := fmt.Sprint(v.Query.(map[string]any)["query"])
			m := labels.FindStringSubmatch(q)
			require.NotNil(t, m, "%s: variable %s: %s", b.Title, v.Name, q)
			all = append(all, question{fmt.Sprintf("%s: variable %s", b.Title, v.Name), b.filled(m[1]), []string{m[2]}})
		}
	}
	require.Greater(t, len(all), 80)
	return all
}

// registry returns the metrics of a daemon.
func registry(t *testing.T) *prometheus.Registry {
	n := nodetest.Start(t, node.Config{Name: "a@actornode"})
	n.Inside(process.Key{}).Count("supervisor_restarts", "shop", "front")
	n.Inside(process.Key{}).Count("supervisor_shutdowns", "shop")
	r := prometheus.NewRegistry()
	r.MustRegister(metrics.New(metrics.Config{Node: n}), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// The daemon has every metric of an alert or a dashboard, and every metric of a node is used.
func TestMetricsAreThere(t *testing.T) {
	there := metrics.Names()
	families, err := registry(t).Gather()
	require.NoError(t, err)
	for _, f := range families {
		there = append(there, f.GetName(), f.GetName()+"_sum", f.GetName()+"_count")
	}
	table := section(t, "../docs/operations.md", "Metrics") // has the daemon's own, too: see TestMetricsAreDocumented
	for _, m := range regexp.MustCompile("`(actornode_[a-z_]+)`").FindAllStringSubmatch(table, -1) {
		there = append(there, m[1])
	}
	all := questions(t)
	for _, a := range alerts(t) {
		all = append(all, question{where: "alert " + a.Alert, expr: a.Expr})
	}
	named := regexp.MustCompile(`\b(actornode|go|process)_[a-z_]+\b`)
	used := make(map[string]bool)
	for _, q := range all {
		metrics := named.FindAllString(q.expr, -1)
		assert.True(t, len(metrics) > 0 || strings.Contains(q.expr, "up{") || strings.Contains(q.expr, "ALERTS{"),
			"%s: %s", q.where, q.expr)
		for _, m := range metrics {
			used[m] = true
			assert.Contains(t, there, m, q.where)
		}
	}
	for _, m := range metrics.Names() {
		assert.True(t, used[m], "%s is in no panel and no alert", m)
	}
}

// Each link leads to a dashboard that exists, and sets variables that it has. The dashboard of the cluster leads to
// each of the others.
func TestDashboardLinks(t *testing.T) {
	all := boards(t)
	has := func(b board, variable string) bool {
		for _, v := range b.Templating.List {
			if v.Name == variable {
				return true
			}
		}
		return false
	}
	kept := regexp.MustCompile(`^\$\{(\w+):queryparam\}$`)
	ways := make(map[string][]string)
	for _, b := range all {
		require.Len(t, b.Links, 1, b.Title)
		top := b.Links[0]
		assert.True(t, top.Type == "dashboards" && slices.Equal(top.Tags, b.Tags) && top.IncludeVars && top.KeepTime,
			"%s: the others are above it, with the same nodes and time", b.Title)
		for _, p := range b.Panels {
			links, _ := p.links(t)
			for _, l := range links {
				where := fmt.Sprintf("%s: panel %s: %s", b.Title, p.Title, l.URL)
				path, query, ok := strings.Cut(l.URL, "?")
				require.True(t, ok, where)
				i := slices.IndexFunc(all, func(b board) bool { return "/d/"+b.UID == path })
				require.GreaterOrEqual(t, i, 0, where)
				ways[b.UID] = append(ways[b.UID], all[i].UID)
				set := make(map[string]bool)
				for part := range strings.SplitSeq(query, "&") {
					name, _, given := strings.Cut(part, "=")
					switch m := kept.FindStringSubmatch(part); {
					case m != nil:
						assert.True(t, has(b, m[1]), "%s: there is no variable %s here", where, m[1])
						set[m[1]] = true
					case given:
						set[strings.TrimPrefix(name, "var-")] = true
					default:
						assert.Equal(t, "${__url_time_range}", part, where)
						set["time"] = true
					}
				}
				assert.True(t, set["datasource"] && set["instance"] && set["time"], "%s: the choice is kept", where)
				for v := range set {
					assert.True(t, v == "time" || has(all[i], v), "%s: there is no variable %s there", where, v)
				}
			}
		}
	}
	reached := map[string]bool{}
	var walk func(string)
	walk = func(uid string) {
		if !reached[uid] {
			reached[uid] = true
			for _, next := range ways[uid] {
				walk(next)
			}
		}
	}
	walk("actornode")
	assert.Len(t, reached, len(all), "from the cluster: %v", ways)
}
