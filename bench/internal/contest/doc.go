// Package contest runs the same benches on several systems in turn and compares them.
//
// Its nouns: a [Case] is a bench with its parameters and the targets for this node; an [Entrant] is a system that runs
// benches, this node once with each style and every peer under bench/peers; a [Board] holds the results. Ratios refer to
// the reference, Erlang.
//
//  1. Rounds are interleaved: each round runs each case once on each entrant, one OS process at a time, so that a change in
//     the speed of the machine affects all of them.
//  2. A ratio is the median over the rounds of the reference's ns_per_op divided
//     by the entrant's in that round. Everything else is a plain median.
//  3. An entrant that fails a case once has failed it and does not run it again; everything else continues, and [Main]
//     returns 1 at the end.
//  4. A bench that an entrant lacks shows as "-", a peer without its tools or modules as not installed; neither is an error.
//  5. When the context ends, all started OS processes and their children are killed, and nothing is written.
//
// # Peers
//
// A peer is a directory with an executable named run:
//
//	run build                   compile, if there is something to compile
//	run list                    the benches; the first word of a line is a name
//	run BENCH [key=value ...]   one bench, one JSON line on stdout
//
// with the exit statuses of the contract package: 0, 1 for a failed check, 2 for a usage error, 3 if its tools are not
// installed or its modules cannot be downloaded.
//
// The package starts no goroutines.
package contest
