package deploy_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/node"
)

// hasty shortens the times of rules and queries, and changes nothing else: a fault counts after three seconds, rates of
// counters are over five, starts of a process over a minute, and an hour of history becomes two minutes.
func hasty(rules string) string {
	for _, short := range [][2]string{{`(?m)^( +for:) .*$`, "$1 3s"}, {`(changes\([^\[]*)\[\d+m\]`, "$1[60s]"},
		{`\[\d+h\]`, "[120s]"}, {`\[\d+h:\d+m\]`, "[120s:1s]"}, {`\[\d+m\]`, "[5s]"}, {`offset \d+[mh]`, "offset 5s"}} {
		rules = regexp.MustCompile(short[0]).ReplaceAllString(rules, short[1])
	}
	return rules
}

// scenario is a daemon, its fault, and the alerts for it.
type scenario struct {
	name   string
	config string   // of the daemon, in addition to the common lines
	peer   string   // a peer of its own, in addition to the hub; the way to its native port can be cut
	alone  bool     // without the hub
	finds  string   // fields of discovery, in addition to the common ones; %d is a free port
	spare  bool     // the peer can be reached by Erlang's protocol, too
	alerts []string // alerts that must fire for this node, and no others
	may    []string // alerts that may fire besides
	begin  func(*cluster, *daemon)
	end    func(*cluster, *daemon)
}

// does runs a fault of the program: see faults.
func does(fault string) func(*cluster, *daemon) {
	return func(c *cluster, d *daemon) { d.tell(c.T, fault) }
}

func ends(c *cluster, d *daemon) { d.tell(c.T, "end") }

// scenarios has at least one for each alert, and some without an alert.
var scenarios = []scenario{
	{name: "well", finds: `gossip: {bind: "127.0.0.1:%d", pace: local}, dns: {host: localhost, at: [":1"], base: well, ttl: 1s}`,
		begin: does("a group and a pool"), end: ends},
	{name: "down", alerts: []string{"ActornodeDown"},
		begin: func(c *cluster, d *daemon) { d.kill() },
		end:   func(c *cluster, d *daemon) { d.start(c.T) }},
	{name: "gone", alerts: []string{"ActornodeGone"}, may: []string{"ActornodeDown"},
		begin: func(c *cluster, d *daemon) { d.kill(); c.prometheus.look(c.T, c.targets(d)...) },
		end:   func(c *cluster, d *daemon) { d.start(c.T); c.prometheus.look(c.T, c.targets(nil)...) }},
	// A daemon that is restarted is alone until its peers are connected.
	{name: "restarted", alerts: []string{"ActornodeRestarted"}, may: []string{"ActornodeDown", "ActornodeAlone", "ActornodeNodesMissing"},
		begin: func(c *cluster, d *daemon) {
			for i := range 3 {
				d.kill()
				d.start(c.T)
				c.prometheus.sees(c.T, fmt.Sprintf(`changes(process_start_time_seconds{instance=%q}[2m]) > %d`, d.http, i))
			}
		}},
	{name: "missing", peer: "other", alerts: []string{"ActornodeNodesMissing"},
		begin: func(c *cluster, d *daemon) { d.way.cut() },
		end:   func(c *cluster, d *daemon) { d.way.open() }},
	{name: "alone", peer: "only", alone: true, alerts: []string{"ActornodeAlone", "ActornodeNodesMissing"},
		begin: func(c *cluster, d *daemon) { d.way.cut() },
		end:   func(c *cluster, d *daemon) { d.way.open() }},
	{name: "gaveup", alerts: []string{"ActornodeSupervisorGaveUp"}, begin: does("a supervisor gives up"), end: ends},
	{name: "restarts", alerts: []string{"ActornodeRestarts"}, begin: does("a child crashes often"), end: ends},
	{name: "stuck", alerts: []string{"ActornodeMailboxLong"}, begin: does("a process is stuck"), end: ends},
	{name: "letters", alerts: []string{"ActornodeDeadLetters"}, begin: does("messages for nobody"), end: ends},
	// The number of processes is a limit like others.
	{name: "full", config: "limits: {processes: 1000}", alerts: []string{"ActornodeProcessesFull", "ActornodeLimitNear"},
		begin: does("processes do not end"), end: ends},
	{name: "blocked", alerts: []string{"ActornodeHandlersBlock"}, begin: does("handlers block"), end: ends},
	{name: "held", peer: "slow", config: "limits: {queue: 64KiB, stall: 5m}",
		alerts: []string{"ActornodePeerHeld"},
		begin:  func(c *cluster, d *daemon) { d.way.stall(); d.tell(c.T, "much for a slow peer") },
		end:    func(c *cluster, d *daemon) { d.way.open(); d.tell(c.T, "end") }},
	// The native port of its peer is closed on the way.
	{name: "fallback", peer: "old", spare: true,
		alerts: []string{"ActornodeProtocolFallback"}, may: []string{"ActornodeNodesMissing"},
		begin: func(c *cluster, d *daemon) { d.way.cut() },
		end:   func(c *cluster, d *daemon) { d.way.open() }},
	{name: "draining", alerts: []string{"ActornodeDrainingLong"},
		begin: func(c *cluster, d *daemon) { d.command(c.T, "drain") },
		end:   func(c *cluster, d *daemon) { d.kill(); d.version = "v2"; d.start(c.T) }}, // as in an upgrade
	// A client does not close connections to the port for health and metrics: 64 may be open.
	{name: "near", alerts: []string{"ActornodeLimitNear"},
		begin: func(c *cluster, d *daemon) { d.hold(c.T, 57) },
		end:   func(c *cluster, d *daemon) { d.release() }},
	// A scan: more connections at a time than one address may have before it shows the cookie.
	{name: "reached", config: "limits: {pending_per_source: 8}", alerts: []string{"ActornodeLimitReached"},
		begin: func(c *cluster, d *daemon) { d.scan(c.T, 40) }},
	// A peer makes a request for which it has no right: that is not an alert.
	{name: "refusing", config: "rights: {rules: [{peer: hub@127.0.0.1, may: [connect]}, {may: [all]}]}",
		begin: func(c *cluster, d *daemon) {
			require.NoError(c, c.hub.Send(node.At{Name: "nobody", Node: "refusing@127.0.0.1"}, "hello"))
		}},
}

// targets returns the addresses of all daemons but one, which may be nil.
func (c *cluster) targets(but *daemon) (all []string) {
	for _, d := range c.daemons {
		if d != but {
			all = append(all, d.http)
		}
	}
	return all
}

// firing returns the alerts that an expression finds, as NODE ALERT.
func (c *cluster) firing(s *server, expr string) (all []string) {
	a := s.query(expr)
	require.Equal(c, "success", a.Status, a.Error)
	for _, r := range a.Data.Result {
		if r.Metric["instance"] == "" { // of the whole job, while nothing has been scraped: see TestNothingToScrape
			continue
		}
		i := slices.IndexFunc(c.daemons, func(d *daemon) bool { return d.http == r.Metric["instance"] })
		require.GreaterOrEqual(c, i, 0, "an alert for no daemon: %v", r.Metric)
		all = append(all, c.daemons[i].name+" "+r.Metric["alertname"])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// unanswered queries s and returns the questions without data. An answer must have the labels of its question.
func unanswered(t *testing.T, s *server, all []question) (rest []question) {
	for _, q := range all {
		a := s.query(hasty(q.expr))
		require.Equal(t, "success", a.Status, "%s: %s: %s", q.where, q.expr, a.Error)
		for _, r := range a.Data.Result {
			for _, l := range q.labels {
				require.NotEmpty(t, r.Metric[l], "%s: %s has no label %s", q.where, r.Metric, l)
			}
		}
		if len(a.Data.Result) == 0 {
			rest = append(rest, q)
		}
	}
	return rest
}

// Each alert fires for its fault, in a real Prometheus that scrapes real daemons. All faults exist at the same time,
// each in a daemon of its own, so each alert is also silent for all other faults. When the faults have ended, so have
// the alerts. Meanwhile all queries of the dashboards get an answer.
func TestAlerts(t *testing.T) {
	erltest.NeedTool(t, "prometheus", lost)
	rules := hasty(text(t, "prometheus/rules.yaml"))
	c := begin(t, scenarios)
	var want, may []string
	fires := map[string]bool{"ActornodeAbsent": true} // see TestNothingToScrape
	for _, d := range c.daemons {
		for _, a := range d.alerts {
			want = append(want, d.name+" "+a)
			fires[a] = true
		}
		for _, a := range d.may {
			may = append(may, d.name+" "+a)
		}
	}
	slices.Sort(want)
	for _, r := range alerts(t) {
		assert.True(t, fires[r.Alert], "no scenario makes %s fire", r.Alert)
	}
	targets := c.targets(nil)
	s := scrape(t, rules, targets...)
	c.prometheus = s
	s.evaluated(t)
	settles(t, func() string { // long enough for an alert to fire
		if n := len(s.query("count_over_time(up[1m]) > 6").Data.Result); n < len(targets) {
			return fmt.Sprintf("%d of %d targets have been scraped seven times", n, len(targets))
		}
		return ""
	})
	require.Empty(t, c.firing(s, `ALERTS{alertstate="firing"}`), "all is well")

	for _, d := range c.daemons {
		if d.begin != nil {
			d.begin(c, d)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			for _, d := range c.daemons {
				t.Logf("%s has logged:\n%s", d.name, d.log())
			}
		}
	})
	rest := questions(t)
	settles(t, func() string { // some end by themselves: alerts that have fired count
		got := c.firing(s, `max_over_time(ALERTS{alertstate="firing"}[1h])`)
		got = slices.DeleteFunc(got, func(a string) bool { return slices.Contains(may, a) })
		for _, a := range got {
			require.Contains(t, want, a, "this is no alert for that fault")
		}
		rest = unanswered(t, s, rest)
		if !slices.Equal(want, got) {
			return "want these to fire:\n" + strings.Join(want, "\n") + "\ngot:\n" + strings.Join(got, "\n")
		}
		return ""
	})

	for _, d := range c.daemons {
		if d.end != nil {
			d.end(c, d)
		}
	}
	settles(t, func() string {
		rest = unanswered(t, s, rest)
		if len(rest) > 0 {
			return fmt.Sprintf("no data for %+v", rest)
		}
		return strings.Join(c.firing(s, `ALERTS{alertstate="firing"}`), "\n")
	})
}

// An alert fires if Prometheus has no target at all.
func TestNothingToScrape(t *testing.T) {
	erltest.NeedTool(t, "prometheus", lost)
	s := scrape(t, hasty(text(t, "prometheus/rules.yaml")))
	s.evaluated(t)
	s.sees(t, `ALERTS{alertstate="firing", alertname="ActornodeAbsent"}`)
	require.Len(t, s.query(`ALERTS{alertstate="firing"}`).Data.Result, 1)
}
