package actornode

import (
	"context"

	"github.com/actornode/actornode/internal/daemon/command"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/supervisor/application"
)

// Program is a daemon with actors of its own: what [Main] runs. It has all that actornode has: the
// configuration file, flags and variables (with the same names), trees and applications, logging, cookie,
// discovery, TLS, ports, health, metrics, drain, signals, the operator service and the whole command line.
// The zero value is actornode itself.
type Program struct {
	// Name is what the help calls the program. Default: actornode.
	Name string
	// About is what it is, in a line of the help.
	About string
	// Version is what the commands version and --version say of it. Default: that of the main module.
	Version string
	// Export offers the program's behaviours and functions to a node, by package rpc: trees and
	// applications of the configuration can name these, and peers if they are allowed to. It is called each time
	// that a configuration is read, for a node that only serves to check it, so it must do nothing else.
	Export func(n *node.Node) error
	// Sections are the program's own sections of the configuration file, by name: pointers to structs with
	// the default values, which are read into before anything starts. Fields are called by their tag yaml
	// (`yaml:"rate,required"`), else by their name in small letters; their types are string, bool,
	// numbers, [time.Duration], structs, slices, and maps by string. A section with a method
	// Check() error says by it what is wrong with its values together.
	Sections map[string]any
	// Applications run beside those of the file, which may depend on them by name.
	Applications []application.Spec
	// Started is called when the node listens, before applications start; an error ends the start. The
	// context ends when the daemon is asked to stop.
	Started func(ctx context.Context, n *node.Node) error
}

// Main runs the command line of the process (os.Args) and ends the process: NAME start, NAME status, NAME check
// FILE and so on. See docs/guides/own-daemon.md.
func Main(p Program) { command.Main(command.Program(p)) }
