package docs_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/markdown"
	"github.com/actornode/actornode/node/metrics"
)

const module = "github.com/actornode/actornode"

// documents returns the documents that are tested: see doc.go.
func documents(t *testing.T) []*markdown.Document {
	all, err := markdown.Find("..")
	require.NoError(t, err)
	all = slices.DeleteFunc(all, func(d *markdown.Document) bool {
		return !strings.HasPrefix(d.Path, "docs/") && d.Path != "README.md" && d.Path != "CONTRIBUTING.md"
	})
	require.Greater(t, len(all), 10)
	return all
}

// A newcomer can read the README in a few minutes.
func TestReadmeIsShort(t *testing.T) {
	for _, d := range documents(t) {
		if d.Path == "README.md" {
			assert.LessOrEqual(t, d.Lines, 150)
		}
	}
}

// files returns the files and folders of the repository: in make merge without those that git ignores.
func files(t *testing.T) map[string]bool {
	there := map[string]bool{"": true}
	if testkit.At() < testkit.Merge {
		require.NoError(t, fs.WalkDir(os.DirFS(".."), ".", func(path string, _ fs.DirEntry, err error) error {
			there[path] = true
			return err
		}))
		return there
	}
	out, err := exec.Command("git", "-C", "..", "ls-files", "--cached", "--others", "--exclude-standard").Output()
	require.NoError(t, err, "git lists the files that are in the repository")
	for _, file := range strings.Fields(string(out)) {
		for ; file != "."; file = path.Dir(file) {
			there[file] = true
		}
	}
	return there
}

// coming are documents that others link to and that are still to be written.
var coming []string

// Every link within the repository leads to a file, and every heading that a link names exists. Links to other places
// have a form that a browser accepts.
func TestLinks(t *testing.T) {
	all, err := markdown.Find("..")
	require.NoError(t, err)
	there := files(t)
	for _, d := range all {
		for _, l := range d.Links {
			target, anchor, _ := strings.Cut(l.Target, "#")
			if strings.Contains(target, ":") {
				assert.Regexp(t, `^(https://[a-z0-9-]+(\.[a-z0-9-]+)+(/[^\s]*)?|mailto:\S+@\S+)$`, l.Target, "%s:%d", d.Path, l.Line)
				continue
			}
			file := d.Path
			if target != "" {
				file = path.Join(path.Dir(d.Path), target)
			}
			if slices.Contains(coming, file) && !there[file] {
				t.Logf("%s:%d: %s is still to be written", d.Path, l.Line, file)
				continue
			}
			if !assert.True(t, there[file], "%s:%d: %s: there is no file %s", d.Path, l.Line, l.Target, file) || anchor == "" {
				continue
			}
			at := slices.IndexFunc(all, func(d *markdown.Document) bool { return d.Path == file })
			if assert.GreaterOrEqual(t, at, 0, "%s:%d: %s: this test knows no headings of %s", d.Path, l.Line, l.Target, file) {
				assert.True(t, all[at].Anchors[anchor], "%s:%d: %s has no heading #%s", d.Path, l.Line, file, anchor)
			}
		}
	}
}

// A user finds every document by links, starting with the README.
func TestDocumentsAreLinked(t *testing.T) {
	all := documents(t)
	linked := map[string]bool{"README.md": true}
	for range all {
		for _, d := range all {
			for _, l := range d.Links {
				if target, _, _ := strings.Cut(l.Target, "#"); linked[d.Path] && target != "" {
					linked[path.Join(path.Dir(d.Path), target)] = true
				}
			}
		}
	}
	for _, d := range all {
		assert.True(t, linked[d.Path], "no link leads to %s", d.Path)
	}
}

// Fields of the configuration and metrics that documents name exist. A name counts as a field if its first word is that
// of a field with a dot.
func TestFieldsAndMetrics(t *testing.T) {
	fields, sections := map[string]bool{}, map[string]bool{}
	for _, s := range config.Default().Settings() {
		parts := strings.Split(s.Key, ".")
		for i := range parts {
			fields[strings.Join(parts[:i+1], ".")] = true
		}
		if len(parts) > 1 {
			sections[parts[0]] = true
		}
		fields[s.Env()] = true
	}
	field := regexp.MustCompile(`^([a-z_]+)(\.[a-z_]+)+$`)
	metric := regexp.MustCompile(`\bactornode_[a-z_]+\b`)
	variable := regexp.MustCompile(`\bACTORNODE_[A-Z_]+\b`)
	there := metrics.Names()
	daemon, err := os.ReadFile("../internal/daemon/command/findermetrics.go")
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`"(?:actornode_)?([a-z_]+)"`).FindAllStringSubmatch(string(daemon), -1) {
		there = append(there, "actornode_"+m[1])
	}
	for _, d := range documents(t) {
		for _, c := range d.Codes {
			if m := field.FindStringSubmatch(c.Text); m != nil && sections[m[1]] && !isFile(c.Text) {
				assert.True(t, fields[c.Text], "%s:%d: the configuration has no field %s", d.Path, c.Line, c.Text)
			}
			for _, m := range metric.FindAllString(c.Text, -1) {
				assert.True(t, slices.ContainsFunc(there, func(name string) bool {
					return m == name || strings.HasSuffix(m, "_") && strings.HasPrefix(name, m)
				}) || m == "actornode_port" || m == "actornode_portable" || strings.HasPrefix(m, "actornode_no_"), "%s:%d: there is no metric %s", d.Path, c.Line, m)
			}
			for _, m := range variable.FindAllString(c.Text, -1) {
				assert.True(t, fields[m] || slices.Contains(variables, m), "%s:%d: nothing reads the variable %s", d.Path, c.Line, m)
			}
		}
	}
}

// variables are those that are not fields of the configuration.
var variables = []string{"ACTORNODE_CONFIG", "ACTORNODE_NODE", "ACTORNODE_OTP_ROOTS", "ACTORNODE_TESTS"}

// isFile reports whether a name with a dot names a file.
func isFile(name string) bool {
	return slices.Contains([]string{".go", ".md", ".yaml", ".yml", ".json", ".py", ".txt", ".svg", ".pgo"}, path.Ext(name))
}

// The README's claims about speed agree with the last comparison, to some percent.
func TestSpeedClaims(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	results, err := os.ReadFile("../bench/RESULTS.md")
	require.NoError(t, err)
	local := []string{"threadring", "latency", "ring", "mailbox", "flow", "chameneos", "big", "fib", "nqueens", "mixed", "gencall"}
	ratios := make(map[string][]float64) // of messages, by style
	spawn, size, coop := map[string]float64{}, map[string]float64{}, map[string]float64{}
	bench, params := "", ""
	for line := range strings.Lines(string(results)) {
		cells := strings.Split(line, "|")
		if len(cells) < 8 {
			continue
		}
		if name := strings.TrimSpace(cells[1]); name != "" {
			bench, params = name, cells[2]
		}
		style, ours := strings.CutPrefix(strings.TrimSpace(cells[3]), "actornode ")
		ratio, err := strconv.ParseFloat(strings.TrimSpace(cells[5]), 64)
		switch {
		case !ours || err != nil:
		case slices.Contains(local, bench):
			ratios[style] = append(ratios[style], ratio)
		case bench == "spawn":
			spawn[style] = ratio
			size[style], err = strconv.ParseFloat(regexp.MustCompile(`bytes_per_actor ([\d.]+)`).FindStringSubmatch(line)[1], 64)
			require.NoError(t, err)
		case bench == "coop" && strings.Contains(params, "suspended=some"):
			coop[style] = ratio
		}
	}
	_, table, ok := strings.Cut(string(readme), "<!-- speed:")
	require.True(t, ok)
	number := regexp.MustCompile(`\d[\d.,]*`)
	for i, style := range []string{"actor", "coroutine", "process"} {
		row := strings.Split(strings.Split(table, "\n")[4+i], "|")
		var says []float64
		for _, s := range number.FindAllString(strings.Join(row[2:], "|"), -1) {
			f, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
			require.NoError(t, err)
			says = append(says, f)
		}
		is := []float64{slices.Min(ratios[style]), slices.Max(ratios[style]), spawn[style], size[style]}
		require.Len(t, says, len(is), "%q", row)
		for j := range is {
			assert.InEpsilon(t, is[j], says[j], 0.1, "README.md says %v of the style %s, bench/RESULTS.md %v", says, style, is)
		}
		assert.Less(t, coop[style], 1.0, "README.md says that Erlang is faster in coop")
	}
}
