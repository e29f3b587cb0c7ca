package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// soakParams are the parameters of soak. It is not in the table of benches: it tests whether a node stays stable, not how
// fast it is, and takes too long for a comparison.
var soakParams = []contract.Param{
	contract.Int("seconds", 600),
	contract.Int("rate", 1_000_000), // messages per minute, of all senders
	contract.Int("senders", 4).Range(1, 1000),
	contract.Int("grow", 16).Range(1, 1<<20), // MiB that the resident memory may grow by after the warm-up
	contract.Int("heap", 8).Range(1, 1<<20),  // MiB that the heap in use may grow by after the warm-up
	contract.Int("least", 90).Range(1, 100),  // minimum percentage of the rate that must be delivered
	contract.Word("proto", "native", "erlang", "mixed"),
	contract.Int("faults", 1).Range(0, 1),
	contract.Int("faultrate", 600),                // faults per minute
	contract.Int("count", 0).Range(0, 1<<30),      // faults after the warm-up, instead of seconds; 0: as many as fit into seconds
	contract.Text("kinds", "all"),                 // of faults, separated by commas
	contract.Int("tick", 30).Range(4, 3600),       // seconds: Distribution.Timing.TickTime; Grace is half of it
	contract.Int("seed", 0).Range(0, math.MaxInt), // 0: a random one, which is printed
	contract.Text("profile", ""),                  // file for a heap profile at the end; .start: after the warm-up
}

const (
	soakBeat   = 10 * time.Millisecond // how often a sender sends its share
	soakLooks  = 10                    // progress lines
	soakWarmUp = 10                    // fraction of the time before the first look at memory, at most soakWarm
	soakWarm   = 30 * time.Second
	soakSlack  = time.Minute           // for work in progress at the end, and for a busy machine
	soakPoll   = 50 * time.Millisecond // between polls
	soakStill  = 20                    // equal polls required before the faults
)

// soakSizes are the sizes of the binaries: each applies to every every-th message; the first match wins.
var soakSizes = []struct{ every, size int }{{10_000, 1 << 20}, {100, 16 << 10}, {10, 1 << 10}, {1, 64}}

// soak sends messages of mixed sizes between nodes at a steady rate, injects faults meanwhile, and prints the memory of all
// nodes, one OS process, and the contents of their tables. It fails if these grow, if something is left behind, or if a
// message is lost that must not be, arrives twice or out of order.
func soak(args []string, out, errs io.Writer) int {
	p, err := contract.Parse(soakParams, args)
	if err != nil {
		fmt.Fprintln(errs, "soak:", err)
		return contract.Misused
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := runSoak(ctx, p, out); err != nil {
		fmt.Fprintln(errs, "soak:", err)
		return contract.Failed
	}
	return contract.Done
}

// soaked is the state of a receiver.
type soaked struct {
	messages, bytes int
	lost            int   // with a connection
	next            []int // by sender: the next number

	// senders lists the senders whose messages may be lost with a connection without Grace, by node; gap marks those whose
	// messages may have been lost since their last one.
	senders  map[node.Atom][]int
	gap      []bool
	never    node.Atom // connections to that node are never lost, except while renewing
	renewing *atomic.Bool
	fail     func(error)
}

// soakMessage is one message: {data, Sender, Number, Binary}.
func soakMessage(sender, number, size int) wire.Tuple {
	return wire.Tuple{wire.Atom("data"), sender, number, make([]byte, size)}
}

// take counts a message, and returns an error if it is not the next one.
func (s *soaked) take(msg any) error {
	m, ok := msg.(wire.Tuple)
	if !ok || len(m) != 4 {
		return fmt.Errorf("this is none of ours: %s", wire.Format(msg))
	}
	from, ok1 := wire.AsInt(m[1])
	number, ok2 := wire.AsInt(m[2])
	body, ok3 := m[3].([]byte)
	if !ok1 || !ok2 || !ok3 || from < 0 || int(from) >= len(s.next) {
		return fmt.Errorf("this is none of ours: %s", wire.Format(m))
	}
	if gap := int(number) - s.next[from]; gap < 0 || gap > 0 && !s.mayLose(int(from)) {
		return fmt.Errorf("sender %d: number %d came where %d was due", from, number, s.next[from])
	} else if s.lost += gap; s.gap != nil {
		s.gap[from] = false
	}
	s.next[from] = int(number) + 1
	s.messages++
	s.bytes += len(body)
	return nil
}

// mayLose reports whether messages of a sender may have been lost since its last one.
func (s *soaked) mayLose(from int) bool { return s.gap != nil && s.gap[from] }

// up handles a new connection, which is announced before its first message.
func (s *soaked) up(name node.Atom) error {
	if name == s.never && !s.renewing.Load() {
		return fmt.Errorf("the connection to %s, which has Grace, has been lost", name)
	}
	for _, from := range s.senders[name] {
		s.gap[from] = true
	}
	return nil
}

// Init is part of node.Initializer.
func (s *soaked) Init(ctx *node.Context) error {
	if s.gap != nil {
		ctx.MonitorNodes()
	}
	return nil
}

// Receive is the receiver on each node. It answers a call with the counts.
func (s *soaked) Receive(ctx *node.Context, msg any) error {
	if r, ok := ctx.Node().AsRequest(msg); ok {
		return ctx.Reply(r.From, soakCounts{s.messages, s.bytes, s.lost, slices.Clone(s.next)})
	}
	var err error
	if up, ok := msg.(node.NodeUp); ok {
		err = s.up(up.Node)
	} else {
		err = s.take(msg)
	}
	if err != nil {
		s.fail(fmt.Errorf("%s: %w", ctx.Node().Name(), err))
	}
	return err
}

// soakCounts is the answer of a receiver.
type soakCounts struct {
	messages, bytes, lost int
	next                  []int
}

// stream is one sender and its receiver.
type stream struct {
	from, to *soakNode
	sink     node.PID
	sent     atomic.Int64
	seen     atomic.Int64 // the last round it answered
}

// traffic pauses and resumes all senders.
type traffic struct {
	streams  []*stream
	held     atomic.Bool
	round    atomic.Int64
	since    time.Time             // when they were resumed
	active   time.Duration         // time not paused before that
	renewing atomic.Bool           // replacing connections, see soakStand.renew
	failed   atomic.Pointer[error] // the first error that ended a sender or a receiver
}

func (t *traffic) fail(err error) { t.failed.CompareAndSwap(nil, &err) }

// why returns failed if set, or else err, which may be a consequence.
func (t *traffic) why(err error) error {
	if failed := t.failed.Load(); failed != nil {
		return *failed
	}
	return err
}

// sender sends its share at each beat. A full link blocks it; it catches up later. While all are paused it sends one
// message per round, which shows the receiver that all earlier ones have arrived.
func (t *traffic) sender(id int, perMinute float64) node.ProcessFunc {
	s := t.streams[id]
	return func(p *node.Process) error {
		number, round, last, due := 0, int64(0), time.Now(), 0.0
		send := func() error {
			err := p.Send(s.sink, soakMessage(id, number, sizeOf(number)))
			number++
			s.sent.Store(int64(number))
			if err != nil {
				t.fail(fmt.Errorf("sender %d: %w", id, err))
			}
			return err
		}
		for {
			r, held, now := t.round.Load(), t.held.Load(), time.Now()
			if !held {
				due += perMinute * now.Sub(last).Minutes()
			}
			for last = now; number < int(due); {
				if err := send(); err != nil {
					return err
				}
			}
			if r != round {
				if err := send(); err != nil {
					return err
				}
				due++
				round = r
				s.seen.Store(r)
			}
			p.ReceiveWithin(soakBeat, nil) // it receives no messages
		}
	}
}

// run resumes the senders.
func (t *traffic) run() {
	t.since = time.Now()
	t.held.Store(false)
}

// hold pauses them, and waits until all their messages have arrived or are lost.
func (t *traffic) hold(ctx context.Context, s *soakStand) error {
	if !t.held.Swap(true) {
		t.active += time.Since(t.since)
	}
	for {
		if err := s.connect(ctx); err != nil {
			return err
		}
		round := t.round.Add(1)
		came := time.After(soakSlack / 10) // a message lost now is not sent again, so start another round
		for {
			if missing, err := t.missing(ctx, round); err != nil || missing == 0 {
				return err
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("not all that was sent has come: %w", context.Cause(ctx))
			case <-time.After(soakPoll):
				continue
			case <-came:
			}
			break
		}
	}
}

// missing returns how many senders have not answered the round, or whose message has not arrived.
func (t *traffic) missing(ctx context.Context, round int64) (n int, err error) {
	if err := t.why(nil); err != nil {
		return 0, err
	}
	for id, s := range t.streams {
		c, err := s.count(ctx)
		if err != nil {
			return 0, t.why(err)
		}
		if s.seen.Load() != round || c.next[id] != int(s.sent.Load()) {
			n++
		}
	}
	return n, nil
}

// count asks the receiver from its own node, so that the answer does not depend on connections.
func (s *stream) count(ctx context.Context) (soakCounts, error) {
	return node.Call[soakCounts](ctx, s.to, s.sink, wire.Atom("count"))
}

// counts sums up the counts of all receivers.
func (t *traffic) counts(ctx context.Context) (sum soakCounts, err error) {
	seen := make(map[node.PID]bool)
	for _, s := range t.streams {
		if seen[s.sink] {
			continue
		}
		seen[s.sink] = true
		c, err := s.count(ctx)
		if err = t.why(err); err != nil {
			return sum, err
		}
		sum.messages, sum.bytes, sum.lost = sum.messages+c.messages, sum.bytes+c.bytes, sum.lost+c.lost
	}
	return sum, nil
}

func (t *traffic) sent() (n int) {
	for _, s := range t.streams {
		n += int(s.sent.Load())
	}
	return n
}

func sizeOf(number int) int {
	for _, s := range soakSizes {
		if (number+1)%s.every == 0 {
			return s.size
		}
	}
	return 0
}

// look is the memory at a moment, after unused memory has been returned.
type look struct{ rss, heap, goroutines int }

func lookNow() look {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return look{cmp.Or(contract.RSS(), int(m.Sys)), int(m.HeapAlloc), runtime.NumGoroutine()}
}

func (l look) String() string {
	return fmt.Sprintf("%6.1f MiB resident, %6.1f MiB in use, %d goroutines", float64(l.rss)/(1<<20), float64(l.heap)/(1<<20),
		l.goroutines)
}

// runSoak does a whole run.
func runSoak(ctx context.Context, p contract.Params, out io.Writer) error {
	s, err := newSoakStand(p, out, soakKinds)
	if err != nil {
		return err
	}
	return s.whole(ctx)
}

// whole starts the nodes, runs, and stops them.
func (s *soakStand) whole(ctx context.Context) (err error) {
	if s.faulty() {
		fmt.Fprintf(s.out, "seed=%d\n", s.seed)
		defer func() {
			if err != nil {
				fmt.Fprintf(s.out, "the last lines of the logs of %s and %s:\n%s", nearName, farName, s.log.String())
				err = fmt.Errorf("%w\n\trepeat with seed=%d", err, s.seed)
			}
		}()
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.start(ctx); err != nil {
		return err
	}
	return s.run(ctx)
}

// run does the run on a started stand.
func (s *soakStand) run(ctx context.Context) error {
	began, lasts, count := time.Now(), time.Duration(s.p.Int("seconds"))*time.Second, s.p.Int("count")
	warm := min(lasts/soakWarmUp, soakWarm)
	cold, err := s.still(ctx)
	if err != nil {
		return err
	}
	s.traffic.run()
	if err := s.inject(ctx, began.Add(warm), count/soakWarmUp); err != nil {
		return err
	}
	first, err := s.settle(ctx, cold)
	if err != nil {
		return fmt.Errorf("after the warm-up: %w", err)
	}
	s.line(began, first.look(), first.got)
	if err := s.profile(".start"); err != nil {
		return err
	}
	s.traffic.run()
	going, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	over := make(chan struct{})
	go func() { // until cancel
		defer close(over)
		if err := s.watch(going, began, lasts); err != nil {
			cancel(err)
		}
	}()
	err = s.inject(going, began.Add(lasts), count)
	cancel(nil)
	<-over
	if err != nil {
		return err
	}
	last, err := s.settle(ctx, first)
	err = errors.Join(err, s.profile(""))
	if last.rows != nil && s.faulty() {
		last.print(s.out, first)
		fmt.Fprintf(s.out, "faults: %s\n", s.tally())
	}
	if err != nil {
		return err
	}
	return s.result(first, last)
}

// result is the verdict on the traffic.
func (s *soakStand) result(first, last census) error {
	got := last.got
	fmt.Fprintf(s.out, "%d messages sent, %d received, %d lost with connections that have no Grace, none twice or out of order\n",
		s.traffic.sent(), got.messages, got.lost)
	if sent := s.traffic.sent(); sent != got.messages+got.lost {
		return fmt.Errorf("%d messages were sent, and %d received or lost with a connection", sent, got.messages+got.lost)
	}
	return judge(s.p, s.out, first.look(), last.look(), got.messages, got.bytes, s.traffic.active)
}

// watch prints the progress from time to time.
func (s *soakStand) watch(ctx context.Context, began time.Time, lasts time.Duration) error {
	for {
		select {
		case <-time.After(lasts / soakLooks):
		case <-ctx.Done():
			return nil
		}
		got, err := s.traffic.counts(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		s.line(began, lookNow(), got)
	}
}

func (s *soakStand) line(began time.Time, l look, got soakCounts) {
	fmt.Fprintf(s.out, "%6.1fs  %10d messages  %v\n", time.Since(began).Seconds(), got.messages, l)
}

// judge prints the result, and returns an error if something has grown.
func judge(p contract.Params, out io.Writer, first, last look, messages, bytes int, spent time.Duration) error {
	rate := float64(messages) / spent.Minutes()
	fmt.Fprintf(out, "%6.1fs  %10d messages  %v\n", spent.Seconds(), messages, last)
	fmt.Fprintf(out, "%s: %.0f messages a minute, %.1f MiB/s; resident at the start %.1f MiB, at the end %.1f MiB\n",
		p.Word("proto"), rate,
		float64(bytes)/(1<<20)/spent.Seconds(), float64(first.rss)/(1<<20), float64(last.rss)/(1<<20))
	switch grown := last.rss - first.rss; {
	case grown > p.Int("grow")<<20:
		return fmt.Errorf("memory has grown by %.1f MiB; at most %d MiB is allowed (grow=)", float64(grown)/(1<<20), p.Int("grow"))
	case last.goroutines > first.goroutines:
		return fmt.Errorf("there were %d goroutines, and are %d", first.goroutines, last.goroutines)
	case rate < float64(p.Int("rate"))*float64(p.Int("least"))/100:
		return fmt.Errorf("%.0f messages a minute went through, of %d (rate=); at least %d%% must (least=)", rate, p.Int("rate"),
			p.Int("least"))
	}
	return nil
}
