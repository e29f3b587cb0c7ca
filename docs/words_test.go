package docs_test

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

// goFiles returns the Go files of the repository by folder: those of packages, and those of their tests.
func goFiles(t *testing.T) (all, tests map[string][]string) {
	all, tests = map[string][]string{}, map[string][]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(".."), ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 1 && d.Name()[0] == '.') {
			return fs.SkipDir
		}
		switch {
		case strings.HasSuffix(p, "_test.go"):
			tests[path.Dir(p)] = append(tests[path.Dir(p)], p)
		case strings.HasSuffix(p, ".go"):
			all[path.Dir(p)] = append(all[path.Dir(p)], p)
		}
		return err
	}))
	require.Greater(t, len(all), 100)
	return all, tests
}

// Every file and package of this repository that a document names exists. In a row such as "package `inbox`:
// `queue.go`" the file is in that package.
func TestFilesAndPackages(t *testing.T) {
	packages, tests := goFiles(t)
	names := map[string]bool{} // of files
	for _, dir := range []map[string][]string{packages, tests} {
		for _, files := range dir {
			for _, f := range files {
				names[path.Base(f)] = true
			}
		}
	}
	folders := slices.Collect(maps.Keys(packages))
	std := []string{"time", "testing"}
	named := regexp.MustCompile("\\b[Pp]ackages? ((?:`[\\w/]+`(?:, | and |))+)(: ((?:`[\\w.]+`(?:, | and |))+))?")
	code := regexp.MustCompile("`([^`]+)`")
	for _, d := range documents(t) {
		for _, c := range d.Codes {
			if strings.HasSuffix(c.Text, ".go") && !strings.ContainsAny(c.Text, "*/ ") && !strings.HasPrefix(d.Path, "docs/guides/") {
				assert.True(t, names[c.Text], "%s:%d: there is no file %s", d.Path, c.Line, c.Text)
			}
		}
		text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(d.Path)))
		require.NoError(t, err)
		for n, line := range strings.Split(string(text), "\n") {
			for _, m := range named.FindAllStringSubmatch(line, -1) {
				var in []string // the folders of the packages
				for _, p := range code.FindAllStringSubmatch(m[1], -1) {
					if slices.Contains(std, p[1]) {
						continue
					}
					at := slices.Collect(func(yield func(string) bool) {
						for _, f := range folders {
							if (f == p[1] || strings.HasSuffix(f, "/"+p[1])) && !yield(f) {
								return
							}
						}
					})
					assert.NotEmpty(t, at, "%s:%d: there is no package %s", d.Path, n+1, p[1])
					in = append(in, at...)
				}
				for _, f := range code.FindAllStringSubmatch(m[3], -1) {
					there := slices.ContainsFunc(in, func(dir string) bool { return slices.Contains(packages[dir], path.Join(dir, f[1])) })
					assert.True(t, there || !strings.HasSuffix(f[1], ".go"), "%s:%d: package %s has no file %s", d.Path, n+1, m[1], f[1])
				}
			}
		}
	}
}

// The maps of the module's documentation, in doc.go and reference.md, have each package that a program can import, once, and
// no other.
func TestPackageMap(t *testing.T) {
	text, err := os.ReadFile("../doc.go")
	require.NoError(t, err)
	var listed []string
	for _, m := range regexp.MustCompile(`(?m)^//\t(\S+(?:, \S+)*)  +\S`).FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, strings.Split(m[1], ", ")...)
	}
	want := importable(t)
	assert.ElementsMatch(t, want, listed, "the map in doc.go, and the packages that there are")

	listed = append(firstCells(t, "reference.md", "Packages"), "cmd/actornode") // which has a section of its own
	assert.ElementsMatch(t, want, listed, "the table of packages in reference.md, and the packages that there are")
}

// docs/stability.md says of each package once whether it is stable; actornode is the one at the root. The tests that it
// names exist in the package that it names.
func TestStability(t *testing.T) {
	want := append(importable(t), "actornode")
	want = slices.DeleteFunc(want, func(dir string) bool { return dir == "cmd/actornode" })
	assert.ElementsMatch(t, want, firstCells(t, "stability.md", "The Go API"))

	text, err := os.ReadFile("stability.md")
	require.NoError(t, err)
	_, tests := goFiles(t)
	names := regexp.MustCompile("`(Test\\w+)`")
	place := regexp.MustCompile("` in `([\\w/]+)`")
	for row := range strings.Lines(string(text)) {
		dir := "."
		if m := place.FindStringSubmatch(row); m != nil {
			dir = m[1]
		}
		for _, m := range names.FindAllStringSubmatch(row, -1) {
			assert.True(t, slices.ContainsFunc(tests[dir], func(file string) bool {
				code, err := os.ReadFile(filepath.Join("..", file))
				return err == nil && strings.Contains(string(code), "\nfunc "+m[1]+"(t *testing.T)")
			}), "%s: there is no such test in %s", m[1], dir)
		}
	}
}

// importable returns the folders of the packages that other modules may import, without the root, and of the program.
func importable(t *testing.T) (dirs []string) {
	all, _ := goFiles(t)
	for dir := range all {
		top, _, _ := strings.Cut(dir, "/")
		if dir == "." || slices.Contains([]string{"bench", "deploy", "docs", "examples"}, top) ||
			slices.Contains(strings.Split(dir, "/"), "internal") {
			continue
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

// firstCells returns what is in backticks in the first column of the tables in a section of a document.
func firstCells(t *testing.T, file, heading string) (all []string) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "\n## "+heading+"\n")
	require.True(t, found, "%s has no heading %s", file, heading)
	table, _, _ = strings.Cut(table, "\n## ")
	for _, row := range strings.Split(table, "\n") {
		if cells := strings.Split(row, "|"); len(cells) > 2 {
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
				all = append(all, m[1])
			}
		}
	}
	return all
}

// Words in comments that look like names in code are names: a word with a capital inside is declared or used in the
// package or exported by another one, and in the comment of a function a single letter is one of its names.
func TestComments(t *testing.T) {
	testkit.From(t, testkit.Merge, "all comments")
	set := token.NewFileSet()
	type parsed struct {
		file *ast.File
		has  map[string]bool // names in its package
	}
	var all []parsed
	exported := map[string]bool{}
	packages, tests := goFiles(t)
	for _, files := range packages {
		has := map[string]bool{}
		for _, p := range slices.Concat(files, tests[path.Dir(files[0])]) {
			f, err := parser.ParseFile(set, filepath.Join("..", p), nil, parser.ParseComments|parser.SkipObjectResolution)
			require.NoError(t, err)
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Ident:
					has[n.Name] = true
					exported[n.Name] = exported[n.Name] || ast.IsExported(n.Name)
				case *ast.BasicLit:
					for _, w := range wordsOf.FindAllString(n.Value, -1) { // names of fields in JSON, of variables of the environment
						has[w] = true
					}
				}
				return true
			})
			if !strings.HasSuffix(p, "_test.go") {
				all = append(all, parsed{f, has})
			}
		}
	}
	var wrong []string
	for _, p := range all {
		report := func(at token.Pos, word, why string) {
			where := set.Position(at)
			wrong = append(wrong, fmt.Sprintf("%s:%d: %s %s", strings.TrimPrefix(where.Filename, "../"), where.Line, word, why))
		}
		for _, g := range p.file.Comments {
			for _, c := range g.List {
				for _, w := range mixed.FindAllString(plain(c.Text), -1) {
					if !p.has[w] && !exported[w] && !proper[w] && !doc.IsPredeclared(w) {
						report(c.Pos(), w, "is no name here")
					}
				}
			}
		}
		for _, d := range p.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Doc == nil {
				continue
			}
			has := map[string]bool{"a": true}
			ast.Inspect(f, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					has[id.Name] = true
				}
				return true
			})
			for _, c := range f.Doc.List {
				for _, m := range single.FindAllStringSubmatch(plain(c.Text), -1) {
					if !has[m[1]] {
						report(c.Pos(), m[1], "is no name in "+f.Name.Name)
					}
				}
			}
		}
	}
	slices.Sort(wrong)
	assert.Empty(t, strings.Join(wrong, "\n"))
}

var (
	wordsOf  = regexp.MustCompile(`\w+`)
	mixed    = regexp.MustCompile(`\b[a-z]+[a-z0-9]*[A-Z]\w*\b|\b[A-Z][a-z0-9]+[A-Z]\w*\b`)
	single   = regexp.MustCompile(`(?:^|[ (])([b-z])(?:\.[a-z]\w*)?(?:[ ,;:)]|\.?$|'s )`)
	notWords = regexp.MustCompile("\"[^\"]*\"|`[^`]*`|\\{[^}]*\\}|https?://\\S+|\\w+:\\w+|\\S*[/%=_<]\\S*")
)

// plain is a line of a comment without what stands in quotes, terms, and names of files: code is left out as a whole.
func plain(line string) string {
	if strings.HasPrefix(line, "//\t") || strings.HasPrefix(line, "//  ") || !strings.HasPrefix(line, "// ") {
		return ""
	}
	return notWords.ReplaceAllString(strings.TrimPrefix(line, "// "), "")
}

// proper are words with a capital inside that are no names here: units, products, names of other libraries, of OTP and of Scala.
var proper = func() map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(`KiB MiB GiB NaN gRPC GitHub MessagePack PubSub StatefulSet clusterIP publishNotReadyAddresses
		WebSocket GenServer GoAkt subjectAltName SetVersionTemplate KeyMap AliveDelegate EventDelegate PadModC PidOrPids PidOrError
		ToOrName FromOrName
		ToOrNameOrAlias InputChannel OutputChannel freshReplyChannel orElse UserID
		OpenTelemetry W3C SetTracerProvider`) {
		all[w] = true
	}
	return all
}()
