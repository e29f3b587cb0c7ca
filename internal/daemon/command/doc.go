// Package command is the command line of actornode, and of every program that calls actornode.Main: the daemon (actornode
// start), and the commands that inspect and control nodes.
//
// # Nouns
//
//   - A [Program] describes a program with its own main: its name, its behaviours, its sections of the configuration.
//   - An environment holds everything that a command uses of its process.
//   - A daemon runs a node as configured.
//   - A failure is an error with an exit status: see exit.go.
//
// Package config defines the settings of a daemon, package health its HTTP server.
//
// A command that connects to a node is itself a hidden node with a unique name, which neither listens nor announces itself.
// call, send, spawn, kill, rpc and ping work with any node, including Erlang's; the others use the operator's service of
// package admin. vet checks Go code and uses no node: go vet runs this program as its tool.
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
// Tables and trees are for people: only terminals get colours, and NO_COLOR turns them off. With --json the output is one
// value, or one value per line. Errors go to stderr, and the exit status tells their kind: see exit.go.
package command
