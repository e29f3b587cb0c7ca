package docs_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/markdown"
	"github.com/actornode/actornode/internal/testkit/porttest"
	"github.com/actornode/actornode/internal/vet"
)

// others are the packages that documents may use in addition to those of this module.
var others = []string{
	"context", "errors", "fmt", "log", "log/slog", "net", "net/http", "os", "slices", "strings", "sync", "testing",
	"testing/synctest", "time", "github.com/stretchr/testify/require", "golang.org/x/sync/errgroup",
}

// library is what packages export, as the compiler has written it.
var library = sync.OnceValues(func() (lib struct {
	files map[string]string // with the exports of each package
	names map[string]string // paths of those that documents may use, by their names
}, err error) {
	args := append([]string{"list", "-pgo=off", "-export", "-deps", "-f", "{{.ImportPath}} {{.Name}} {{.Export}}",
		"..", "../node/...", "../wire/...", "../mailbox", "../sched", "../supervisor/..."}, others...)
	cmd := exec.Command("go", args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return lib, fmt.Errorf("go list: %w\n%s", err, errs.String())
	}
	lib.files, lib.names = map[string]string{}, map[string]string{}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), " ")
		if len(f) < 3 {
			continue // unsafe
		}
		lib.files[f[0]] = f[2]
		ours := strings.HasPrefix(f[0], module+"/") && !strings.Contains(f[0]+"/", "/internal/")
		if ours || slices.Contains(others, f[0]) {
			lib.names[f[1]] = f[0]
		}
	}
	return lib, nil
})

// exports reads packages from the library.
func exports(t *testing.T, set *token.FileSet) types.Importer {
	lib, err := library()
	require.NoError(t, err)
	return importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) {
		file, ok := lib.files[path]
		if !ok || strings.Contains(path, "/internal/") && strings.HasPrefix(path, module) {
			return nil, fmt.Errorf("documents may not use %s: see others in docs/code_test.go", path)
		}
		return os.Open(file)
	})
}

// unit is code that is compiled together: a program, or the fragments of a document.
type unit struct {
	name  string // of its folder
	pkg   string // package clause; "": fragments
	files []source
	stays bool
	out   *markdown.Block // the program's output; nil: it is not run
	doc   *markdown.Document
}

// source is a block as a file.
type source struct {
	line int // of the block
	text string
}

var clause = regexp.MustCompile(`^(?:(?://.*)?\n)*package (\w+)`)

// units returns the units of a document, in order.
func units(t *testing.T, d *markdown.Document) (all []*unit) {
	named := make(map[string]*unit)
	lib, err := library()
	require.NoError(t, err)
	count := 0
	for i, b := range d.Blocks {
		if b.Lang != "go" {
			continue
		}
		if formatted, err := format.Source([]byte(b.Text)); err == nil {
			assert.Equal(t, string(formatted), b.Text, "%s:%d: the block is not as gofmt writes it", d.Path, b.Line)
		}
		pkg := ""
		if m := clause.FindStringSubmatch(b.Text); m != nil {
			pkg = m[1]
		}
		u := named[pkg]
		if u == nil || pkg == "main" || pkg == "" && b.Has("new package") {
			count++
			u = &unit{name: fmt.Sprintf("%s_%d", strings.NewReplacer("/", "_", ".md", "").Replace(d.Path), count), pkg: pkg, doc: d, stays: b.Has("stays")}
			named[pkg], all = u, append(all, u)
		}
		text := fmt.Sprintf("//line %s:%d\n%s", d.Path, b.Line, b.Text)
		if pkg == "" {
			text = fragment(lib.names, d.Path, b)
		}
		u.files = append(u.files, source{b.Line, text})
		if pkg == "main" && i+1 < len(d.Blocks) && d.Blocks[i+1].Lang == "text" {
			u.out = &d.Blocks[i+1]
		}
	}
	return all
}

// fragment makes a file from declarations, or from statements.
func fragment(names map[string]string, path string, b markdown.Block) string {
	var head strings.Builder
	head.WriteString("package fragments\n")
	for name, from := range names {
		if name == "context" || name == "node" || regexp.MustCompile(`\b`+name+`\.`).MatchString(b.Text+strings.Join(b.Notes, " ")) {
			fmt.Fprintf(&head, "import %s %q\n", name, from)
		}
	}
	where := fmt.Sprintf("//line %s:%d\n", path, b.Line)
	declarations := head.String() + where + b.Text
	if _, err := parser.ParseFile(token.NewFileSet(), "", declarations, 0); err == nil {
		return declarations
	}
	with := strings.Join(append([]string{"ctx context.Context", "n *node.Node"}, b.Note("with")...), ", ")
	return fmt.Sprintf("%s%sfunc _(%s) error {\n{\n%s%s}\n%spanic(0) }\n", head.String(), where, with, where, b.Text, where)
}

// Every Go block compiles. Errors name the document and the line.
func TestGo(t *testing.T) {
	count := 0
	for _, d := range documents(t) {
		for _, u := range units(t, d) {
			count += len(u.files)
			check(t, u)
		}
	}
	require.Greater(t, count, 30, "blocks of Go")
	t.Log(count, "blocks of Go")
}

// check type-checks a unit, and looks for misuses as actornode vet does. Fragments may have unused variables and
// imports.
func check(t *testing.T, u *unit) {
	set := token.NewFileSet()
	var files []*ast.File
	blocks := make(map[*ast.File]int)
	for _, s := range u.files {
		f, err := parser.ParseFile(set, "block.go", s.text, parser.SkipObjectResolution|parser.ParseComments)
		if !assert.NoError(t, err, "%s: the block of Go that begins at line %d does not parse", u.doc.Path, s.line) {
			continue
		}
		files, blocks[f] = append(files, f), s.line
	}
	conf := types.Config{Importer: exports(t, set), Error: func(err error) {
		e := err.(types.Error)
		if e.Soft && u.pkg == "" {
			return
		}
		begins := 0
		for f, line := range blocks {
			if f.FileStart <= e.Pos && e.Pos <= f.FileEnd {
				begins = line
			}
		}
		at := set.Position(e.Pos)
		t.Errorf("%s:%d: %s (the block of Go that begins at line %d does not compile)", at.Filename, at.Line, e.Msg, begins)
	}}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Instances: map[*ast.Ident]types.Instance{},
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Scopes: map[ast.Node]*types.Scope{},
	}
	pkg, _ := conf.Check(u.name, set, files, info)
	if t.Failed() {
		return // code without types cannot be analyzed
	}
	err := vet.Check(set, files, pkg, info, func(at token.Pos, text string) {
		where := set.Position(at)
		t.Errorf("%s:%d: actornode vet: %s", where.Filename, where.Line, text)
	})
	require.NoError(t, err)
}

// The Go command builds and runs programs with an output, and tests.
func TestPrograms(t *testing.T) {
	testkit.From(t, testkit.Merge, "documents")
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	dir := t.TempDir()
	overlay := struct{ Replace map[string]string }{make(map[string]string)}
	mapper := porttest.Reserve(t)
	var all []*unit
	var programs []string
	for _, d := range documents(t) {
		for _, u := range units(t, d) {
			if u.pkg == "" || u.pkg == "main" && u.out == nil && !u.stays {
				continue
			}
			all = append(all, u)
			for i, s := range u.files {
				file := fmt.Sprintf("f%d.go", i)
				if strings.Contains(s.text, "\t\"testing\"\n") {
					file = fmt.Sprintf("f%d_test.go", i)
				}
				real := filepath.Join(dir, u.name+"_"+file)
				require.NoError(t, os.WriteFile(real, []byte(withMapper(s.text, mapper)), 0o644))
				overlay.Replace[filepath.Join(root, "docs", "run", u.name, file)] = real
			}
			if u.pkg == "main" {
				programs = append(programs, "./docs/run/"+u.name)
			}
		}
	}
	require.NotEmpty(t, programs)
	text, err := json.Marshal(overlay)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(dir+"/overlay.json", text, 0o644))
	build := func(args ...string) {
		cmd := exec.Command("go", args...)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "go %s\n%s", strings.Join(args, " "), out)
	}
	flags := []string{"-overlay", dir + "/overlay.json", "-pgo=off", "-ldflags=-s -w"}
	require.NoError(t, os.Mkdir(dir+"/bin", 0o755))
	build(slices.Concat([]string{"build"}, flags, []string{"-o", dir + "/bin/"}, programs)...)
	for _, u := range all {
		if u.pkg != "main" {
			build(slices.Concat([]string{"test", "-c", "-vet=off"}, flags, []string{"-o", dir + "/bin/" + u.name, "./docs/run/" + u.name})...)
		}
	}
	for _, u := range all {
		if u.stays {
			stay(t, u, dir+"/bin/"+u.name)
			continue
		}
		t.Run(u.name, func(t *testing.T) {
			cmd := exec.CommandContext(testkit.Context(t), dir+"/bin/"+u.name)
			cmd.Dir = t.TempDir()
			var errs bytes.Buffer
			cmd.Stderr = &errs
			out, err := cmd.Output()
			require.NoError(t, err, "%s:%d: the program fails\n%s%s", u.doc.Path, u.files[0].line, out, errs.String())
			if u.out != nil {
				assert.Equal(t, masked(u.out.Text), masked(string(out)), "%s:%d: the program at line %d prints something else", u.doc.Path, u.out.Line, u.files[0].line)
			}
		})
	}
}

// stay starts a program that runs until the test ends, and returns when it has printed
// a line.
func stay(t *testing.T, u *unit, file string) {
	cmd := exec.Command(file)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	if u.out != nil {
		assert.Equal(t, masked(u.out.Text), masked(line), "%s:%d", u.doc.Path, u.out.Line)
	}
}

// withMapper makes a program that joins a cluster use a port mapper of the test.
func withMapper(text string, port int) string {
	const begin = "&node.Distribution{"
	if !strings.Contains(text, begin) || strings.Contains(text, "Finder:") {
		return text
	}
	text = strings.Replace(text, begin, fmt.Sprintf("%sFinder: &discovery.EPMD{Config: epmd.Config{Port: %d}}, ", begin, port), 1)
	return strings.Replace(text, "import (\n", "import (\n\""+module+"/node/discovery\"\n\""+module+"/wire/epmd\"\n", 1)
}

// masked removes what differs from run to run.
func masked(text string) string {
	for _, m := range []struct{ what, by string }{
		{`<[\w-]+@[\w.-]+\.\d+\.\d+>`, "<PID>"},
		{`127\.0\.0\.1:\d+`, "127.0.0.1:PORT"},
		{`\b\d+(\.\d+)?(ns|µs|ms|s)\b`, "TIME"},
	} {
		text = regexp.MustCompile(m.what).ReplaceAllString(text, m.by)
	}
	return text
}

// inside are documents about internals: a name without its package may be from an internal package there.
var inside = []string{
	"CONTRIBUTING.md", "docs/architecture.md", "docs/architecture-node.md", "docs/performance.md", "docs/performance-ablation.md",
	"docs/performance-cpu.md", "docs/protocols.md", "docs/glossary.md", "docs/stability.md", "docs/tests.md",
}

// Names of packages of this module that documents use exist: node.Send, supervisor.Spec, Options.Bounds, SpawnOpt, the
// path of a folder or a file.
func TestNames(t *testing.T) {
	set := token.NewFileSet()
	lib, err := library()
	require.NoError(t, err)
	from := exports(t, set)
	public := make(map[string]*types.Package) // by name
	has := make(map[string]map[string]bool)   // fields and methods of types, by the type's name; "": all names
	has[""] = make(map[string]bool)
	for name, path := range lib.names {
		if !strings.HasPrefix(path, module) {
			continue
		}
		p, err := from.Import(path)
		require.NoError(t, err)
		public[name] = p
		for _, n := range p.Scope().Names() {
			o := p.Scope().Lookup(n)
			has[""][n] = true
			if _, is := o.(*types.TypeName); is {
				if has[n] == nil {
					has[n] = make(map[string]bool)
				}
				for _, m := range members(o.Type()) {
					has[n][m], has[""][m] = true, true
				}
			}
		}
	}
	qualified := regexp.MustCompile(`(^|[^\w./"])(\w+)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)
	alone := regexp.MustCompile(`^(?:n\.)?([A-Z][a-z]\w*)($|\(|\[)`)
	rules, err := os.ReadFile("../deploy/prometheus/rules.yaml")
	require.NoError(t, err)
	folder := regexp.MustCompile(`^(?:node|supervisor|wire|mailbox|sched|cmd|deploy|bench|docs|internal)(?:/[\w.*-]+)+/?$`)
	for _, d := range documents(t) {
		if d.Path == "docs/configuration.md" {
			continue // made from the configuration itself
		}
		declared := make(map[string]bool) // by the document's own code
		for _, b := range d.Blocks {
			for _, m := range regexp.MustCompile(`\b[A-Z]\w*`).FindAllString(b.Text, -1) {
				declared[m] = declared[m] || b.Lang == "go"
			}
		}
		for _, c := range d.Codes {
			if folder.MatchString(c.Text) {
				matches, err := filepath.Glob(filepath.Join("..", c.Text))
				assert.True(t, err == nil && len(matches) > 0, "%s:%d: there is no %s", d.Path, c.Line, c.Text)
			}
			if m := alone.FindStringSubmatch(c.Text); m != nil && !declared[m[1]] && !slices.Contains(inside, d.Path) {
				there := has[""][m[1]] || strings.Contains(string(rules), "alert: "+m[1]+"\n")
				assert.True(t, there, "%s:%d: no package has a name, method or field %s, and no alert is called so", d.Path, c.Line, m[1])
			}
			for _, m := range qualified.FindAllStringSubmatch(c.Text, -1) {
				p := public[m[2]]
				if p == nil {
					if of := has[m[2]]; of != nil && m[2] != "" && unicode.IsUpper(rune(m[2][0])) && m[2] != strings.ToUpper(m[2]) {
						assert.True(t, of[m[3]], "%s:%d: no %s has a field or method %s", d.Path, c.Line, m[2], m[3])
					}
					continue
				}
				o := p.Scope().Lookup(m[3])
				if assert.NotNil(t, o, "%s:%d: %s has no %s", d.Path, c.Line, p.Path(), m[3]) && m[4] != "" {
					assert.Contains(t, members(o.Type()), m[4], "%s:%d: %s.%s", d.Path, c.Line, m[2], m[3])
				}
			}
		}
	}
}

// members returns the names of the fields and methods of a type.
func members(of types.Type) (all []string) {
	if s, is := of.Underlying().(*types.Struct); is {
		for f := range s.Fields() {
			all = append(all, f.Name())
		}
	}
	if _, is := of.Underlying().(*types.Interface); !is {
		of = types.NewPointer(of)
	}
	methods := types.NewMethodSet(of)
	for m := range methods.Methods() {
		all = append(all, m.Obj().Name())
	}
	return all
}
