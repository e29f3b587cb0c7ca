package actornode

import (
	"context"

	"github.com/actornode/actornode/internal/daemon/command"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/supervisor/application"
)

// Program describes a daemon with its own actors, run by [Main]. It has all features of actornode: the configuration file,
// flags and variables (with the same names), trees and applications, logging, cookie, discovery, TLS, ports, health,
// metrics, drain, signals, the operator's service and the whole command line. The zero value is actornode itself.
type Program struct {
	// Name is the name of the program in the help. Default: actornode.
	Name string
	// About describes the program in one line of the help.
	About string
	// Version is shown by the command version and the flag --version. Default: the version of the main module.
	Version string
	// Export exports the program's behaviours and functions from a node, with package rpc: trees and applications of the
	// configuration can name them, and so can peers with the right to. It is also called each time a configuration is read,
	// for a temporary node that checks it, so it must do nothing else.
	Export func(n *node.Node) error
	// Sections holds the program's own sections of the configuration file by name: pointers to structs with the default
	// values, which are filled before anything starts. A field has the name in its yaml tag (`yaml:"rate,required"`), or
	// else its Go name in lower case. Its type is string, bool, a number, [time.Duration], a struct, a slice, or a map with
	// string keys. If a section has a method Check() error, it is called to check the values together.
	Sections map[string]any
	// Applications run in addition to those of the file, which may depend on them by name.
	Applications []application.Spec
	// Started is called when the node listens, before the applications start. An error aborts the start. The context ends
	// when the daemon is asked to stop.
	Started func(ctx context.Context, n *node.Node) error
}

// Main runs the command line of the process (os.Args) and ends the process: NAME start, NAME status, NAME check
// FILE and so on. See docs/guides/own-daemon.md.
func Main(p Program) { command.Main(command.Program(p)) }
