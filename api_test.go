package actornode_test

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// public reports whether other modules can and would import a package: it is in the module that they get, it is not a
// program, and it has declarations.
func public(p pkg) bool {
	return p.module == "." && p.Name != "main" && !slices.Contains(strings.Split(p.ImportPath, "/"), "internal") && len(p.GoFiles) > 0
}

// The exported names of each public package are those in testdata/api. A change of the surface changes that file, too:
// go test . -run TestAPI -update.
//
// Each line is a name. A declaration counts once: a method that several types have from an unexported one is a line that
// lists them all. Fields and methods of interfaces do not count, nor do those that an exported embedded type brings.
func TestAPI(t *testing.T) {
	var files []string
	names := 0
	for _, p := range packages(t) {
		if !public(p) {
			continue
		}
		lines := surface(t, p)
		if len(lines) == 0 {
			continue
		}
		path := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		names += len(lines)
		file := filepath.Join("testdata", "api", strings.ReplaceAll(cmp.Or(path, "actornode"), "/", "_")+".txt")
		files = append(files, file)
		got := strings.Join(lines, "\n") + "\n"
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err, "run the test with -update if %s is to be public", path)
		require.Equal(t, string(want), got, "%s: run the test with -update if this is what it should be", path)
	}
	t.Logf("%d exported names in %d packages", names, len(files))
	there, err := filepath.Glob("testdata/api/*.txt")
	require.NoError(t, err)
	for _, file := range there {
		if !slices.Contains(files, file) && *update {
			require.NoError(t, os.Remove(file))
			continue
		}
		require.Contains(t, files, file, "there is no such package any more")
	}
}

// Each public package has an example that runs; a kit of tests has one that compiles.
func TestPackagesHaveExamples(t *testing.T) {
	for _, p := range packages(t) {
		if !public(p) {
			continue
		}
		runs, kit := false, slices.Contains(p.Imports, "testing")
		for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.ParseComments)
			require.NoError(t, err)
			for _, e := range doc.Examples(f) {
				runs = runs || e.Output != "" || kit
			}
		}
		require.True(t, runs, "%s has no Example function with an Output", p.ImportPath)
	}
}

// documented returns what go/doc finds in a package, with unexported declarations or without.
func documented(t *testing.T, p pkg, mode doc.Mode) (*token.FileSet, *doc.Package) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments)
		require.NoError(t, err)
		files = append(files, f)
	}
	d, err := doc.NewFromFiles(fset, files, p.ImportPath, mode)
	require.NoError(t, err)
	return fset, d
}

// surface returns one line for each exported name of a package, with its declaration. The
// methods of a type are listed with it. Fields of structs and methods of interfaces are part
// of the declaration.
func surface(t *testing.T, p pkg) (lines []string) {
	fset, d := documented(t, p, 0)
	text := func(n any) string {
		var b bytes.Buffer
		require.NoError(t, (&printer.Config{Mode: printer.RawFormat}).Fprint(&b, fset, n))
		return strings.Join(strings.Fields(b.String()), " ")
	}
	values := func(all []*doc.Value) {
		for _, v := range all {
			for _, s := range v.Decl.Specs {
				s := s.(*ast.ValueSpec)
				for _, n := range s.Names {
					if n.IsExported() {
						lines = append(lines, strings.TrimSpace(fmt.Sprint(v.Decl.Tok, " ", n.Name, " ", typeOf(s, text))))
					}
				}
			}
		}
	}
	functions := func(all []*doc.Func) {
		for _, f := range all {
			decl := *f.Decl
			decl.Doc, decl.Body = nil, nil
			lines = append(lines, text(&decl))
		}
	}
	values(d.Consts)
	values(d.Vars)
	functions(d.Funcs)
	for _, typ := range d.Types {
		for _, s := range typ.Decl.Specs {
			s := s.(*ast.TypeSpec)
			stripComments(s)
			lines = append(lines, "type "+text(s))
		}
		values(typ.Consts)
		values(typ.Vars)
		functions(typ.Funcs)
	}
	lines = append(lines, methods(t, p)...)
	slices.Sort(lines)
	return lines
}

// methods returns a line for each exported method of the exported types of a package. A method declared for an
// unexported type that exported types embed has these as receivers.
func methods(t *testing.T, p pkg) (lines []string) {
	fset, d := documented(t, p, doc.AllDecls) // without it go/doc misses some promoted methods of unexported types
	text := func(decl *ast.FuncDecl) string {
		var b bytes.Buffer
		require.NoError(t, (&printer.Config{Mode: printer.RawFormat}).Fprint(&b, fset, decl))
		return strings.Join(strings.Fields(b.String()), " ")
	}
	handedOn := make(map[string][]string) // the receivers of a declaration
	for _, typ := range d.Types {
		if !ast.IsExported(typ.Name) {
			continue
		}
		for _, f := range typ.Methods {
			decl := *f.Decl
			decl.Doc, decl.Body = nil, nil
			switch {
			case !ast.IsExported(f.Name):
			case f.Level == 0:
				lines = append(lines, text(&decl))
			default:
				decl.Recv = nil
				key := strings.TrimLeft(f.Orig, "*") + strings.TrimPrefix(text(&decl), "func")
				handedOn[key] = append(handedOn[key], f.Recv)
			}
		}
	}
	for key, types := range handedOn {
		_, method, _ := strings.Cut(key, " ")
		slices.Sort(types)
		lines = append(lines, fmt.Sprintf("func (%s) %s", strings.Join(types, ", "), method))
	}
	return lines
}

func typeOf(s *ast.ValueSpec, text func(any) string) string {
	if s.Type == nil {
		return ""
	}
	return text(s.Type)
}

// stripComments leaves only what a declaration promises: exported fields, and no comments.
func stripComments(s *ast.TypeSpec) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			n.Doc, n.Comment = nil, nil
		case *ast.TypeSpec:
			n.Doc, n.Comment = nil, nil
		}
		return true
	})
}

// No public package shows what is internal: neither by an alias nor in a declaration, except for functions that take
// what only packages of this module can make, such as a process.Key. And none imports what only tests need.
func TestAPIShowsNothingInternal(t *testing.T) {
	all := packages(t)
	names := make(map[string]string)
	for _, p := range all {
		names[p.ImportPath] = p.Name
	}
	for _, p := range all {
		if !public(p) {
			continue
		}
		for _, imp := range p.Imports {
			require.False(t, strings.HasPrefix(imp, "github.com/stretchr/testify"), "%s imports %s", p.ImportPath, imp)
		}
		var hidden []string
		for _, imp := range p.Imports {
			if strings.HasPrefix(imp, module) && strings.Contains(imp, "/internal/") {
				require.NotEmpty(t, names[imp], "%s imports %s, which is not there", p.ImportPath, imp)
				hidden = append(hidden, names[imp])
			}
		}
		wanted := regexp.MustCompile(`\bprocess\.Key\b|^func (\([^)]*\) )?\w+\([^)]*\b(` + strings.Join(hidden, "|") + `)\.[A-Z]`)
		for _, line := range surface(t, p) {
			if wanted.MatchString(line) && len(hidden) > 0 {
				continue
			}
			for _, name := range hidden {
				require.NotRegexp(t, `(^|[^\w.])`+name+`\.[A-Z]`, line, "%s shows a name of an internal package", p.ImportPath)
			}
		}
	}
}
