package actornode_test

import (
	"go/doc"
	"go/doc/comment"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// rendered is what a documentation site makes of the comments of a package.
type rendered struct {
	t      *testing.T
	pkg    *doc.Package
	names  map[string]map[string]bool // what the packages of the module export, by path
	parser *comment.Parser
}

// What a documentation site shows of a public package is what its comments mean: a link leads somewhere, a heading is
// marked as one, and items of lists do not run together.
func TestCommentsRender(t *testing.T) {
	names := make(map[string]map[string]bool)
	var all []*doc.Package
	for _, p := range packages(t) {
		if public(p) {
			_, d := documented(t, p, 0)
			all, names[p.ImportPath] = append(all, d), exportedNames(d)
		}
	}
	links := 0
	for _, d := range all {
		links += rendered{t, d, names, d.Parser()}.packageDoc()
	}
	assert.Greater(t, links, 500, "links in comments")
}

// exportedNames returns Name and Type.Method of all that a package exports.
func exportedNames(d *doc.Package) map[string]bool {
	all := make(map[string]bool)
	functions := func(funcs []*doc.Func) {
		for _, f := range funcs {
			of, _, _ := strings.Cut(strings.TrimLeft(f.Recv, "*"), "[")
			all[strings.TrimPrefix(of+"."+f.Name, ".")] = true
		}
	}
	values := func(vals []*doc.Value) {
		for _, v := range vals {
			for _, n := range v.Names {
				all[n] = true
			}
		}
	}
	values(d.Consts)
	values(d.Vars)
	functions(d.Funcs)
	for _, typ := range d.Types {
		all[typ.Name] = true
		values(typ.Consts)
		values(typ.Vars)
		functions(typ.Funcs)
		functions(typ.Methods)
	}
	return all
}

// packageDoc checks all comments of the package, and returns how many links they have.
func (r rendered) packageDoc() (links int) {
	links = r.comment("the package", r.pkg.Doc)
	functions := func(funcs []*doc.Func) {
		for _, f := range funcs {
			links += r.comment(f.Name, f.Doc)
		}
	}
	values := func(vals []*doc.Value) {
		for _, v := range vals {
			links += r.comment(v.Names[0], v.Doc)
		}
	}
	values(r.pkg.Consts)
	values(r.pkg.Vars)
	functions(r.pkg.Funcs)
	for _, typ := range r.pkg.Types {
		links += r.comment(typ.Name, typ.Doc)
		values(typ.Consts)
		values(typ.Vars)
		functions(typ.Funcs)
		functions(typ.Methods)
	}
	return links
}

var (
	unlinked = regexp.MustCompile(`(?:^|[^\w\])])\[\*?[A-Za-z]\w*(?:\.[A-Za-z]\w*)*\]`)
	unlisted = regexp.MustCompile(`(?m)^(?:[-*•] |\d+[.)] |# )`)
)

// erlang are lists in terms of Erlang, which look like links.
var erlang = []string{"[Name]", "[Pid]", "[T]"}

// comment checks one comment, and returns how many links it has.
func (r rendered) comment(of, text string) (links int) {
	for _, block := range r.parser.Parse(text).Content {
		links += r.block(of, text, block)
	}
	return links
}

func (r rendered) block(of, text string, block comment.Block) (links int) {
	wrong := func(format string, args ...any) { assert.Failf(r.t, r.pkg.ImportPath+": "+of, format, args...) }
	switch b := block.(type) {
	case *comment.Heading:
		plain, _ := r.text(of, b.Text)
		if !strings.Contains("\n"+text, "\n# "+plain+"\n") {
			wrong("the line %q looks like a heading to go/doc: end it with a full stop, or mark it with #", plain)
		}
	case *comment.Paragraph:
		plain, n := r.text(of, b.Text)
		links += n
		if line := unlisted.FindString(plain); line != "" {
			wrong("a line that begins with %q is part of a paragraph: indent items of a list, and put an empty line after a heading",
				line)
		}
	case *comment.Code:
		if regexp.MustCompile(`^(?:- |\d+\. )`).MatchString(b.Text) {
			wrong("a list looks like code: indent its first line by two blanks, and the others by four\n%s", b.Text)
		}
	case *comment.List:
		for _, item := range b.Items {
			for _, inner := range item.Content {
				links += r.block(of, text, inner)
			}
		}
	}
	return links
}

// text returns the text without marks, and how many links it has.
func (r rendered) text(of string, all []comment.Text) (plain string, links int) {
	var b strings.Builder
	for _, part := range all {
		switch part := part.(type) {
		case comment.Plain:
			b.WriteString(string(part))
			for _, link := range unlinked.FindAllString(string(part), -1) {
				if !slices.Contains(erlang, link[strings.Index(link, "["):]) {
					assert.Failf(r.t, r.pkg.ImportPath+": "+of, "%s is no link: nothing has this name, or its package is not imported", link)
				}
			}
		case comment.Italic:
			b.WriteString(string(part))
		case *comment.Link:
			inner, _ := r.text(of, part.Text)
			b.WriteString(inner)
		case *comment.DocLink:
			inner, _ := r.text(of, part.Text)
			b.WriteString(inner)
			links++
			r.link(of, part)
		}
	}
	return b.String(), links
}

// link checks that a link within the module leads to a name.
func (r rendered) link(of string, l *comment.DocLink) {
	path := l.ImportPath
	if path == "" {
		path = r.pkg.ImportPath
	}
	if l.Name == "" || !strings.HasPrefix(path, module) {
		return
	}
	name := strings.TrimPrefix(l.Recv+"."+l.Name, ".")
	assert.True(r.t, r.names[path][name], "%s: %s: %s has no %s", r.pkg.ImportPath, of, path, name)
}
