package command

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"go/build"
	"go/doc"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed project
var projectFiles embed.FS

// project holds the values for the templates: {{.Name}} and so on. No package here uses text/template, nor cobra's
// SetVersionTemplate: the linker would keep all methods of all types, which would make the program larger by a sixth.
type project struct {
	Name    string // of the program
	Title   string // Name as the first word of a sentence
	Module  string
	Version string // of actornode, or "" if unknown
	Replace string // directory that replaces the module actornode, or ""
	Server  string // name of a server
	Export  string // prefix for exported names
}

const newHelp = `Writes a new Go module into the folder NAME: a main that runs a node, a server with its test,
a configuration with a supervisor that runs the server, and what runs it elsewhere: a
Dockerfile, a file of docker compose for a cluster, and a unit of systemd. Then it calls
go mod tidy, which gets the modules that are needed. A folder or file of that name must not
exist; after an error there is none.

NAME is also the name of the program, so it has small letters, digits and _ only.`

func newCommand(env environment, status *exit) *cobra.Command {
	p := project{Server: "counter", Export: "Counter"}
	tidy := true
	c := &cobra.Command{
		Use: "new NAME", Short: "Write a new project: a node of your own", Long: newHelp,
		Example: "  actornode new shop\n  actornode new shop --module example.com/shop",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			*status = exitFailed
			p.Name = args[0]
			if err := checkIdentifier(p.Name); err != nil {
				return fail(exitUsage, err, "")
			}
			p.Title, p.Module = capital(p.Name), cmp.Or(p.Module, p.Name)
			if err := checkModule(p.Module); err != nil {
				return fail(exitUsage, err, "")
			}
			if v := versionOf(env.program).Actornode; p.Replace != "" {
				p.Version = "v0.0.0"
			} else if strings.HasPrefix(v, "v") && !strings.Contains(v, "+") {
				p.Version = v
			}
			if err := p.write(); err != nil {
				return err
			}
			if tidy {
				if err := goModTidy(p.Name); err != nil {
					err = errors.Join(err, os.RemoveAll(p.Name)) // created by this command
					return fail(exitFailed, err, "go mod tidy has failed, and nothing of the project %s stays (see --tidy=false)", p.Name)
				}
			}
			_, err := fmt.Fprintf(env.stdout, "Wrote %[1]s. Next:\n\n  cd %[1]s\n  go test ./...\n  go run . start --config %[1]s.yaml\n"+
				"  go run . call counter '{add, 5}'     # in another terminal\n", p.Name)
			return err
		},
	}
	c.Flags().StringVar(&p.Module, "module", "", "path of the module; default: NAME")
	c.Flags().StringVar(&p.Replace, "replace", "", "folder with a copy of the module actornode to use in its place")
	c.Flags().BoolVar(&tidy, "tidy", true, "call go mod tidy")
	return c
}

const addHelp = `Writes a server, state machine (statem), event manager with a handler (event), or application
and its test into the project in this folder, which actornode new has written. A configuration can
name all but applications as children of a supervisor; applications start with the node. The files
must not exist.

NAME becomes one of Go, so it has small letters, digits and _ only.`

// kinds lists what add can add: their templates are KIND.go and KIND_test.go.
var kinds = []string{"server", "statem", "event", "application"}

func addCommand(env environment, status *exit) *cobra.Command {
	return &cobra.Command{
		Use: "add server|statem|event|application NAME", Short: "Add a server or another behaviour to a project", Long: addHelp,
		Example:   "  actornode add server cart\n  actornode add statem payment",
		ValidArgs: kinds,
		Args:      cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			*status = exitFailed
			kind, name := args[0], args[1]
			if !slices.Contains(kinds, kind) {
				return fail(exitUsage, nil, "cannot add %q; want one of %s", kind, strings.Join(kinds, ", "))
			}
			if err := checkIdentifier(name); err != nil {
				return fail(exitUsage, err, "")
			}
			if _, err := os.Stat("go.mod"); err != nil {
				return fail(exitFailed, err, "want the folder of a project that actornode new has written")
			}
			p := project{Server: name, Export: capital(name)}
			err := writeAll(".", p, map[string]string{name + ".go": kind + ".go", name + "_test.go": kind + "_test.go"})
			if err != nil {
				return err
			}
			if kind == "application" {
				_, err = fmt.Fprintf(env.stdout, "Wrote %[1]s.go and %[1]s_test.go. The application starts with the node.\n", name)
				return err
			}
			_, err = fmt.Fprintf(env.stdout, "Wrote %[1]s.go and %[1]s_test.go. A child of a supervisor in the configuration starts it:"+
				"\n\n  - {name: %[1]s, start: \"PROGRAM:%[1]s\"}\n", name)
			return err
		},
	}
}

var identifier = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// taken lists the names already used in the files of a project: imported packages, names in main.go, and local variables,
// which would shadow the new name.
var taken = []string{"actornode", "application", "applications", "args", "behaviours", "c", "changes", "d", "e", "err",
	"errors", "errs", "event", "export", "genserver", "h", "handler", "init", "machine", "main", "manager", "n",
	"name", "node", "ok", "push", "r", "rpc", "s", "seen", "server", "start", "statem", "supervisor", "t", "testing",
	"total", "want", "wire"}

// standard lists the first path elements of Go's standard library: a module with such a path would be taken for part of it.
var standard = []string{"archive", "arena", "bufio", "builtin", "bytes", "cmd", "cmp", "compress", "container",
	"context", "crypto", "database", "debug", "embed", "encoding", "errors", "expvar", "flag", "fmt", "go", "hash",
	"html", "image", "index", "internal", "io", "iter", "log", "maps", "math", "mime", "net", "os", "path", "plugin",
	"reflect", "regexp", "runtime", "simd", "slices", "sort", "strconv", "strings", "structs", "sync", "syscall",
	"testing", "text", "time", "unicode", "unique", "unsafe", "vendor", "weak"}

// checkModule checks the path of a module.
func checkModule(path string) error {
	if first, _, _ := strings.Cut(path, "/"); slices.Contains(standard, first) {
		return fmt.Errorf("the module cannot be called %s: that is a package of Go's standard library; want a path such as --module "+
			"example.com/%s", path, path)
	}
	return nil
}

// built reports whether Go builds a file on every system and processor: x_windows.go is for one.
func built(file string) bool {
	c := build.Default
	c.GOOS, c.GOARCH = "none", "none"
	c.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("package main\n")), nil }
	ok, err := c.MatchFile("", file)
	return err == nil && ok
}

// checkIdentifier checks the name of a program or behaviour, which becomes a Go identifier.
func checkIdentifier(name string) error {
	switch {
	case !identifier.MatchString(name) || strings.HasSuffix(name, "_test"):
		return fmt.Errorf("%q: want a name of small letters, digits and _ that begins with a letter, such as shop", name)
	case !built(name + ".go"):
		return fmt.Errorf("%q: Go builds a file %s.go for one system or processor only; want another name, such as shop", name, name)
	case token.IsKeyword(name) || doc.IsPredeclared(name):
		return fmt.Errorf("%q: a word of Go cannot be a name; want another, such as shop", name)
	case slices.Contains(taken, name):
		return fmt.Errorf("%q: a project has this name for something else; want another, such as shop", name)
	}
	return nil
}

// capital makes the first letter of an identifier upper case.
func capital(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// replacer fills in a template.
func (p project) replacer() *strings.Replacer {
	var require, image string
	if p.Version != "" {
		require = "\nrequire github.com/actornode/actornode " + p.Version + "\n"
	}
	if p.Replace != "" {
		require += "\nreplace github.com/actornode/actornode => " + p.Replace + "\n"
		image = "\n#\n# go.mod replaces the module actornode by " + p.Replace + ", a folder that docker build does not see:\n" +
			"# remove that line of go.mod first."
	}
	return strings.NewReplacer("{{.Name}}", p.Name, "{{.Title}}", p.Title, "{{.Module}}", p.Module, "{{.Server}}", p.Server,
		"{{.Export}}", p.Export, "{{.Require}}", require, "{{.Image}}", image)
}

// write writes the project into its directory, completely or not at all.
func (p project) write() error {
	if _, err := os.Lstat(p.Name); err == nil {
		return fail(exitFailed, nil, "%s exists; want the name of a new folder", p.Name)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir, err := os.MkdirTemp(".", "."+p.Name+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	err = writeAll(dir, p, map[string]string{
		"go.mod": "go.mod", "main.go": "main.go", p.Name + ".yaml": "config.yaml", ".gitignore": "gitignore",
		p.Server + ".go": "server.go", p.Server + "_test.go": "server_test.go",
		"Dockerfile": "Dockerfile", ".dockerignore": "dockerignore", "compose.yaml": "compose.yaml", p.Name + ".service": "unit",
	})
	if err == nil {
		err = os.Rename(dir, p.Name)
	}
	if err != nil {
		return fail(exitFailed, err, "the project %s cannot be written, and nothing of it stays", p.Name)
	}
	return nil
}

// writeAll creates files from templates. None may exist before; after an error none is left.
func writeAll(dir string, p project, files map[string]string) (err error) {
	var made []string
	fill := p.replacer()
	defer func() {
		if err != nil {
			for _, file := range made {
				os.Remove(file)
			}
		}
	}()
	for name, from := range files {
		path := filepath.Join(dir, name)
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		made = append(made, path)
		template, err := projectFiles.ReadFile("project/" + from + ".tmpl")
		if err == nil {
			_, err = fill.WriteString(f, string(template))
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// goModTidy runs go mod tidy in dir.
func goModTidy(dir string) error {
	tidy := exec.Command("go", "mod", "tidy")
	tidy.Dir = dir
	out, err := tidy.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
