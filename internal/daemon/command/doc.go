// Package command is the command line of actornode, and of every program that calls
// actornode.Main: the daemon that start runs, and the commands that inspect and control nodes.
//
// # Nouns
//
//   - A [Program] is what a main adds: its name, its behaviours, its sections of the configuration.
//   - An environment is all that a command uses of its process.
//   - A daemon is a node that runs what a configuration says.
//   - A failure is an error with the exit status that it causes: see exit.go.
//
// Package config has the settings of a daemon, package health what it serves by HTTP.
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
//	hangups                   the daemon  its end, after the drain    the log file, the settings that change
//	joining                   the daemon  its first connection, stop  the attempts to connect one node
//	memory                    the daemon  stop                        the node's shedding of load
//	watchdog                  the daemon  its end, after the drain    the messages that feed systemd's watchdog
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
package command
