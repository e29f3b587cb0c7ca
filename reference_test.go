package actornode_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// repository returns the text of each file whose name matches one of the patterns, by its path.
func repository(t *testing.T, patterns ...string) map[string]string {
	all := make(map[string]string)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		for _, p := range patterns {
			if ok, _ := filepath.Match(p, d.Name()); ok && d.Type().IsRegular() {
				b, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				all[path] = string(b)
			}
		}
		return nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

// A Go file that docs/architecture.md names exists: by its path, or by its name alone in some package.
func TestArchitectureNamesFiles(t *testing.T) {
	there := make(map[string]bool)
	for path := range repository(t, "*.go") {
		there[filepath.ToSlash(path)] = true
		there[filepath.Base(path)] = true
	}
	text, err := os.ReadFile("docs/architecture.md")
	require.NoError(t, err)
	named := regexp.MustCompile(`[a-z_/]+\.go\b`).FindAllString(string(text), -1)
	require.Greater(t, len(named), 20)
	for _, file := range named {
		assert.True(t, there[file], "docs/architecture.md names %s, which is not there", file)
	}
}

// The map of docs/architecture.md has all packages, except those that are private to one, and kits of tests.
func TestArchitectureHasPackages(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(text), "## The map\n")
	require.True(t, ok)
	_, drawn, _ := strings.Cut(rest, "```\n")
	drawn, _, _ = strings.Cut(drawn, "```")
	there := make(map[string]bool)
	folder := ""
	for _, word := range regexp.MustCompile(`[a-z/]+`).FindAllString(drawn, -1) {
		if strings.HasPrefix(word, "/") {
			word = folder + word
		} else {
			folder, _, _ = cutLast(word)
		}
		there[word] = true
	}
	for _, p := range packages(t) {
		path := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if path == "" || strings.Contains(path, "/internal/") || strings.HasPrefix(path, "internal/testkit") || ofItsOwn(path) {
			continue
		}
		assert.True(t, there[path], "the map of docs/architecture.md does not have %s", path)
	}
}

// cutLast is strings.Cut around the last slash.
func cutLast(path string) (before, after string, found bool) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", path, false
	}
	return path[:i], path[i+1:], true
}

// The glossary is sorted and short, and each of its words is used.
func TestGlossary(t *testing.T) {
	text, err := os.ReadFile("docs/glossary.md")
	require.NoError(t, err)
	var terms []string
	for _, m := range regexp.MustCompile(`(?m)^- \*\*([^*]+)\*\*: (.*(?:\n  .*)*)$`).FindAllStringSubmatch(string(text), -1) {
		terms = append(terms, m[1])
		assert.Equal(t, 1, len(regexp.MustCompile(`[.!?](\s|$)`).FindAllString(m[2], -1)), "%s: one sentence", m[1])
	}
	require.Equal(t, strings.Count(string(text), "\n- "), len(terms), "each entry is: - **term**: a sentence")
	assert.Greater(t, len(terms), 10)
	assert.LessOrEqual(t, len(terms), 60, "if the glossary needs more words, find ones that need no explanation")
	assert.True(t, slices.IsSorted(terms), "sorted: %q", terms)
	assert.Equal(t, len(terms), len(slices.Compact(slices.Clone(terms))), "no term twice")

	used := strings.Builder{}
	for path, text := range repository(t, "*.go", "*.md") {
		if path != filepath.Join("docs", "glossary.md") {
			used.WriteString(strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(text, "//", " ")), " ")))
		}
	}
	for _, term := range terms {
		word := regexp.MustCompile(`\b` + regexp.QuoteMeta(strings.ToLower(term)) + `(s|es|d|ed)?\b`)
		assert.True(t, word.MatchString(used.String()), "nothing uses the term %q: take it out of docs/glossary.md", term)
	}
}

// tuning lists the packages whose numeric constants are all in the table of docs/performance.md; of others it has some.
var tuning = []string{"executor", "inbox", "fiber", "node", "flow", "peers", "process", "runner"}

// untuned are numbers of these packages that do not serve speed or fairness.
var untuned = map[string][]string{
	"states and layouts": {"inbox.takingIn", "fiber.searched", "fiber.tag", "fiber.pointerTag", "runner.Infinity", "peers.active",
		"flow.lookedBit", "flow.countBits", "flow.phaseBits", "flow.deferringShift", "process.tokened", "process.checked",
		"watch.traceparentLen",
		"peers.markShift", "peers.maxMark", "executor.FirstOwn"},
	"limits of what grows": {"fiber.traceSize", "runner.looks",
		"node.maxProcessesLimit", "node.mostLogLevels", "node.maxStages", "executor.MaxStages",
		"tables.leastSweep", "tables.leastLent",
		"inbox.leastPositions",
		"peers.maxBrief", "flow.maxReason", "peers.mostLosses", "peers.lossTime", "peers.shortLinks", "node.mostCauses", "node.causesDepth",
		"node.mostLate", "node.mostNamed", "peers.mostCauses", "peers.mostFailure", "process.mostEnds"},
	"how often something is logged": {"watch.logEvery", "watch.every"},
	"timeouts and pauses": {"node.drainTime", "node.firstRetry", "node.lastRetry", "node.lastRepeat", "process.spaceAgain", "peers.firstStep",
		"peers.releaseTimeout",
		"node.defaultStopTimeout",
		"peers.TicksPerTime", "peers.busyPause", "peers.acceptPause", "flow.drainTime",
		"peers.defaultInterval", "peers.relist", "peers.defaultBackoff", "peers.spread", "peers.defaultDials", "peers.defaultYield",
		"peers.firstPause", "process.minPause", "process.maxPause", "process.firstPause", "process.lastPause", "process.KeepPeriod"},
}

// constants returns the numeric constants at the top level of packages, by "package.name", as
// they are written.
func constants(t *testing.T) map[string]string {
	all := make(map[string]string)
	fset := token.NewFileSet()
	for path := range repository(t, "*.go") {
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") {
			continue
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok || decl.Tok != token.CONST {
				continue
			}
			for _, s := range decl.Specs {
				spec := s.(*ast.ValueSpec)
				for i, name := range spec.Names {
					if i >= len(spec.Values) || !numeric(spec.Values[i]) {
						continue
					}
					var b strings.Builder
					require.NoError(t, printer.Fprint(&b, fset, spec.Values[i]))
					all[file.Name.Name+"."+name.Name] = b.String()
				}
			}
		}
	}
	return all
}

// numeric reports whether x consists of numbers, and units of time.
func numeric(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.BasicLit:
		return x.Kind == token.INT
	case *ast.BinaryExpr:
		return numeric(x.X) && numeric(x.Y)
	case *ast.SelectorExpr:
		pkg, ok := x.X.(*ast.Ident)
		return ok && pkg.Name == "time"
	}
	return false
}

// The table of constants in docs/performance.md has the values of the code.
func TestTuningConstants(t *testing.T) {
	text, err := os.ReadFile("docs/performance.md")
	require.NoError(t, err)
	there := constants(t)
	rows := regexp.MustCompile("(?m)^\\| `([a-z]+)\\.([A-Za-z]+)` \\| `([^`]+)` \\|").FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(rows), 15)
	listed := make(map[string]bool)
	for _, row := range rows {
		name := row[1] + "." + row[2]
		listed[name] = true
		value, ok := there[name]
		if assert.True(t, ok, "docs/performance.md lists %s, which is not there", name) {
			assert.Equal(t, value, row[3], "docs/performance.md: the value of %s; measure it anew", name)
		}
	}
	for _, names := range untuned {
		for _, name := range names {
			assert.False(t, listed[name], "docs/performance.md lists %s, which nothing tunes: see untuned", name)
			listed[name] = true
		}
	}
	for name := range there {
		pkg, _, _ := strings.Cut(name, ".")
		if slices.Contains(tuning, pkg) {
			assert.True(t, listed[name],
				"%s: say in the table of constants of docs/performance.md what it buys, or here, in untuned, what it is", name)
		}
	}
}

// figures makes the table of docs/performance.md of bench/RESULTS.md: for each bench the
// speed of each system as a ratio to Erlang's, in bold where Erlang is faster. A system that was not run has no column.
func figures(t *testing.T) string {
	results, err := os.ReadFile("bench/RESULTS.md")
	require.NoError(t, err)
	systems := []string{"actornode actor", "actornode coroutine", "actornode process", "channels", "protoactor", "tcp"}
	ran := make(map[string]bool)
	type bench struct {
		name   string
		ratios map[string]string
	}
	var all []*bench
	for line := range strings.Lines(string(results)) {
		cells := strings.Split(line, "|")
		if len(cells) < 6 || strings.Contains(line, "---") || strings.Contains(line, "ns/op") {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if cells[1] != "" {
			all = append(all, &bench{strings.TrimSpace(cells[1] + " " + cells[2]), make(map[string]string)})
		}
		if ratio, err := strconv.ParseFloat(cells[5], 64); err == nil {
			text := cells[5]
			if ratio < 1 {
				text = "**" + text + "**"
			}
			all[len(all)-1].ratios[cells[3]] = text
			ran[cells[3]] = true
		}
	}
	require.Greater(t, len(all), 10)
	systems = slices.DeleteFunc(systems, func(system string) bool { return !ran[system] })
	var b strings.Builder
	b.WriteString("| benchmark |")
	for _, system := range systems {
		fmt.Fprintf(&b, " %s |", strings.TrimPrefix(system, "actornode "))
	}
	b.WriteString("\n|---|" + strings.Repeat("--:|", len(systems)) + "\n")
	for _, x := range all {
		if len(x.ratios) < 2 {
			continue // Erlang does not have it
		}
		fmt.Fprintf(&b, "| %s |", x.name)
		for _, system := range systems {
			text := x.ratios[system]
			if text == "" {
				text = "–"
			}
			fmt.Fprintf(&b, " %s |", text)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// The figures of docs/performance.md are those of bench/RESULTS.md.
func TestPerformanceFigures(t *testing.T) {
	const file, begin, end = "docs/performance.md", "<!-- figures:", "<!-- end of figures -->"
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok)
	how, rest, ok := strings.Cut(rest, "\n")
	require.True(t, ok)
	table, after, ok := strings.Cut(rest, end)
	require.True(t, ok)
	want := "\n" + figures(t) + "\n"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(before+begin+how+"\n"+want+end+after), 0o644))
		return
	}
	assert.Equal(t, want, table, "go test . -run TestPerformanceFigures -update")
}
