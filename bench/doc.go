// Bench measures this node's actors and compares them with other systems on the
// same machine in the same run.
//
//	go run ./bench list                     the benches with their parameters
//	go run ./bench BENCH [key=value ...]    one bench, one JSON line
//	go run ./bench compare [key=value ...]  this node against its peers
//	go run ./bench ablation [key=value ...] what each trick buys
//	go run ./bench soak [key=value ...]     ten minutes of traffic and faults: is all as it was?
//
// # One bench
//
// A run prints one line, here on several:
//
//	{"system":"actornode","version":"dev","bench":"threadring",
//	 "params":{"n":503,"hops":5000000,"style":"actor"},
//	 "seconds":0.3,"ops":5000000,"ops_per_sec":16666667,"ns_per_op":60,
//	 "peak_rss_mib":12.1,"extra":{}}
//
// seconds is the bench's own work on the monotonic clock; peak_rss_mib is the
// most memory that was ever resident, 0 where there is no /proc; extra has what
// else the bench measures, such as bytes_per_actor. The exit status is 0, 1
// where the bench's own check of its result fails, and 2 for an unknown bench or
// a wrong parameter, each with a line on stderr. (go run itself turns every
// status but 0 into 1; a program made with go build does not.)
//
// style=actor (the default) runs event-driven actors, style=process blocking
// ones on goroutines of their own, style=coroutine the same blocking code as
// coroutines on stages, where these make sense. Messages are fresh small
// structs, sent through the public API. With BENCH_CPUPROFILE=FILE in the
// environment a run leaves a profile for go tool pprof; with BENCH_CPUPROFILE=FOLDER/
// each process leaves its own there.
//
// The benches named remote_* are two OS processes with a node each, which talk
// over TCP on the loopback interface by the protocol that proto names. Messages
// are terms. All figures but far_peak_rss_mib are those of the near end; its
// profile is FILE, that of the far end FILE.far.
//
// Every run of a system in Go, the peers channels and tcp included, has GOGC=400 where the
// environment says nothing else, as the daemon has: the memory that this takes is in
// the figures, too. With Go's default of 100 messages cost 5% to 20% more, and twice
// as much where many wait (mailbox).
//
// remote_cpu plays so many balls a second (rate), and its seconds are the processor time
// that both ends have spent, of all threads and of the system for them; a ratio is one of
// processor time then. The near end's has in it what it costs to sleep until the next ball
// is due. extra.far_ns_per_op is that of the end which answers, extra.roundtrip_s how long
// a ball is away by the clock, on average, extra.rate how many a second there were. Erlang
// sleeps for whole milliseconds, and so plays several in a row at rates above 1,000. spin
// says whether the readers of this node spin.
//
// This node is compiled with a profile of these benches, as the daemon is: default.pgo in
// both folders, which make profile makes. It takes 3% to 10% off a message; go run -pgo=off
// ./bench is without. The peer channels has the same profile, and gains as much or more by
// what is the runtime's in it; tcp gains nothing by it, and has none.
//
// The benches named etf_* are one goroutine here and one process on one scheduler in
// Erlang. seconds is the clock on both sides, and the garbage that the terms become is
// collected in that time, by Go on other processors if there are some. Hence
// extra.cpu_ns_per_op, the processor time of all threads and of the system for them:
// compare that where more runs on the machine than the bench. Both have the heap that
// suits them best: Go the daemon's, and Erlang a least heap of 800 KB for etf_decode,
// without which a list takes it half as long again. The terms are the
// same, their bytes are not quite: OTP 25 writes atoms a byte longer than OTP 26 and we.
//
// # A comparison
//
// compare builds the peers under bench/peers, runs them and the styles of this
// node in turn, and prints medians, ratios against Erlang, and whether the
// targets are met; it writes the same to RESULTS.md and a picture of it to
// RESULTS.svg, both in this folder. It takes
//
//	rounds=5              how often everything is run
//	benches=a,b           only these
//	peers=erlang,channels,tcp,netrpc,grpc  only these
//	styles=actor,process,coroutine,active  only these
//	timeout=120           seconds a run may take
//	write=0               print the table only
//	before=FILE           also this program as it was built from an earlier commit, each
//	                      style beside today's; names the rows that are slower than 0.97
//	                      of it, and writes nothing
//	quick=1               a smoke run: one round of every bench with tiny
//	                      parameters; prints the table only
//
// and exits with 1 if a run failed or was not done in time, after everything
// else is done. A bench that a system does not have shows as "-", a peer whose
// tools are not installed as that. Parameters and targets of the comparison are
// the table in internal/contest.
//
// Two peers are floors, no actors: channels is what goroutines and channels reach within
// an OS process, tcp what bare connections reach between two. What is between them and
// this node is what actors cost, in the same run.
//
// Two more peers, netrpc and grpc, are what Go programs call each other by: net/rpc with gob,
// and gRPC-Go with protocol buffers. They have remote_call only, and no processes, links or
// order. All callers of a run share one connection in each system. The peer grpc is a module
// of its own, whose dependencies the Go command fetches when it is built first.
//
// # An ablation
//
// ablation builds this program as it is, and once without each trick, by build tags and
// flags (the table is in internal/contest). It runs the benches that the trick could matter
// for with both builds in turn, and prints for each how many times as long it takes without
// the trick: the median of the rounds' ratios, the least and the greatest, of the time and of
// the processor time of all OS processes of the run. On a machine that is not alone the
// second says more. It takes
//
//	rounds=5              how often everything is run
//	tricks=a,b            only these: all, lease, fiber, box, spin, lowat, inline, profile
//	benches=a,b           only these
//	timeout=120           seconds a run may take
//	quick=1               one round with tiny parameters
//
// # What bounds them
//
// As profiles on a 2-core machine show it, of one message in style actor: the
// allocation of the message (8 to 15 ns), the three cache lines of the actor
// that is sent to, and the indirect calls of its turn; nothing atomic but loads
// within a stage.
//
//	threadring, latency   the above; one worker runs, the other is never woken.
//	                      process: two goroutine switches through the Go
//	                      scheduler; coroutine: one switch from one to the other,
//	                      and the returns after it, each a mispredicted branch
//	ring                  the above on both workers; n=100000 and more: memory
//	                      latency, one cache miss for each line of actor, node
//	                      and table that a hop touches. process: the goroutine's
//	                      stack and descriptor besides
//	mailbox               one worker does it all: the allocation, and a look for the
//	                      receiver. actor: besides, a fifth, that Go's scheduler wakes
//	                      the other core's thread each time that a handler makes way
//	                      after 2048 sends (GOMAXPROCS=1: 30 ns); coroutine: not that,
//	                      as these change places by themselves; process: two cores and
//	                      a contended compare-and-swap
//	flow                  the message's allocation
//	chameneos             the one meeting place: four messages a meeting, in turn
//	big                   as chameneos: random partners, so that a second worker
//	                      would cost more in cache misses than it brings
//	fib                   allocation and collection of actors, and five atomic operations
//	                      for the birth and the death of each; coroutine: switches
//	nqueens               the search itself, on both cores
//	spawn                 memory: page faults and the collector. process: the page
//	                      faults of 2 KiB of stack and 0.4 KiB of descriptor a
//	                      goroutine, which Go cannot make smaller. Where a host takes
//	                      back what a virtual machine does not use, a page costs most
//	                      the first time: a bench that runs after a bigger one runs faster
//	mixed                 as ring
//	etf_encode            the copying of bytes and a type switch a term
//	etf_decode            tuple: two allocations, for the tuple and the binary, are
//	                      half of it, sweeping behind them included; the atoms an
//	                      eighth. list: the clearing and the writing of 16 bytes an
//	                      element, and some 24 instructions; integers of more than
//	                      65,535 take 8 bytes more
//	remote_throughput     the far end, which takes twice the time of the sender: decoding
//	                      and handling (two fifths), the kernel's copies (a third), the
//	                      allocation of what comes and its collection (a quarter). The
//	                      sender allocates nothing: SendBytes copies its one buffer
//	remote_latency        the kernel: a write and a read at each end, while the readers
//	                      stay awake on two cores or hand one core to and fro, three
//	                      quarters of it; where they do neither, the wake-up of a core,
//	                      which on a virtual machine takes longer than all else, so that
//	                      a run of tcp or Erlang takes a fifth of another
//	remote_call           callers=1: as remote_latency. callers=64, proto=native: the processor time
//	                      of the callers' end, whose reader also runs the callers: encoding and
//	                      decoding both structs take a third, mailboxes and the tables of calls and
//	                      monitors a third, allocation and its collection a sixth, and reading and
//	                      writing the rest: some sixteen calls share each call of the system.
//	                      process: the switch to each caller's goroutine and its wake-up besides.
//	                      proto=erlang: besides, the copy of each struct into a binary of a term
//	remote_bulk           copies, and page faults of what they go to
//	selective             the switches between the two processes, as in latency; extra.ratio is how
//	                      many times as long an answer takes as with an empty mailbox, in turns in
//	                      the same run; asked is 1.2 at most
//	blocking              the sleep; what counts is extra.answer_p99_s, 2 ms at most. An answer waits for
//	                      who has slept and wants the stage for a moment, and where more threads are
//	                      awake than there are cores, for the system's scheduler. While programs with
//	                      real-time priority hold all cores, Linux stops the others for 950 ms of each
//	                      second (kernel.sched_rt_runtime_us): extra.answer_max_s of plain goroutines is
//	                      as long then
//	coop                  actor: a future turned into a message; process: a stack of
//	                      all calls, which grows by copies, and a future for each await; active: what is allocated for
//	                      each activation and future, a third, and main, a quarter.
//	                      suspended=all: besides, the memory of the stacks, 4 KiB each at this
//	                      depth, and the cache misses of coming back to each of them. Erlang has a
//	                      process for each call then
//	match                 the mailbox; extra.ratio_to_switch is the median of 20 rounds beside that
//	                      of a type switch, taken in turn: 1.3 is the most that is asked. waiting: so many messages
//	                      wait that no case fits; each receive goes on behind them
//	copy                  allocation; extra.tree_ratio is the median of 100 rounds of copies of a tree by the node
//	                      beside copies by hand, taken in turn, extra.tree_sent_ratio that of messages with
//	                      such copies, from Send until they have been received: 2 is the most that is asked. flat
//	                      is a pointer to a struct without references, slices a struct with a slice and a map.
//	                      Half the time of a tree is the allocation of its nodes, a tenth the table of what
//	                      has been copied, which shared nodes and cycles need
//
//	await, until, join    allocation, of a request, its future and its activation, and the turns of
//	                      both objects; until: besides, a switch of stacks for each call that has
//	                      waited; users=20000: with 40,000 objects, and 20,000 calls that wait at a
//	                      time. await prints the time of a Call between actors on the same stage,
//	                      until that of an item of a run with a tenth of them
//
// # A soak
//
// soak lets some nodes, in one OS process, send each other messages at a steady rate, has
// faults happen meanwhile, and says what is left of them. It takes
//
//	seconds=600           how long
//	rate=1000000          messages a minute, of all senders together
//	senders=4
//	least=90              percent of the rate that must go through
//	grow=16               MiB that the resident memory may grow by after the warm-up
//	heap=8                MiB that the heap in use may grow by after it
//	proto=native|erlang|mixed  mixed: the third node speaks Erlang's only, the others both
//	faults=1              0: none, and two nodes only
//	faultrate=600         faults a minute
//	count=0               so many faults after the warm-up, in place of seconds
//	kinds=all             only these, with commas
//	tick=30               seconds of TickTime; Grace is half of it
//	seed=0                0: one is chosen, and printed
//	profile=FILE          of the heap at the end; FILE.start has that after the warm-up
//
// Three nodes stay. The connection of the first two has Grace, where the protocol has
// it: nothing that goes over it may be lost. Those with the third have none. Every
// connection goes through a relay within the program, by which it is cut. The faults
// follow from the seed and the number of each; what they meet depends on the machine. The
// kinds are
//
//	name      a process gets a name, loses it or dies with it; another gets it
//	alias     aliases are used, used up, taken away, and die with their process
//	group     processes on all nodes join a group (pg), leave it and die
//	crash     a child of a supervisor panics, fails or exits, some times, and is taken away
//	giveup    a supervisor has more restarts than it may
//	link      two processes on different nodes are linked, and one fails
//	monitor   a process is monitored by PID and by name, and ends: one Down each
//	spawn     processes and functions are started by name on another node
//	timer     timers fire, are cancelled, and are left behind by a process that dies
//	call      calls are answered, late or never; futures that nobody awaits
//	node      a node comes, new or with the name of one before, is used, and stops, or is cut
//	          off before; in runs of at least 4 times tick some go without a word
//	cut       connections end, with FIN or RST, in the middle of something or not; for up to
//	          a second nobody may get through
//	slow      for up to a second (5 s in such longer runs) a node reads nothing, or little
//
// Each checks what must come of it: that a Down comes, and once; that a reply is that to
// its own request; that what is linked to a process which has failed is gone; and so on.
// The traffic is checked all the time: numbers that only go up, without a gap, but for
// the first message of a sender after a new connection without Grace.
//
// After the warm-up (a tenth of the time, at most 30 s) and at the end the faults and
// the traffic rest until all is as it was before the first fault, and a table shows both
// moments. A row that has not come back within twice the TickTime and a minute is a failure,
// which names it; memory has the slack of grow and heap, and is looked at after the
// connections of the nodes that stay have been made anew, for what these keep for later
// grows with the most that they have had to do, up to a bound. Goroutines that a node keeps
// for what is to come (observe.Stats.Kept) are not counted. The dead letters in brackets
// are the work of the faults; of other causes there may be none.
//
// # A new bench
//
// A bench is a file with one [contract.Bench] and its body, made by betweenNodes
// if it has a far end:
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
// The body makes what it needs on a node that onNode starts and stops for it,
// calls m.Start and m.Stop around the work that is timed, reports other figures
// with m.Extra, and returns an error if its result is wrong. It reads its
// parameters once, before the work. Enter the bench in the table of main.go
// and, with tiny parameters, in contest.Smoke; a test says so if either is
// forgotten.
//
// # A new peer
//
// A peer is a folder under peers with an executable named run, which takes
// build, list, or a bench with parameters as above, and exits with 3 where its
// tools are not installed. It is found by being there. A peer in Go gets all
// but the bodies from the contract package, and its run script from peers/go.sh, as
// peers/channels does, and peers/tcp with far ends.
package main
