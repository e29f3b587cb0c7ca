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
)

// root is where the module is.
const root = "../.."

// TestMain makes the test binary the tool of go vet when that calls it.
func TestMain(m *testing.M) {
	if IsTool(os.Args[1:]) {
		Tool()
	}
	os.Exit(m.Run())
}

// The misuses in testdata, one package for each analyzer, are found, and nothing else there.
func TestAnalyzers(t *testing.T) {
	planted := 0
	for _, a := range Analyzers() {
		t.Run(a.Name, func(t *testing.T) {
			if a == Ignore {
				a = all("ignore")
			}
			for _, r := range analysistest.Run(t, absolute(t, root), a, "./internal/vet/testdata/"+a.Name) {
				planted += len(r.Diagnostics)
			}
		})
	}
	assert.GreaterOrEqual(t, planted, 25)
	t.Log(planted, "misuses")
}

// all is one analyzer that does what all do.
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

// go vet, with the analyzers as its tool, has nothing to say about the repository.
func TestRepository(t *testing.T) {
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

// vet runs go vet with this binary as its tool. It returns what that says without the lines
// that only name packages.
func vet(t *testing.T, dir string, args ...string) (string, error) {
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"vet", "-pgo=off", "-vettool=" + self}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(string(out), ""), err
}

// go vet runs the analyzers that are asked for.
func TestFlags(t *testing.T) {
	out, err := vet(t, root, "-lostfuture", "./internal/vet/testdata/contextescape")
	assert.NoError(t, err)
	assert.Empty(t, out)
	out, err = vet(t, root, "./internal/vet/testdata/contextescape")
	assert.Error(t, err)
	assert.Contains(t, out, "internal/vet/testdata/contextescape/contextescape.go:")
	_, err = vet(t, root, "-tags", "actornode_portable", "./internal/vet")
	assert.NoError(t, err)
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
