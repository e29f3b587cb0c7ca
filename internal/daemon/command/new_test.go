package command

import (
	"go/ast"
	"go/build"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// shopOfProject is the part of the program of a new project named shop that its configuration names.
var shopOfProject = Program{Name: "shop", Export: func(n *node.Node) error {
	return rpc.ExportBehaviour(n, wire.Export{Module: "shop", Function: "counter"},
		func([]any) (node.Actor, error) { return greeter{}, nil })
}}

// A new project is formatted, passes go vet with its tests, and its configuration is accepted. In make merge it is also
// built and passes its tests, and its own program accepts its configuration.
func TestNew(t *testing.T) {
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	sums, err := os.ReadFile("../../../go.sum")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	env, out, errs := newEnvironment(t, nil)
	args := []string{"new", "shop", "--module", "example.com/shop", "--replace", root, "--tidy=false"}
	require.Equal(t, exitOK, run(t.Context(), args, env), errs.String())
	require.Contains(t, out.String(), "go run . start --config shop.yaml")
	t.Chdir("shop")
	require.NoError(t, os.WriteFile("go.sum", sums, 0o644)) // instead of go mod tidy, which needs the network
	for name, kind := range map[string]string{"cart": "server", "payment": "statem", "alarm": "event", "stock": "application"} {
		require.Equal(t, exitOK, run(t.Context(), []string{"add", kind, name}, env), errs.String())
	}
	sources, err := filepath.Glob("*.go")
	require.NoError(t, err)
	require.Len(t, sources, 11)
	for _, file := range sources {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		formatted, err := format.Source(text)
		require.NoError(t, err, file)
		require.Equal(t, string(formatted), string(text), file)
	}
	tools := [][]string{{"go", "vet", "-mod=mod", "./..."}}
	if testkit.At() >= testkit.Merge {
		tools = append(tools, []string{"go", "test", "-mod=mod", "./..."}, []string{"go", "build", "-mod=mod", "-o", "bin/shop", "."},
			[]string{"bin/shop", "check", "shop.yaml"}, []string{"bin/shop", "version"})
	}
	for _, args := range tools {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off")
		text, err := cmd.CombinedOutput()
		require.NoError(t, err, "%v: %s", args, text)
	}
	env, _, errs = newEnvironment(t, nil)
	env.program = shopOfProject
	require.Equal(t, exitOK, run(t.Context(), []string{"check", "shop.yaml"}, env), errs.String())
	checkUnit(t, root)
	checkCompose(t)
}

// checkUnit compares the unit of a project named shop with the shipped one, whose hardening is tested.
func checkUnit(t *testing.T, root string) {
	unit := func(file string) []string {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		_, service, ok := strings.Cut(string(text), "[Service]\n")
		require.True(t, ok, file)
		return strings.Split(strings.ReplaceAll(service, "actornode", "shop"), "\n")
	}
	require.Equal(t, unit(root+"/deploy/systemd/actornode.service"), unit("shop.service"))
}

// checkCompose reads the compose file of a project named shop: it sets variables of the node, with which the
// configuration needs no name, as the Dockerfile makes it.
func checkCompose(t *testing.T) {
	text, err := os.ReadFile("compose.yaml")
	require.NoError(t, err)
	var c struct {
		Services map[string]struct{ Environment map[string]string }
	}
	require.NoError(t, yaml.Unmarshal(text, &c))
	file, err := os.ReadFile("shop.yaml")
	require.NoError(t, err)
	named := regexp.MustCompile(`(?m)^name:.*\n`) // as the Dockerfile's sed does
	require.Regexp(t, named, string(file))
	known := make(map[string]bool)
	for _, s := range config.Default().Settings() {
		known[s.Env()] = true
	}
	for v := range c.Services["shop"].Environment {
		require.True(t, known[v], v)
	}
	require.NoError(t, os.WriteFile("container.yaml", named.ReplaceAll(file, nil), 0o644))
	env, _, errs := newEnvironment(t, c.Services["shop"].Environment)
	env.program = shopOfProject
	require.Equal(t, exitOK, run(t.Context(), []string{"check", "container.yaml", "--elsewhere"}, env), errs.String())
	if testkit.At() >= testkit.Merge {
		check := exec.CommandContext(t.Context(), "bin/shop", "check", "container.yaml", "--elsewhere")
		for name, value := range c.Services["shop"].Environment {
			check.Env = append(check.Env, name+"="+value)
		}
		out, err := check.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	dockerfile, err := os.ReadFile("Dockerfile")
	require.NoError(t, err)
	require.Contains(t, string(dockerfile), "sed '/^name:/d' shop.yaml >/out/shop.yaml")
}

// Names that Go does not accept, and files that exist already: nothing is written.
func TestNewRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("there", 0o755))
	require.NoError(t, os.WriteFile("cart_test.go", nil, 0o644))
	require.NoError(t, os.WriteFile("go.mod", nil, 0o644))
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"new", "my-shop"}, exitUsage, `"my-shop": want a name of small letters, digits and _ that begins with a letter`},
		{[]string{"new", "../shop"}, exitUsage, "want a name of small letters"},
		{[]string{"new", "func"}, exitUsage, `"func": a word of Go cannot be a name`},
		{[]string{"new", "there"}, exitFailed, "there exists; want the name of a new folder"},
		{[]string{"add", "server", "Cart"}, exitUsage, "want a name of small letters"},
		{[]string{"add", "serfer", "cart"}, exitUsage, `cannot add "serfer"; want one of server, statem, event, application`},
		{[]string{"add", "statem", "string"}, exitUsage, `"string": a word of Go cannot be a name`},
		{[]string{"add", "event", "node"}, exitUsage, `"node": a project has this name for something else`},
		{[]string{"add", "application", "cart"}, exitFailed, "cart_test.go: file exists"},
		{[]string{"add", "server", "cart"}, exitFailed, "cart_test.go: file exists"},
	} {
		env, _, errs := newEnvironment(t, nil)
		assert.Equal(t, c.status, run(t.Context(), c.args, env), "%v", c.args)
		assert.Contains(t, errs.String(), c.says)
	}
	left, err := os.ReadDir(".")
	require.NoError(t, err)
	assert.Len(t, left, 3)
}

// Outside of a project add adds nothing.
func TestAddOutside(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, kind := range kinds {
		env, _, errs := newEnvironment(t, nil)
		assert.Equal(t, exitFailed, run(t.Context(), []string{"add", kind, "cart"}, env))
		assert.Contains(t, errs.String(), "want the folder of a project that actornode new has written")
	}
	left, err := os.ReadDir(".")
	require.NoError(t, err)
	assert.Empty(t, left)
}

// No project name hides, or is hidden by, an identifier in the templates: all their identifiers are refused, except
// those that are made of the name. And Go leaves out no file because of the name, on any system.
func TestNamesOfProject(t *testing.T) {
	files, err := filepath.Glob("project/*.go.tmpl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	p := project{Name: "zzname", Title: "Zzname", Module: "zzname", Server: "zzname", Export: "Zzname"}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		tree, err := parser.ParseFile(token.NewFileSet(), file, p.replacer().Replace(string(text)), 0)
		require.NoError(t, err)
		for _, s := range tree.Imports {
			assert.Error(t, checkIdentifier(path.Base(strings.Trim(s.Path.Value, `"`))), "%s: %s", file, s.Path.Value)
		}
		// Methods, and fields of selectors and of types, hide nothing.
		hidden := make(map[*ast.Ident]bool)
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				hidden[n.Sel] = true
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok {
					hidden[key] = true
				}
			case *ast.FuncDecl:
				hidden[n.Name] = n.Recv != nil
			case *ast.StructType:
				for _, f := range n.Fields.List {
					for _, name := range f.Names {
						hidden[name] = true
					}
				}
			}
			return true
		})
		ast.Inspect(tree, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && !hidden[id] && identifier.MatchString(id.Name) && !strings.HasPrefix(id.Name, "zzname") {
				assert.Error(t, checkIdentifier(id.Name), "%s: %s", file, id.Name)
			}
			return true
		})
	}
	for _, name := range []string{"cart_windows", "cart_arm64", "cart_linux_amd64", "x_wasm", "cart_test"} {
		assert.Error(t, checkIdentifier(name), name)
	}
	for _, name := range []string{"cart", "windows", "cart_window", "amd64", "cart_v2"} {
		assert.NoError(t, checkIdentifier(name), name)
	}
	for _, name := range []string{"log", "time", "net", "net/http", "go"} {
		assert.Error(t, checkModule(name), name)
	}
	for _, name := range []string{"shop", "example.com/log", "logs"} {
		assert.NoError(t, checkModule(name), name)
	}
	entries, err := os.ReadDir(filepath.Join(build.Default.GOROOT, "src"))
	require.NoError(t, err)
	for _, e := range entries {
		if e.IsDir() && e.Name() != "testdata" {
			assert.Contains(t, standard, e.Name())
		}
	}
}

// If go mod tidy fails, no files are left.
func TestNewThatFails(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOPROXY", "off")
	env, _, errs := newEnvironment(t, nil)
	require.Equal(t, exitFailed, run(t.Context(), []string{"new", "shop", "--replace", "/nowhere"}, env))
	require.Contains(t, errs.String(), "nothing of the project shop stays")
	left, err := os.ReadDir(".")
	require.NoError(t, err)
	require.Empty(t, left)
	env, _, errs = newEnvironment(t, nil)
	require.Equal(t, exitUsage, run(t.Context(), []string{"new", "log"}, env))
	require.Contains(t, errs.String(), "--module example.com/log")
}
