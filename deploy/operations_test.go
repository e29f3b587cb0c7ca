package deploy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/markdown"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/metrics"
)

// section returns the text of a document below a heading of the second level.
func section(t *testing.T, file, heading string) string {
	_, rest, ok := strings.Cut(text(t, file), "\n## "+heading+"\n")
	require.True(t, ok, "%s has no section %s", file, heading)
	rest, _, _ = strings.Cut(rest, "\n## ")
	return rest
}

// Each alert has a section in docs/operations.md, in the order of the rules, and each section there is about an alert.
// The alert links to it.
func TestAlertsAreDocumented(t *testing.T) {
	const page = "https://github.com/actornode/actornode/blob/main/docs/operations.md#"
	var names, headings []string
	anchors := markdown.Parse("docs/operations.md", text(t, "../docs/operations.md")).Anchors
	for _, a := range alerts(t) {
		names = append(names, a.Alert)
		anchor, ok := strings.CutPrefix(a.Annotations["runbook_url"], page)
		assert.True(t, ok && anchors[anchor], "%s: docs/operations.md has no anchor for %q", a.Alert, a.Annotations["runbook_url"])
		assert.Equal(t, strings.ToLower(a.Alert), anchor)
	}
	for _, m := range regexp.MustCompile(`(?m)^### (.*)$`).FindAllStringSubmatch(section(t, "../docs/operations.md", "Alerts"), -1) {
		headings = append(headings, m[1])
	}
	require.NotEmpty(t, names)
	assert.Equal(t, names, headings, "the sections of docs/operations.md and the rules")
}

// Each cause of dead letters has a row.
func TestCausesAreDocumented(t *testing.T) {
	alerts := section(t, "../docs/operations.md", "Alerts")
	for _, c := range deadletter.Causes() {
		assert.True(t, strings.Contains(alerts, "\n| `"+c.String()+"` |"), "docs/operations.md has no row for %s", c)
	}
}

// sources returns the text of all Go files of the daemon that are not tests.
func sources(t *testing.T, dirs ...string) string {
	var all strings.Builder
	for _, dir := range dirs {
		files, err := filepath.Glob(dir + "/*.go")
		require.NoError(t, err)
		for _, f := range files {
			if !strings.HasSuffix(f, "_test.go") {
				b, err := os.ReadFile(f)
				require.NoError(t, err)
				all.Write(b)
			}
		}
	}
	return all.String()
}

// Each metric of a node is in the table of docs/operations.md, and each metric there is the node's or the daemon's.
func TestMetricsAreDocumented(t *testing.T) {
	table := section(t, "../docs/operations.md", "Metrics")
	known := make(map[string]bool)
	for _, name := range metrics.Names() {
		known[name] = true
		assert.True(t, strings.Contains(table, "`"+name+"`"), "docs/operations.md does not say what %s tells", name)
	}
	daemon := sources(t, "../internal/daemon/command")
	for _, m := range regexp.MustCompile("`actornode_([a-z_]+)`").FindAllStringSubmatch(table, -1) {
		name := "actornode_" + m[1]
		assert.True(t, known[name] || strings.Contains(daemon, `"`+m[1]+`"`) || strings.Contains(daemon, `"`+name+`"`),
			"docs/operations.md: there is no metric %s", name)
	}
	for _, m := range regexp.MustCompile(`(?:gauge|counter)\("([a-z_]+)"`).FindAllStringSubmatch(daemon, -1) {
		assert.True(t, strings.Contains(table, "`actornode_"+m[1]+"`"), "docs/operations.md does not say what actornode_%s tells", m[1])
	}
}

// The node or the daemon writes each log line of the table in docs/operations.md.
func TestLogLinesAreWritten(t *testing.T) {
	var written []string
	rows := regexp.MustCompile("(?m)^\\| (`[^|]*`) \\| [A-Z]+ \\|").FindAllStringSubmatch(section(t, "../docs/operations.md", "Logs"), -1)
	for _, row := range rows {
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			written = append(written, m[1])
		}
	}
	require.Greater(t, len(written), 5)
	code := sources(t, "../internal/daemon/command", "../node", "../internal/kernel/peers", "../internal/kernel/watch",
		"../internal/kernel/watch", "../internal/daemon/admin", "../supervisor")
	for _, line := range written {
		assert.True(t, strings.Contains(code, `"`+line+`"`), "docs/operations.md: no line %q is written", line)
	}
}
