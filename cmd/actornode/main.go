// Actornode is a node of an Erlang cluster, written in Go: OTP nodes connect to it
// as to one of their own. The same program looks into nodes and steers them.
//
//	actornode cluster
//	ACTORNODE_COOKIE=secret actornode start --name go@127.0.0.1 --demo
//	actornode check deploy/samples/actornode.yaml --print
//	actornode probe --http 127.0.0.1:9100
//
//	export ACTORNODE_COOKIE=secret
//	actornode status
//	actornode ps --sort mailbox
//	actornode call counter '{add, 5}'
//	actornode top
//
// See actornode help start. Package config has the settings of a daemon, package
// health what it serves by HTTP.
//
// A command that connects to a node is a node itself while it runs: hidden, with a unique
// name, listening nowhere and announced nowhere. call, send, spawn, kill, rpc
// and ping need nothing but a node, so they work with Erlang's, too; the others use the
// operator's service of package admin. vet looks at Go code and at no node; go vet calls this
// program for it, as its tool.
//
// # Goroutines
//
//	name                      started by  ends with                   owns
//	signals                   main        the program                 the first signal's context
//	joining                   the daemon  its first connection, stop  the attempts to connect one node
//	memory                    the daemon  stop                        the node's shedding of load
//	health                    the daemon  after the drain             the HTTP listener
//	standard input            start       the program                 its end stops the daemon: --until-eof
//	a daemon of a cluster     cluster     the daemon's last life      the lives of one daemon
//	its logs, its end         cluster     the daemon                  what it says, its exit status
//	a node's                  a command   the command                 see package node
//	waiting for a node's end  stop        the NodeDown, the timeout   the command's handle
//	screen                    top         a key, or a signal          bubbletea's: the terminal
//
// # Output
//
// Tables and trees are for people: colours are for terminals only, and NO_COLOR
// turns them off. With --json there is one value, or one a line. What goes wrong
// goes to stderr, and the exit status says what it is: see exit.go.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/actornode/actornode/internal/vet"
)

func main() {
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
	code := run(ctx, os.Args[1:], environment{os.Stdout, os.Stderr, os.LookupEnv, os.UserHomeDir})
	cancel()
	os.Exit(code)
}

const rootHelp = `A node of an Erlang cluster, in Go, and the commands that inspect and control such nodes.

Each command that talks to a node takes --node NAME@HOST, or NAME for one on this
host; ACTORNODE_NODE stands for it. The default is the only node that the port mapper
(EPMD) of this host knows; if it knows several, the only actornode; if it knows none,
go@127.0.0.1. The cookie is that of --cookie, ACTORNODE_COOKIE or ~/.erlang.cookie.

` + exitHelp

// run runs one command line and returns the exit status.
func run(ctx context.Context, args []string, env environment) int {
	status := exitUsage // until a command has begun
	root := &cobra.Command{
		Use: "actornode", Short: "A node of an Erlang cluster, in Go", Long: rootHelp,
		SilenceUsage: true,
	}
	root.AddCommand(startCommand(env, &status), clusterCommand(env, &status), checkCommand(env, &status), probeCommand(env, &status))
	addClients(root, env, &status)
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
