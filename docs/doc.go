// Package docs holds the documents for users, and the tests that keep them true.
// [README.md] lists the documents.
//
// # What is tested
//
// Of README.md and CONTRIBUTING.md at the root, and of all documents here:
//
//	```go          is compiled against the packages of this module, and formatted
//	```text        directly behind a program: the program is run, and must print this
//	```console     lines that begin with "$ " are typed into a shell; what follows each
//	               must be what the shell prints (package command has that test)
//	```sh          is not run, but actornode's commands and flags in it must exist
//	```yaml        a configuration of the daemon, which actornode check must accept
//	`node.Send`    a name of one of this module's packages, which must exist
//	`limits.queue` a field of the configuration, which must exist
//	`actornode_x`  a metric, which must exist
//	`--name`       a flag of actornode, which must exist
//	[x](y.md#z)    a file of this repository, and a heading in it, which must exist
//
// A block that none of these fits (a protocol in pseudo-code, a drawing) has another
// language or none.
//
// # Go
//
// A block that begins with a package clause is a file. Package main is a program of its
// own. Other files of one package in one document are compiled together; if there is a
// _test among them, they are tested, and the tests must pass.
//
// Any other block is a fragment: declarations, or statements. Fragments need no imports.
// All fragments of a document are one package, so later ones use what earlier ones
// declare. Statements see ctx, a context.Context, and n, a *node.Node, and may return an
// error.
//
// Comments of HTML directly before a block, which readers do not see, are notes:
//
//	<!-- with: c *node.Context, pid node.PID -->  parameters of the statements, beside ctx and n
//	<!-- new package -->                          this fragment and those behind it are another package
//	<!-- stays -->                                the program runs on while the next one of the document runs
//	<!-- daemon: --name go@127.0.0.1 --demo -->   a daemon that runs while this session and those behind it
//	                                              in the document are played; several notes: several daemons
//	<!-- needs: python3 -->                       programs without which this session is not played
//	<!-- waits for: counter -->                   before each command this process runs, and has nothing
//	                                              to do; with --demo: counter
//	<!-- not ours -->                             a block of YAML or a shell that is for another program
//
// Before programs and sessions are run nothing of this machine is changed: they have a
// home directory, a port mapper and a cookie of their own. What differs from run to
// run (PIDs, ports, times) is compared by its pattern.
//
// [README.md]: https://github.com/actornode/actornode/blob/main/docs/README.md
package docs
