// Package contest runs the same benches on several systems in turn and says
// how they compare.
//
// Its nouns: a [Case] is a bench with its parameters and what is asked of this
// node in it; an [Entrant] is a system that runs benches, this node once with
// each style and every peer under bench/peers; a [Board] is what came out. The
// reference, which ratios are against, is Erlang.
//
//  1. Rounds are interleaved: each round runs each case once on each entrant,
//     one OS process at a time, so that a machine that grows slower in between
//     slows all of them.
//  2. A ratio is the median over the rounds of the reference's ns_per_op divided
//     by the entrant's in that round. Everything else is a plain median.
//  3. An entrant that failed a case once has failed it, and is not run on it
//     again; all else goes on, and [Main] returns 1 at the end.
//  4. What an entrant does not have shows as "-", a peer whose tools are not
//     installed as that, and neither is an error.
//  5. When the context ends, every OS process that was started is killed with
//     its children, and nothing is written.
//
// # Peers
//
// A peer is a folder with an executable named run:
//
//	run build                   compile, if there is something to compile
//	run list                    the benches; the first word of a line is a name
//	run BENCH [key=value ...]   one bench, one JSON line on stdout
//
// with the exit statuses of the contract package: 0, 1 for a check that failed,
// 2 for a command line, 3 where its tools are not installed.
//
// The package starts no goroutine of its own.
package contest
