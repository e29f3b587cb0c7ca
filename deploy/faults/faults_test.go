package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the root of the repository.
var root = filepath.Join("..", "..")

// Each fault still fits the present code: its lines are there, and its replacement is valid Go.
func TestFaultsApply(t *testing.T) {
	all, err := loadAll("testdata")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(all), 36)
	for _, f := range all {
		changed, err := f.apply(root)
		require.NoError(t, err)
		for file, text := range changed {
			_, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
			require.NoError(t, err, "%s: %s after the fault", f.name, file)
			before, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
			require.NoError(t, err)
			require.NotEqual(t, string(before), text, "%s changes nothing in %s", f.name, file)
			require.NotContains(t, file, "_test.go", "%s changes a test", f.name)
		}
	}
}

func TestParse(t *testing.T) {
	f, err := parse("# What breaks,\n# and how.\nfile a/b.go\nfunc (*T).F\n" +
		"- old 1\n-\told 2\n+ new\n- third\n\nfunc G\n- x\n+ y\n+ \tz\n")
	require.NoError(t, err)
	require.Equal(t, "What breaks, and how.", f.breaks)
	require.Equal(t, []edit{
		{"a/b.go", "(*T).F", []string{"old 1", "old 2"}, []string{"new"}},
		{"a/b.go", "(*T).F", []string{"third"}, nil},
		{"a/b.go", "G", []string{"x"}, []string{"y", "\tz"}},
	}, f.edits)
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"file a.go\nfunc F\n- x\n":            "no comment says",
		"# c\nfile a.go\nfunc F\n":            "no lines to change",
		"# c\nfile a.go\n- x\n":               "line 3: lines to change without file and func",
		"# c\nfile a.go\nfunc F\n+ x\n":       "new lines without old ones",
		"# c\nfile a.go\nfunc F\n- x\nwhat\n": "line 5: a line is a comment",
	} {
		_, err := parse(text)
		require.ErrorContains(t, err, want, "%q", text)
	}
}

const source = `package p

func f() int {
	a := 1
	b := 2
	return a + b
}

func (t *T[K]) f() int {
	if true {
		return 1
	}
	return 1
}

func (t T) g() { a := 1; _ = a }
`

func TestApply(t *testing.T) {
	more := []string{"a := 2", "if true {", "\ta++", "}", "b := 2"}
	got, err := edit{"p.go", "f", []string{"a := 1", "b := 2"}, more}.apply(source)
	require.NoError(t, err)
	require.Contains(t, got, "func f() int {\n\ta := 2\n\tif true {\n\t\ta++\n\t}\n\tb := 2\n\treturn a + b\n}\n")
	got, err = edit{"p.go", "(*T).f", []string{"if true {", "return 1", "}"}, nil}.apply(source)
	require.NoError(t, err)
	require.Contains(t, got, "func (t *T[K]) f() int {\n\treturn 1\n}\n")
	got, err = edit{"p.go", "T.g", []string{"func (t T) g() { a := 1; _ = a }"}, []string{"func (t T) g() {}"}}.apply(source)
	require.NoError(t, err)
	require.Contains(t, got, "\nfunc (t T) g() {}\n")
}

func TestApplyRefuses(t *testing.T) {
	for _, x := range []struct {
		edit edit
		want string
	}{
		{edit{"p.go", "f", []string{"c := 3"}, nil}, `the lines from "c := 3" on are not there`},
		{edit{"p.go", "(*T).f", []string{"return 1"}, nil}, "more than once"},
		{edit{"p.go", "g", []string{"a := 1"}, nil}, "has 0 functions"},
		{edit{"p.go", "(*T).g", []string{"a := 1"}, nil}, "has 0 functions"},
		{edit{"p.go", "f", []string{"return a + b", "}", ""}, nil}, "not there"},
	} {
		_, err := x.edit.apply(source)
		require.ErrorContains(t, err, x.want)
	}
}

// All faults are in one tree, and the environment chooses one.
func TestWeave(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.go"), []byte(`package main

import "fmt"

type t[K any] struct{ x K }

func (*t[K]) name(_ int, parts ...string) string { return fmt.Sprint("right ", len(parts)) }

func double[K int | float64](x K) (y K) {
	return 2 * x
}

func main() {
	fmt.Println((&t[int]{}).name(1, "a", "b"), double(2))
}
`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module p\n\ngo 1.26\n"), 0o600))
	f := func(name, function, old, new string) fault {
		return fault{name: name, edits: []edit{{"p.go", function, []string{old}, []string{new}}}}
	}
	of := "func (*t[K]) name(_ int, parts ...string) string { return fmt.Sprint(%q, len(parts)) }"
	woven, err := weave(dir, []fault{
		f("wrong", "(*t).name", fmt.Sprintf(of, "right "), fmt.Sprintf(of, "wrong ")),
		f("not-double", "double", "return 2 * x", "return 3 * x"),
		f("other", "double", "return 2 * x", "return 1"),
	})
	require.NoError(t, err)
	for file, text := range woven {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
	}
	program := filepath.Join(dir, "p.exe")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOWORK=off")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	outputs := map[string]string{"": "right 2 4", "wrong": "wrong 2 4", "not-double": "right 2 6", "other": "right 2 1"}
	for fault, want := range outputs {
		run := exec.Command(program)
		run.Env = append(os.Environ(), planted+"="+fault)
		out, err := run.Output()
		require.NoError(t, err)
		require.Equal(t, want+"\n", string(out), "%q", fault)
	}
	_, err = weave(dir, []fault{f("gone", "double", "return 5 * x", "return x")})
	require.ErrorContains(t, err, "gone: does not apply: p.go, func double: the lines")
}

// All faults together are valid Go, too.
func TestWeaveAll(t *testing.T) {
	all, err := loadAll("testdata")
	require.NoError(t, err)
	woven, err := weave(root, all)
	require.NoError(t, err)
	for file, text := range woven {
		_, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		require.NoError(t, err, file)
	}
}

func TestNear(t *testing.T) {
	all := []pkg{
		{ImportPath: "m/deploy/x", Imports: []string{"m/a"}, size: 9},
		{ImportPath: "m/top", Imports: []string{"m/mid"}, size: 1},
		{ImportPath: "m/mid", Imports: []string{"m/a", "fmt"}, size: 5},
		{ImportPath: "m/large", XTestImports: []string{"m/a"}, size: 7},
		{ImportPath: "m/other", Imports: []string{"fmt"}, size: 7},
		{ImportPath: "m/untested", Imports: []string{"m/a"}},
		{ImportPath: "m/a", size: 2},
	}
	chosen := near(all, map[string]bool{"m/a": true}, []string{"/deploy/"})
	var paths []string
	for _, p := range chosen {
		paths = append(paths, p.ImportPath)
	}
	require.Equal(t, []string{"m/a", "m/large", "m/mid", "m/top"}, paths)
	cut := batches(chosen, 2, 10)
	require.Len(t, cut, 3, "the first alone, then those that fit")
	require.Len(t, cut[2], 2)
}

func TestRead(t *testing.T) {
	o := read([]byte(`{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":1}
{"Action":"run","Package":"p","Test":"TestB"}
{"Action":"run","Package":"p","Test":"TestB/x"}
{"Action":"fail","Package":"p","Test":"TestB/x","Elapsed":2}
{"Action":"fail","Package":"p","Test":"TestB","Elapsed":2.5}
{"Action":"fail","Package":"p","Elapsed":4}
{"Action":"run","Package":"r","Test":"TestPart"}
{"Action":"run","Package":"r","Test":"TestPart/y"}
{"Action":"fail","Package":"r","Test":"TestPart/y","Elapsed":2}
{"Action":"run","Package":"q","Test":"TestOver"}
{"Action":"pass","Package":"q","Test":"TestOver","Elapsed":1}
{"Action":"run","Package":"q","Test":"TestHangs"}
{"Action":"output","Package":"q","Output":"panic: test timed out after 1s\n"}
{"Action":"fail","Package":"q","Elapsed":4}
`))
	require.Equal(t, []test{{"p", "TestB"}, {"r", "TestPart"}, {"q", "TestHangs"}}, o.failed)
	require.Empty(t, o.broken)

	o = read([]byte(`{"ImportPath":"p","Action":"build-output","Output":"x.go:1:1: undefined: y\n"}
{"ImportPath":"p","Action":"build-fail"}
{"Action":"fail","Package":"p","Elapsed":0,"FailedBuild":"p"}
`))
	require.Equal(t, "x.go:1:1: undefined: y\n", o.broken)
	require.Empty(t, o.failed)
}

func TestResults(t *testing.T) {
	list := []result{
		{Fault: "a", Breaks: "x | y", Tier: tierTest, Package: module + "node", Test: "TestA"},
		{Fault: "b", Tier: tierMerge, Package: module + "wire", Test: "TestB"},
		{Fault: "c", Breaks: "z", Packages: 7},
		{Fault: "d", Error: "does not apply"},
	}
	line, good := summary(list)
	require.Equal(t, "4 faults: 1 caught by make test, 1 by make merge, 1 not caught, 1 with errors", line)
	require.False(t, good)
	line, good = summary(list[:2])
	require.Equal(t, "2 faults: 1 caught by make test, 1 by make merge, 0 not caught", line)
	require.True(t, good)

	text, err := table("before\n"+begin+"\nold\n"+end+"\nafter\n", list)
	require.NoError(t, err)
	require.Equal(t, "before\n"+begin+"\n| fault | what it breaks | tier | caught by |\n|---|---|---|---|\n"+
		"| a | x \\| y | `make test` | `TestA` in `node` |\n"+
		"| b |  | `make merge` | `TestB` in `wire` |\n"+
		"| c | z |  | not caught by 7 packages |\n"+
		"| d |  |  | error: does not apply |\n"+end+"\nafter\n", text)
	_, err = table("nothing", list)
	require.Error(t, err)

	path := filepath.Join(t.TempDir(), "x", "faults.json")
	none, err := readResults(path)
	require.NoError(t, err)
	require.Empty(t, none)
	require.NoError(t, writeResults(path, map[string]result{"a": list[0]}))
	kept, err := readResults(path)
	require.NoError(t, err)
	require.Equal(t, map[string]result{"a": list[0]}, kept)
}
