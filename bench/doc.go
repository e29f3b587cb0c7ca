// Bench measures this node's actors and compares them with other systems, on the same machine in the same run.
//
//	go run ./bench list                     the benches with their parameters
//	go run ./bench BENCH [key=value ...]    one bench, one JSON line
//	go run ./bench compare [key=value ...]  this node against its peers
//	go run ./bench ablation [key=value ...] the gain of each optimization
//	go run ./bench soak [key=value ...]     ten minutes of traffic and faults
//
// # One bench
//
// A run prints one line, wrapped here:
//
//	{"system":"actornode","version":"dev","bench":"threadring",
//	 "params":{"n":503,"hops":5000000,"style":"actor"},
//	 "seconds":0.3,"ops":5000000,"ops_per_sec":16666667,"ns_per_op":60,
//	 "peak_rss_mib":12.1,"extra":{}}
//
// seconds is the time of the bench's own work on the monotonic clock; peak_rss_mib is the peak resident memory, 0 without
// /proc; extra has other measurements of the bench, such as bytes_per_actor. The exit status is 0, 1 if the bench's check
// of its result fails, and 2 for an unknown bench or a wrong parameter, each with a line on stderr. (go run itself turns
// every status except 0 into 1; a program built with go build does not.)
//
// style=actor (the default) runs event-driven actors, style=process blocking ones with a goroutine each, style=coroutine
// the same blocking code as coroutines on stages, for benches where that makes sense. Messages are newly allocated small
// structs, sent through the public API. With BENCH_CPUPROFILE=FILE in the environment a run writes a profile for go tool
// pprof; with BENCH_CPUPROFILE=FOLDER/ each process writes its own there.
//
// The benches named remote_* run two OS processes with one node each, which communicate over TCP on the loopback interface
// with the protocol given by proto. Messages are terms. All figures except far_peak_rss_mib are those of the near end; its
// profile is FILE, that of the far end FILE.far.
//
// Every run of a system in Go, including the peers channels, protoactor and tcp, uses GOGC=400 like the daemon, unless the
// environment sets another value; the figures include the memory that this takes. With Go's default of 100 messages cost 5%
// to 20% more, and twice as much if many are queued (mailbox).
//
// remote_cpu plays rate balls per second. Its seconds are the processor time of both ends, in all threads and in the kernel
// on their behalf, so its ratios compare processor time. The near end's time includes sleeping until the next ball is due.
// extra.far_ns_per_op is the time of the answering end, extra.roundtrip_s the average round trip by the clock, extra.rate
// the actual rate per second. Erlang sleeps for whole milliseconds, so it plays several balls in a row at rates above
// 1,000. spin selects whether the readers of this node spin.
//
// This node is compiled with a profile of these benches, like the daemon: default.pgo in both directories, written by make
// profile. It saves 3% to 10% per message; go run -pgo=off ./bench runs without it. The peer channels uses the same
// profile, and gains as much or more from its samples of the runtime; tcp gains nothing from it, and has none. The peer
// protoactor uses it too, but it has no samples of Proto.Actor.
//
// The benches named etf_* run one goroutine here and one process on one scheduler in Erlang. seconds is clock time on both
// sides, and includes the collection of the terms' garbage, which Go does on other processors if there are any. Therefore
// compare extra.cpu_ns_per_op, the processor time of all threads and of the kernel on their behalf, if other programs run
// on the machine. Both use the heap that suits them best: Go the daemon's, and Erlang a minimum heap of 800 KB for
// etf_decode, without which a list takes it half as long again. The terms are the same, their encodings differ slightly:
// OTP 25 encodes atoms one byte longer than OTP 26 and this node.
//
// # A comparison
//
// compare builds the peers under bench/peers, runs them and the styles of this node in turn, and prints medians, ratios to
// Erlang, and whether the targets are met. It writes the same to RESULTS.md and a chart to RESULTS.svg, both in this
// directory. Its parameters are
//
//	rounds=5              number of rounds
//	benches=a,b           only these
//	peers=erlang,channels,protoactor,tcp,netrpc,grpc  only these
//	styles=actor,process,coroutine,active  only these
//	timeout=120           seconds per run
//	write=0               print the table only
//	before=FILE           also this program, built from an earlier commit, each
//	                      style next to the current one; names the rows slower than
//	                      0.97 of it, and writes nothing
//	quick=1               a smoke run: one round of every bench with tiny
//	                      parameters; prints the table only
//
// It exits with 1 if a run failed or timed out, after all other runs. A bench that a system lacks shows as "-", a peer
// whose tools are missing, or whose modules cannot be downloaded, as not installed. The parameters and targets of the
// comparison are in a table in internal/contest.
//
// Two peers are baselines without actors: channels shows what goroutines and channels achieve within one OS process, tcp
// what bare connections achieve between two. The difference between them and this node is the cost of actors, in the same
// run.
//
// Two more peers, netrpc and grpc, are common RPC libraries of Go programs: net/rpc with gob, and gRPC-Go with protocol
// buffers. They have only remote_call, and no processes, links or message order. All callers of a run share one connection
// in each system. The peer grpc is a separate module, whose dependencies the go command fetches for its first build.
//
// The peer protoactor is another library of actors for Go, Proto.Actor, with the benches that it can run within one OS
// process. It is a separate module, too; its doc.go says which version it is, with which options, and what was left out.
//
// The other libraries of actors for Go are no peers. In November 2026, when protoactor was written, the newest versions of
// Ergo, GoAkt, Hollywood and go-actor could not be downloaded. Older ones of three could: Ergo 3.0.0 of 2024, go-actor 0.9.0
// of 2024 and Hollywood 1.0.5 of 2025. None of them was run, so nothing here says how fast they are.
//
// # An ablation
//
// ablation builds this program as it is, and once without each optimization ("trick"), with build tags and flags (the table
// is in internal/contest). It runs the benches that the trick may affect with both builds in turn, and prints for each how
// many times as long it takes without the trick: the median of the rounds' ratios and an interval, for the clock time and for
// the processor time of all OS processes of the run. The interval contains the true median with a probability of at least 95%
// (from six rounds on; with fewer, it is the range). Processor time is more reliable on a machine with other load. Its
// parameters are
//
//	rounds=5              number of rounds
//	tricks=a,b            only these: all, fiber, box, words, spin, lowat, inline, profile
//	benches=a,b           only these
//	timeout=120           seconds per run
//	quick=1               one round with tiny parameters
//
// # What bounds them
//
// According to profiles on a 2-core machine, one message in style actor costs the allocation of the message (8 to 15 ns),
// the three cache lines of the receiving actor, and the indirect calls of its turn; within a stage the only atomic
// operations are loads.
//
//	threadring, latency   the above; one worker runs, the other is never woken.
//	                      process: two goroutine switches by the Go scheduler;
//	                      coroutine: one switch from one to the other, and
//	                      the returns after it, each a mispredicted branch
//	ring                  the above on both workers; n=100000 and more: memory
//	                      latency, one cache miss for each line of actor, node
//	                      and table that a hop touches. process: also the
//	                      goroutine's stack and descriptor
//	mailbox               one worker does everything: the allocation, and the lookup of
//	                      the receiver. actor: also, a fifth, Go's scheduler wakes the
//	                      other core's thread each time a handler yields after
//	                      2048 sends (GOMAXPROCS=1: 30 ns); coroutine: not that, since
//	                      these switch by themselves; process: two cores and a
//	                      contended compare-and-swap
//	flow                  the allocation of the message
//	chameneos             the single meeting place: four messages per meeting, in turn
//	big                   like chameneos: random partners, so that a second worker
//	                      would cost more in cache misses than it gains
//	fib                   allocation and collection of actors, and five atomic operations
//	                      for the start and the end of each; coroutine: switches
//	nqueens               the search itself, on both cores
//	spawn                 memory: page faults and the collector. process: the page
//	                      faults for 2 KiB of stack and 0.4 KiB of descriptor per
//	                      goroutine, which Go cannot make smaller. If the host takes
//	                      back unused memory of a virtual machine, the first access to a
//	                      page costs most: a bench after a bigger one runs faster
//	mixed                 like ring
//	etf_encode            copying bytes and a type switch per term
//	etf_decode            tuple: two allocations, for the tuple and the binary, are
//	                      half of it, including the sweeping; the atoms an eighth.
//	                      list: clearing and writing 16 bytes per element, and
//	                      about 24 instructions; integers above 65,535
//	                      take 8 bytes more
//	remote_throughput     the far end, which takes twice the time of the sender: decoding
//	                      and handling (two fifths), copies in the kernel (a third),
//	                      allocation and collection of the messages (a quarter). The
//	                      sender allocates nothing: SendBytes copies its one buffer
//	remote_latency        the kernel: a write and a read at each end are three quarters
//	                      of it, while the readers stay awake on two cores or pass one
//	                      core to each other; if they do neither, the wake-up of a core.
//	                      On a virtual machine that takes longer than everything else, so
//	                      that one run of tcp or Erlang takes a fifth of another
//	remote_call           callers=1: like remote_latency. callers=64, proto=native: the processor
//	                      time of the callers' end, whose reader also runs the callers: encoding
//	                      and decoding both structs take a third, mailboxes and the tables of calls
//	                      and monitors a third, allocation and collection a sixth, and reading and
//	                      writing the rest: about sixteen calls share each system call.
//	                      process: also the switch to each caller's goroutine and its wake-up.
//	                      proto=erlang: also the copy of each struct into a binary of a term
//	remote_bulk           copies, and page faults of their destinations
//	selective             the switches between the two processes, as in latency; extra.ratio is the
//	                      time of an answer relative to that with an empty mailbox, alternating in
//	                      the same run; the target is at most 1.2
//	blocking              the sleep; the relevant figure is extra.answer_p99_s, at most 2 ms. An answer
//	                      waits for sleepers that need the stage for a moment, and for the kernel's
//	                      scheduler if more threads are awake than there are cores. While programs
//	                      with real-time priority occupy all cores, Linux stops the others for 950 ms of
//	                      each second (kernel.sched_rt_runtime_us): then extra.answer_max_s of plain
//	                      goroutines is as long
//	coop                  actor: a future turned into a message; process: a stack of
//	                      all calls, which grows by copying, and a future for each await; active:
//	                      allocations for each activation and future, a third, and main, a quarter.
//	                      suspended=all: also the memory of the stacks, 4 KiB each at this
//	                      depth, and the cache misses of resuming each of them. Erlang then has
//	                      a process for each call
//	match                 the mailbox; extra.ratio_to_switch is the median of 20 rounds relative to
//	                      a type switch, alternating; the target is at most 1.3. waiting: the number
//	                      of queued messages that match no case; each receive skips them
//	copy                  allocation; extra.tree_ratio is the median of 100 rounds of copies of a tree by the
//	                      node relative to copies by hand, alternating, extra.tree_sent_ratio that of messages
//	                      with such copies, from Send to the receive; the target is at most 2. flat is a
//	                      pointer to a struct without references, slices a struct with a slice and a map.
//	                      Half the time of a tree is the allocation of its nodes, a tenth the table of
//	                      copied nodes, which shared nodes and cycles require
//
//	await, until, join    allocation of a request, its future and its activation, and the turns of
//	                      both objects; until: also a switch of stacks for each call that has
//	                      waited; users=20000: with 40,000 objects, and 20,000 calls waiting at a
//	                      time. await prints the time of a Call between actors on the same stage,
//	                      until that of an item of a run with a tenth of them
//
// # A soak
//
// soak runs some nodes in one OS process that send messages to each other at a steady rate, injects faults, and reports
// what they leave behind. Its parameters are
//
//	seconds=600           duration
//	rate=1000000          messages per minute, of all senders together
//	senders=4
//	least=90              minimum percentage of the rate that must be delivered
//	grow=16               MiB that the resident memory may grow by after the warm-up
//	heap=8                MiB that the heap in use may grow by after it
//	proto=native|erlang|mixed  mixed: the third node speaks only Erlang's, the others both
//	faults=1              0: no faults, and only two nodes
//	faultrate=600         faults per minute
//	count=0               number of faults after the warm-up, instead of seconds
//	kinds=all             only these, separated by commas
//	tick=30               seconds of TickTime; Grace is half of it
//	seed=0                0: a random one, which is printed
//	profile=FILE          heap profile at the end; FILE.start is the one after the warm-up
//
// Three nodes run all the time. The connection of the first two has Grace, if the protocol supports it: none of its
// messages may be lost. The connections of the third have none. Every connection goes through a relay within the program,
// which can cut it. The faults are determined by the seed and the number of each; their timing depends on the machine. The
// kinds are
//
//	name      a process registers a name, unregisters it or dies; another registers it
//	alias     aliases are used, used up, deactivated, and end with their process
//	group     processes on all nodes join a group (pg), leave it and die
//	crash     a child of a supervisor panics, fails or exits several times, and is deleted
//	giveup    a supervisor exceeds its restart intensity
//	link      two processes on different nodes are linked, and one fails
//	monitor   a process is monitored by PID and by name, and ends: one Down each
//	spawn     processes and functions are started by name on another node
//	timer     timers fire, are cancelled, or outlive their process
//	call      calls are answered, late or never; futures are not awaited
//	node      a node starts, with a new or a former name, is used, and stops, or is cut off
//	          before; in runs of at least 4 times tick some vanish silently
//	cut       connections end, with FIN or RST, during a frame or not; for up to a second
//	          no new one may succeed
//	slow      for up to a second (5 s in such longer runs) a node reads nothing, or slowly
//
// Each fault checks its outcome: that a Down arrives exactly once; that a reply matches its request; that processes linked
// to a failed process have ended; and so on. The traffic is checked all the time: its numbers must increase without a gap,
// except for the first message of a sender after a new connection without Grace.
//
// After the warm-up (a tenth of the time, at most 30 s) and at the end the faults and the traffic pause until the state is
// as before the first fault, and a table compares both moments. If a row has not returned to its value within twice the
// TickTime plus a minute, the soak fails and names it. Memory may grow by grow and heap. It is measured after the
// connections between the permanent nodes have been replaced, since their caches grow with their peak load, up to a bound.
// Goroutines that a node keeps for reuse (observe.Stats.Kept) are not counted. The dead letters in brackets are caused by
// the faults; there may be none of other causes.
//
// # A new bench
//
// A bench is a file with one [contract.Bench] and its body. A bench with a far end is made with betweenNodes:
//
//	var latency = contract.Bench{
//		Name:   "latency",
//		About:  "two actors, one ball",
//		Params: []contract.Param{contract.Int("roundtrips", 1_000_000), contract.Style()},
//		Ops:    func(p contract.Params) int { return p.Int("roundtrips") },
//		Run:    runLatency,
//	}
//
//	func runLatency(p contract.Params, m *contract.Meter) error
//
// The body makes its processes on a node that onNode starts and stops for it, calls m.Start and m.Stop around the timed
// work, reports other figures with m.Extra, and returns an error if its result is wrong. It reads its parameters once,
// before the work. Add the bench to the table in main.go and, with tiny parameters, to contest.Smoke; a test fails if
// either is missing.
//
// # A new peer
//
// A peer is a directory under peers with an executable named run, which accepts build, list, or a bench with parameters as
// above, and exits with 3 if its tools are not installed or its modules cannot be downloaded. It needs no registration. A
// peer in Go uses the contract package for everything except the bodies, and peers/go.sh as its run script, like
// peers/channels, or peers/tcp with far ends.
package main
