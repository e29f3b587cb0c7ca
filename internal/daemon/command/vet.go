package command

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/actornode/actornode/internal/vet"
)

const vetHelp = `Looks for misuses of package node in Go code that compiles. It runs go vet with this program
as its tool, in the directory where it is called, and passes on all arguments: packages, and
flags of go vet. Without packages it looks at the one in the current directory.

It needs the go command on the PATH. In a pipeline without this program, go vet does the same:
go vet -vettool=$(which actornode) ./...

The comment //actornode:ignore NAME reason, on the line or above it, silences one report.

actornode vet help NAME says what an analyzer finds, why, and how to mend it. Flags with the
names of analyzers choose some of them, or leave some out: -NAME, -NAME=false. The analyzers:

`

// errNoGo means that code cannot be checked without Go.
var errNoGo = errors.New("there is no go command on the PATH: actornode vet needs an installed Go (https://go.dev/dl), " +
	"with which it loads the packages")

func vetCommand(env environment, status *exit) *cobra.Command {
	help := vetHelp
	for _, a := range vet.Analyzers() {
		help += fmt.Sprintf("  %-15s %s\n", a.Name, summary(a.Doc))
	}
	c := &cobra.Command{
		Use: "vet [FLAGS] [PACKAGES]", Short: "Find misuses of package node in Go code", Long: strings.TrimSpace(help),
		Example: "  actornode vet ./...\n" +
			"  actornode vet -contextescape -lostfuture ./...\n" +
			"  actornode vet help contextescape",
		DisableFlagParsing: true, DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			if slices.ContainsFunc(args, func(arg string) bool { return arg == "-h" || arg == "--help" || arg == "-help" }) {
				return c.Help()
			}
			if len(args) > 0 && args[0] == "help" {
				return vetExplain(env, args[1:])
			}
			*status = exitFailed
			goTool, err := exec.LookPath("go")
			if err != nil {
				return fail(exitFailed, nil, "%v", errNoGo)
			}
			self, err := os.Executable()
			if err != nil {
				return fail(exitFailed, err, "cannot find this program's own file, which go vet has to run")
			}
			run := exec.CommandContext(c.Context(), goTool, append([]string{"vet", "-vettool=" + self}, args...)...)
			run.Stdout, run.Stderr = env.stdout, env.stderr
			err = run.Run()
			if _, ok := errors.AsType[*exec.ExitError](err); ok {
				c.SilenceErrors = true // go vet has printed the findings
			}
			return err
		},
	}
	return c
}

// summary is the first line of an analyzer's documentation.
func summary(doc string) string {
	first, _, _ := strings.Cut(doc, "\n")
	return first
}

// vetExplain prints the documentation of the named analyzers, or of all.
func vetExplain(env environment, names []string) error {
	all := vet.Analyzers()
	for _, name := range names {
		if !slices.ContainsFunc(all, func(a *vet.Analyzer) bool { return a.Name == name }) {
			return fail(exitUsage, nil, "there is no analyzer %q: actornode vet --help lists them", name)
		}
	}
	for _, a := range all {
		if len(names) == 0 || slices.Contains(names, a.Name) {
			fmt.Fprintf(env.stdout, "%s: %s\n\n", a.Name, a.Doc)
		}
	}
	return nil
}
