package deploy_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
)

// limitsTable returns the table of limits of docs/guarantees.md: the metric's label, "" for none, by field.
func limitsTable(t *testing.T) map[string]string {
	_, rest, ok := strings.Cut(text(t, "../docs/guarantees.md"), "<!-- limits:")
	require.True(t, ok)
	code := regexp.MustCompile("`([^`]+)`")
	rows := make(map[string]string)
	began := false
	for line := range strings.Lines(rest) {
		switch {
		case strings.HasPrefix(line, "| `"):
			cells := strings.Split(line, "|")
			label := ""
			if m := code.FindStringSubmatch(cells[3]); m != nil {
				label = m[1]
			}
			for _, m := range code.FindAllStringSubmatch(cells[1], -1) {
				rows[m[1]] = label
			}
			began = true
		case began:
			return rows
		}
	}
	return rows
}

// Each limit in the daemon's file is in the table of the guarantees, and each limit of the table is a field of the
// file.
func TestLimitsHaveFields(t *testing.T) {
	table := limitsTable(t)
	require.Greater(t, len(table), 20)
	fields := make(map[string]bool)
	for _, s := range config.Default().Settings() {
		fields[s.Key] = true
		if strings.HasPrefix(s.Key, "limits.") && s.Key != "limits.mailbox.policy" || s.Key == "log.lines" || s.Key == "log.bytes" {
			assert.Contains(t, table, s.Key, "docs/guarantees.md has no row for it")
		}
	}
	for field := range table {
		assert.True(t, fields[field], "docs/guarantees.md: %s is no field", field)
	}
}

// Each limit that a node shows is in the table, under the field that its name gives, and alerts watch all of them.
func TestLimitsHaveMetricsAndAlerts(t *testing.T) {
	table := limitsTable(t)
	n, err := node.Start(node.Config{Name: "a@127.0.0.1",
		Distribution: &node.Distribution{Cookie: "c", Listen: "-", Finder: &discovery.Static{}}})
	require.NoError(t, err)
	t.Cleanup(func() { n.Stop() })
	shown := make(map[string]bool)
	for _, l := range n.LimitUsage() {
		shown[l.Name] = true
		label, ok := table["limits."+l.Name]
		assert.True(t, ok, "docs/guarantees.md has no row for limits.%s", l.Name)
		assert.Equal(t, l.Name, label)
	}
	for _, name := range []string{"connections", "pending", "dials", "queued", "answers", "fragment_bytes", "monitors", "links",
		"spawned", "names"} {
		assert.True(t, shown[name], name)
	}
	rules := make(map[string]string)
	for _, a := range alerts(t) {
		rules[a.Alert] = a.Expr
	}
	assert.Contains(t, rules["ActornodeLimitNear"], "actornode_limit_used / (actornode_limit > 0) > 0.8")
	assert.Contains(t, rules["ActornodeLimitReached"], "actornode_limit_refused_total")
	for _, e := range []string{rules["ActornodeLimitNear"], rules["ActornodeLimitReached"]} {
		assert.NotContains(t, e, "limit=", "of all limits")
	}
}
