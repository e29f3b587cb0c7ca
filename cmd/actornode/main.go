// Actornode is a node of an Erlang cluster, written in Go: OTP nodes connect to it
// as to one of their own.
//
//	actornode start --name go@127.0.0.1 --cookie secret --demo
//	actornode check deploy/samples/actornode.yaml --print
//	actornode probe --http 127.0.0.1:9100
//
// See actornode help start. Package config has what a daemon runs by, package
// health what it shows by HTTP.
//
// # Goroutines
//
//	name      started by  ends with                   owns
//	signals   main        the program                 the first signal's context
//	joining   the daemon  its first connection, stop  the attempts to connect one node
//	health    the daemon  after the drain             the HTTP listener
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() { // until the program ends
		<-signals
		cancel()
		<-signals
		fmt.Fprintln(os.Stderr, "a second signal: ending at once")
		os.Exit(exitInterrupted)
	}()
	code := run(ctx, os.Args[1:], environment{os.Stdout, os.Stderr, os.LookupEnv, os.UserHomeDir})
	cancel()
	os.Exit(code)
}

// run runs one command line and returns the exit status.
func run(ctx context.Context, args []string, env environment) int {
	status := exitUsage // until a command has begun
	root := &cobra.Command{
		Use: "actornode", Short: "A node of an Erlang cluster, in Go",
		SilenceUsage: true, CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.AddCommand(startCommand(env, &status), checkCommand(env, &status), probeCommand(env, &status))
	root.SetArgs(args)
	root.SetOut(env.stdout)
	root.SetErr(env.stderr)
	if err := root.ExecuteContext(ctx); err != nil && status == exitUsage {
		return exitUsage
	} else if err != nil {
		return codeOf(err)
	}
	return exitOK
}
