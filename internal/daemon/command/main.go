package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/internal/printable"
	"github.com/actornode/actornode/internal/vet"
)

// Main runs the command line of the process and ends the process.
func Main(p Program) {
	if vet.IsTool(os.Args[1:]) {
		vet.Tool()
	}
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() { // until the program ends
		<-signals
		cancel()
		<-signals
		fmt.Fprintln(os.Stderr, "a second signal arrived: exiting at once")
		os.Exit(exitInterrupted)
	}()
	code := run(ctx, os.Args[1:], environment{os.Stdout, os.Stderr, nil, os.LookupEnv, os.UserHomeDir, p, os.Environ})
	cancel()
	os.Exit(code)
}

const rootHelp = `A node of an Erlang cluster, in Go, and the commands that inspect and control such nodes.

Each command that talks to a node takes --node NAME@HOST, or NAME for one on this
host; ACTORNODE_NODE stands for it. In a container the default is the node that the
daemon's variables name. Else it is the only node that the port mapper (EPMD) of this
host knows; if it knows several, the only actornode; if it knows none, go@127.0.0.1. The
cookie is that of --cookie, ACTORNODE_COOKIE, the file that ACTORNODE_COOKIE_FILE names,
or ~/.erlang.cookie.

` + exitHelp

// run runs one command line and returns the exit status.
func run(ctx context.Context, args []string, env environment) int {
	status := exitUsage // until a command starts
	p := env.program
	if err := config.CheckSections(p.Sections); err != nil {
		fmt.Fprintln(env.stderr, "Error: the program's own settings: "+err.Error())
		return exitFailed
	}
	env, flush := env.onTerminal()
	defer flush()
	root := commands(env, &status)
	root.SetArgs(negatives(root, args))
	root.SetOut(env.stdout)
	root.SetErr(env.stderr)
	if err := root.ExecuteContext(ctx); err != nil && status == exitUsage {
		return exitUsage
	} else if err != nil {
		return codeOf(err)
	}
	return exitOK
}

// onTerminal returns env with outputs that remove control sequences except line ends and colours. flush writes buffered
// output.
func (e environment) onTerminal() (safe environment, flush func()) {
	out, errs := &printable.Writer{To: e.stdout}, &printable.Writer{To: e.stderr}
	e.terminal, e.stdout, e.stderr = e.stdout, out, errs
	return e, func() { _ = errors.Join(out.Flush(), errs.Flush()) } // the write has already failed
}

// Commands returns the command line of a program for generating manual pages and completions. It must not be run.
func Commands(p Program) *cobra.Command {
	none := func(string) (string, bool) { return "", false }
	return commands(environment{io.Discard, io.Discard, nil, none, os.UserHomeDir, p, nil}, new(exit))
}

// commands makes the command line. A command that starts sets status.
func commands(env environment, status *exit) *cobra.Command {
	p := env.program
	root := &cobra.Command{
		Use: p.name(), Short: cmp.Or(p.About, "A node of an Erlang cluster, in Go"), Long: rootHelp,
		SilenceUsage: true, Version: versionOf(p).Version, // in cobra's format: see project
	}
	if p.About != "" {
		root.Long = p.About + ".\n\n" + rootHelp
	}
	root.AddCommand(startCommand(env, status), clusterCommand(env, status), checkCommand(env, status), probeCommand(env, status))
	addClients(root, env, status)
	root.AddCommand(versionCommand(env, status))
	if p.name() != ownName {
		var words []string
		for _, c := range root.Commands() {
			words = append(words, c.Name())
		}
		p.rename(root, words)
	}
	return root
}
