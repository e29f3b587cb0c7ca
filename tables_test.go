package actornode_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tablesOf are the folders, with everything below them, whose types may hold what other nodes make this node keep.
var tablesOf = []string{"node", "internal/kernel", "wire/native", "wire/erldist", "internal/wire/pack", "internal/daemon/admin"}

// Each table (a map or a list in a struct) of the packages that serve other nodes has a bound in testdata/tables.txt:
//
//	limit NAME   limits.NAME of the configuration, whose share of all peers docs/guarantees.md says
//	set NAME     another setting of the configuration whose name ends so
//	const NAME   a constant of the package
//	of DIR NAME  a constant of another package
//	own          only this program adds to it, and no request of another node
//
// A new table without a line fails, and so does a line without its table, its setting or its constant.
func TestEachTableHasABound(t *testing.T) {
	settings, err := os.ReadFile("docs/configuration.md")
	require.NoError(t, err)
	text, err := os.ReadFile("testdata/tables.txt")
	require.NoError(t, err)
	bounds := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		table, bound, ok := strings.Cut(strings.TrimSpace(line), ": ")
		require.True(t, ok, line)
		bounds[table] = bound
	}
	found := make(map[string]bool)
	for _, root := range tablesOf {
		require.NoError(t, filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			if d.Name() == "testdata" {
				return fs.SkipDir
			}
			tables, consts := tablesIn(t, dir)
			for _, table := range tables {
				key := dir + " " + table
				found[key] = true
				kind, name, _ := strings.Cut(bounds[key], " ")
				switch kind {
				case "limit":
					require.Contains(t, string(settings), "`limits."+name+"`", "%s: no such limit", key)
				case "set":
					require.Regexp(t, regexp.QuoteMeta(name)+"`", string(settings), "%s: no such setting", key)
				case "const":
					require.Contains(t, consts, name, "%s: no such constant", key)
				case "of":
					of, constant, _ := strings.Cut(name, " ")
					_, consts := tablesIn(t, of)
					require.Contains(t, consts, constant, "%s: no such constant", key)
				case "own":
				default:
					t.Errorf("%s: what bounds it? Say so in testdata/tables.txt", key)
				}
			}
			return nil
		}))
	}
	for key := range bounds {
		if !found[key] {
			t.Errorf("testdata/tables.txt: there is no table %s", key)
		}
	}
}

// tablesIn returns the fields of structs in a folder that are maps or lists, and its constants.
func tablesIn(t *testing.T, dir string) (tables, consts []string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range g.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, n := range s.Names {
						if g.Tok == token.CONST {
							consts = append(consts, n.Name)
						}
					}
				case *ast.TypeSpec:
					if of, ok := s.Type.(*ast.StructType); ok {
						tables = append(tables, tablesOfStruct(s.Name.Name, of)...)
					}
				}
			}
		}
	}
	slices.Sort(tables)
	return slices.Compact(tables), consts
}

func tablesOfStruct(name string, of *ast.StructType) (tables []string) {
	for _, f := range of.Fields.List {
		table := false
		ast.Inspect(f.Type, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncType:
				return false
			case *ast.MapType:
				table = true
			case *ast.SelectorExpr:
				in, ok := n.X.(*ast.Ident)
				table = table || ok && ((in.Name == "list" || in.Name == "tables") && n.Sel.Name == "List" || in.Name == "sync" && n.Sel.Name == "Map")
			}
			return true
		})
		for _, n := range f.Names {
			if table {
				tables = append(tables, name+"."+n.Name)
			}
		}
	}
	return tables
}
