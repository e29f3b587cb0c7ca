package actornode_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/recorded"
)

// What the last version exported is still there, as the compiler sees it: see package recorded. TestAPI compares the
// declarations, which may change their form.
func TestRecordedAPI(t *testing.T) {
	var paths []string
	for _, p := range packages(t) {
		if public(p) {
			paths = append(paths, p.ImportPath)
		}
	}
	l := newListing(t, paths)
	for _, path := range paths {
		l.list(path)
	}
	recorded.Check(t, ".", "api", l.lines)
}

// listing lists the exported names of packages. Each is a line of its own: a method of a type, a field of a struct. What
// is of an internal type is left out, since only this module can use it.
type listing struct {
	t        *testing.T
	importer types.Importer
	lines    []string
}

func newListing(t *testing.T, paths []string) *listing {
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-pgo=off", "-export", "-deps", "-f",
		"{{.ImportPath}} {{.Export}}"}, paths...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	require.NoError(t, err, "go list: %s", errs.String())
	files := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	return &listing{t: t, importer: importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(files[path])
	})}
}

func (l *listing) add(name, format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	if !strings.Contains(what, "/internal/") {
		l.lines = append(l.lines, name+": "+what)
	}
}

// list adds the lines of a package.
func (l *listing) list(path string) {
	p, err := l.importer.Import(path)
	require.NoError(l.t, err)
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		name := p.Name() + "." + name
		switch o := o.(type) {
		case *types.Const:
			l.add(name, "const %s = %s", l.text(o.Type()), exact(o.Val()))
		case *types.Var:
			l.add(name, "var %s", l.text(o.Type()))
		case *types.Func:
			l.add(name, "%s", l.text(o.Type()))
		case *types.TypeName:
			l.typ(name, o)
		}
	}
}

func exact(v constant.Value) string {
	if v.Kind() == constant.String {
		return fmt.Sprintf("%q", constant.StringVal(v))
	}
	return v.ExactString()
}

// typ adds the lines of a type.
func (l *listing) typ(name string, o *types.TypeName) {
	if o.IsAlias() {
		l.add(name, "type = %s", l.text(types.Unalias(o.Type())))
		return
	}
	named := o.Type().(*types.Named)
	head := "type" + l.parameters(named.TypeParams()) + " "
	switch under := named.Underlying().(type) {
	case *types.Struct:
		l.add(name, "%sstruct%s", head, map[bool]string{true: ", comparable"}[types.Comparable(named)])
		l.fields(name, under)
	case *types.Interface:
		l.iface(name, head, under)
		return
	default:
		l.add(name, "%s%s", head, l.text(under))
	}
	values := types.NewMethodSet(named)
	for m := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		f := m.Obj()
		if !f.Exported() {
			continue
		}
		receiver := ""
		if values.Lookup(f.Pkg(), f.Name()) == nil {
			receiver = " of the pointer"
		}
		l.add(name+"."+f.Name(), "method%s %s", receiver, l.text(m.Type()))
	}
}

// fields adds the fields of a struct, with those that it has by embedding a type that is not exported.
func (l *listing) fields(name string, s *types.Struct) {
	for f := range s.Fields() {
		inner, embedded := f.Type().Underlying().(*types.Struct)
		switch {
		case f.Exported():
			l.add(name+"."+f.Name(), "field %s", l.text(f.Type()))
		case f.Embedded() && embedded:
			l.fields(name, inner)
		}
	}
}

// iface adds an interface. If other modules can implement it, another method would be a change: it is one line then.
func (l *listing) iface(name, head string, i *types.Interface) {
	text := l.text(i)
	sealed := !i.IsMethodSet() || strings.Contains(text, "/internal/")
	for m := range i.Methods() {
		sealed = sealed || !m.Exported() || strings.Contains(l.text(m.Type()), "/internal/")
	}
	if !sealed {
		l.add(name, "%s%s", head, text)
		return
	}
	l.add(name, "%sinterface that only this module implements", head)
	for m := range i.Methods() {
		if m.Exported() {
			l.add(name+"."+m.Name(), "method %s", l.text(m.Type()))
		}
	}
}

// qualified is how packages are named in lines: internal ones by their paths, which list leaves out.
func qualified(p *types.Package) string {
	if strings.Contains(p.Path(), "/internal/") {
		return p.Path()
	}
	return p.Name()
}

func (l *listing) parameters(all *types.TypeParamList) string {
	var each []string
	for p := range all.TypeParams() {
		each = append(each, p.Obj().Name()+" "+l.text(p.Constraint()))
	}
	if each == nil {
		return ""
	}
	return "[" + strings.Join(each, ", ") + "]"
}

// text returns a type without the names of parameters, which may change.
func (l *listing) text(of types.Type) string {
	text := types.TypeString(of, qualified)
	head := ""
	if s, is := of.(*types.Signature); is && s.TypeParams().Len() > 0 {
		head = "func" + l.parameters(s.TypeParams())
		text = types.TypeString(types.NewSignatureType(nil, nil, nil, s.Params(), s.Results(), s.Variadic()), qualified)
	}
	if strings.Contains(text, "/internal/") || strings.HasPrefix(text, "untyped ") {
		return text // this is not Go
	}
	e, err := parser.ParseExpr(strings.ReplaceAll(text, "#", "_")) // results without names are called #rv1
	require.NoError(l.t, err, text)
	ast.Inspect(e, func(n ast.Node) bool {
		if f, is := n.(*ast.FuncType); is {
			unnamed(f.Params)
			unnamed(f.Results)
		}
		return true
	})
	text = types.ExprString(e)
	if head != "" {
		text = head + strings.TrimPrefix(text, "func")
	}
	return text
}

// unnamed takes the names of parameters away.
func unnamed(list *ast.FieldList) {
	if list == nil {
		return
	}
	var all []*ast.Field
	for _, f := range list.List {
		all = append(all, slices.Repeat([]*ast.Field{{Type: f.Type}}, max(1, len(f.Names)))...)
	}
	list.List = all
}
