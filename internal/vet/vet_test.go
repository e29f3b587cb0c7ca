package vet

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/go/analysis/passes/inspect"

	"github.com/actornode/actornode/internal/testkit"
)

// root is the directory of the module.
const root = "../.."

// TestMain makes the test binary the tool of go vet when go vet calls it.
func TestMain(m *testing.M) {
	if IsTool(os.Args[1:]) {
		Tool()
	}
	os.Exit(m.Run())
}

// Each analyzer finds the misuses in its package of testdata, and nothing else there. The packages are loaded together,
// by one analyzer that runs in each package the analyzer that the package is for.
func TestAnalyzers(t *testing.T) {
	byPackage := map[string]*analysis.Analyzer{}
	var patterns []string
	for _, a := range Analyzers() {
		patterns = append(patterns, "./internal/vet/testdata/"+a.Name)
		if byPackage[a.Name] = a; a == Ignore {
			byPackage[a.Name] = all("ignore")
		}
	}
	each := &analysis.Analyzer{
		Name: "each", Doc: "the analyzer that a package is for", Requires: []*analysis.Analyzer{inspect.Analyzer},
		Run: func(p *analysis.Pass) (any, error) {
			of := *p
			of.Analyzer = byPackage[p.Pkg.Name()]
			return of.Analyzer.Run(&of)
		},
	}
	planted := make(map[string]int)
	for _, r := range analysistest.Run(t, absolute(t, root), each, patterns...) {
		planted[r.Pass.Pkg.Name()] += len(r.Diagnostics)
	}
	sum := 0
	for _, a := range Analyzers() {
		assert.Positive(t, planted[a.Name], a.Name)
		sum += planted[a.Name]
	}
	assert.GreaterOrEqual(t, sum, 25)
}

// all is one analyzer that runs all of them.
func all(name string) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: name, Doc: "all analyzers", Requires: []*analysis.Analyzer{inspect.Analyzer},
		Run: func(p *analysis.Pass) (any, error) {
			for _, a := range Analyzers() {
				of := *p
				of.Analyzer = a
				if _, err := a.Run(&of); err != nil {
					return nil, err
				}
			}
			return nil, nil
		},
	}
}

func absolute(t *testing.T, path string) string {
	path, err := filepath.Abs(path)
	require.NoError(t, err)
	return path
}

// go vet, with the analyzers as its tool, reports nothing about the repository.
func TestRepository(t *testing.T) {
	testkit.From(t, testkit.Merge, "a look at the whole repository")
	files := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") {
			files++
			_, err = os.Stat(path) // so that go test knows that the result depends on it
		}
		return err
	}))
	require.Greater(t, files, 100)
	out, err := vet(t, root, "./...")
	assert.NoError(t, err)
	assert.Empty(t, out)
}

// vet runs go vet with this binary as its tool. It returns go vet's output without the lines that only name packages.
func vet(t *testing.T, dir string, args ...string) (string, error) {
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"vet", "-pgo=off", "-vettool=" + self}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(string(out), ""), err
}

// go vet runs the requested analyzers: on a module that is small enough for make test, and on this one.
func TestFlags(t *testing.T) {
	t.Run("small", func(t *testing.T) {
		t.Setenv("GOWORK", "off") // a module of its own
		flags(t, "testdata/small", "./contextescape", "./node")
	})
	t.Run("whole", func(t *testing.T) {
		testkit.From(t, testkit.Merge, "go vet of all that package node imports")
		flags(t, root, "./internal/vet/testdata/contextescape", "./internal/vet")
	})
}

func flags(t *testing.T, module, wrong, right string) {
	out, err := vet(t, module, "-lostfuture", wrong)
	assert.NoError(t, err)
	assert.Empty(t, out)
	out, err = vet(t, module, wrong)
	assert.Error(t, err)
	assert.Contains(t, out, "contextescape.go:")
	out, err = vet(t, module, "-tags", "actornode_portable", right)
	assert.NoError(t, err)
	assert.Empty(t, out)
}

func TestIsTool(t *testing.T) {
	for _, args := range [][]string{
		{"-V=full"}, {"-flags"}, {"/tmp/vet.cfg"}, {"-lostfuture", "/tmp/vet.cfg"}, {"-tags", "x", "/tmp/vet.cfg"},
	} {
		assert.True(t, IsTool(args), "%q", args)
	}
	for _, args := range [][]string{
		nil, {"start"}, {"check", "x.cfg"}, {"start", "-V=full"}, {"-V=full", "start"}, {"x.cfg", "start"}, {"--help"},
	} {
		assert.False(t, IsTool(args), "%q", args)
	}
}

// Each analyzer says what it finds, why, and what to do instead.
func TestDocumented(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join(root, "docs", "guides", "vet.md"))
	require.NoError(t, err)
	overview, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	all := Analyzers()
	assert.True(t, slices.IsSortedFunc(all, func(x, y *Analyzer) int { return strings.Compare(x.Name, y.Name) }))
	for _, a := range all {
		assert.Contains(t, string(guide), "`"+a.Name+"`")
		assert.Contains(t, string(overview), "\t"+a.Name+" ")
		first, rest, _ := strings.Cut(a.Doc, "\n\n")
		assert.Regexp(t, `^find [^\n]+$`, first)
		assert.Greater(t, len(rest), 200)
	}
}
