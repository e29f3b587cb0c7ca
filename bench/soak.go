package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// soakParams are those of soak. It is no bench of the table: it says whether
// memory stays flat, not how fast something is, and a comparison has no time for
// it.
var soakParams = []contract.Param{
	contract.Int("seconds", 600),
	contract.Int("rate", 1_000_000), // messages a minute, of all senders
	contract.Int("senders", 4).Range(1, 1000),
	contract.Int("grow", 16).Range(1, 1<<20), // MiB that the resident memory may grow by after the warm-up
	contract.Int("least", 90).Range(1, 100),  // percent of the rate that must go through
	contract.Word("proto", "native", "erlang"),
}

const (
	soakBeat   = 10 * time.Millisecond // how often a sender sends its share
	soakLooks  = 10                    // lines while it goes on
	soakWarmUp = 10                    // the part of the time before the first look at memory, at most soakWarm
	soakWarm   = 30 * time.Second
	soakSlack  = time.Minute // for what is under way at the end, and for a machine with other work
)

// soakSizes are of the binaries: every so manieth is as large, the first that fits
// counts.
var soakSizes = []struct{ every, size int }{{10_000, 1 << 20}, {100, 16 << 10}, {10, 1 << 10}, {1, 64}}

// soak sends messages of mixed sizes from one node to another at a steady rate and
// prints what the memory of both, one OS process, comes to. It fails if that grows,
// if goroutines are left, or if a message is lost or out of order.
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

// soaked is what the receiver has seen.
type soaked struct {
	messages, bytes int
	next            []int // by sender: the number that comes next
}

// soakMessage is one message: {data, Sender, Number, Binary}.
func soakMessage(sender, number, size int) wire.Tuple {
	return wire.Tuple{wire.Atom("data"), sender, number, make([]byte, size)}
}

// take counts a message; an error if it is not the one that comes next.
func (s *soaked) take(msg any) error {
	m, ok := msg.(wire.Tuple)
	if !ok || len(m) != 4 {
		return fmt.Errorf("this is none of ours: %s", wire.Format(msg))
	}
	from, ok1 := wire.Int(m[1])
	number, ok2 := wire.Int(m[2])
	body, ok3 := m[3].([]byte)
	if !ok1 || !ok2 || !ok3 || from < 0 || int(from) >= len(s.next) {
		return fmt.Errorf("this is none of ours: %s", wire.Format(m))
	}
	if int(number) != s.next[from] {
		return fmt.Errorf("sender %d: number %d came where %d was due", from, number, s.next[from])
	}
	s.next[from]++
	s.messages++
	s.bytes += len(body)
	return nil
}

// Receive is what the far node runs. A call is answered with the counts.
func (s *soaked) Receive(ctx *node.Context, msg any) error {
	if r, ok := ctx.Node().AsRequest(msg); ok {
		return ctx.Reply(r.From, wire.Tuple{s.messages, s.bytes})
	}
	return s.take(msg)
}

// soakSender sends its share at each beat, and says how many it has sent when its
// time is over. A link that is full holds it up; what it could not send then it sends
// later.
func soakSender(to node.PID, id int, perMinute float64, lasts time.Duration, sent chan<- int) node.Process {
	return func(p *node.Self) error {
		number, began := 0, time.Now()
		for {
			since := min(time.Since(began), lasts)
			for due := int(perMinute * since.Minutes()); number < due; number++ {
				if err := p.Send(to, soakMessage(id, number, sizeOf(number))); err != nil {
					return err
				}
			}
			if since == lasts {
				sent <- number
				return nil
			}
			p.ReceiveWithin(soakBeat, nil) // nobody sends it anything
		}
	}
}

func sizeOf(number int) int {
	for _, s := range soakSizes {
		if (number+1)%s.every == 0 {
			return s.size
		}
	}
	return 0
}

// look is what a moment's memory is, after all that nobody uses has been given back.
type look struct{ rss, heap, goroutines int }

func lookNow() look {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return look{cmp.Or(contract.RSS(), int(m.Sys)), int(m.HeapAlloc), runtime.NumGoroutine()}
}

func (l look) String() string {
	return fmt.Sprintf("%6.1f MiB resident, %6.1f MiB in use, %d goroutines", float64(l.rss)/(1<<20), float64(l.heap)/(1<<20), l.goroutines)
}

func runSoak(ctx context.Context, p contract.Params, out io.Writer) (err error) {
	start := func(d node.Distribution, name node.Atom) (*node.Node, error) {
		d.Protocols = []wire.Protocol{protocolOf(p)}
		return node.Start(node.Config{Name: name, Distribution: &d})
	}
	cookie := rand.Text()
	far, err := start(node.Distribution{Cookie: cookie, Finder: ports{}}, farName)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, far.Stop()) }()
	near, err := start(node.Distribution{Cookie: cookie, Listen: "-", Finder: ports{farName: far.Addr().(*net.TCPAddr).Port}}, nearName)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, near.Stop()) }()
	if err := near.Connect(ctx, farName); err != nil {
		return err
	}
	return soakNodes(ctx, p, near, far, out)
}

// soakNodes is the run between two nodes that are connected.
func soakNodes(ctx context.Context, p contract.Params, near, far *node.Node, out io.Writer) error {
	senders, lasts := p.Int("senders"), time.Duration(p.Int("seconds"))*time.Second
	ctx, cancel := context.WithTimeout(ctx, lasts+soakSlack)
	defer cancel()
	sink, err := far.Spawn(&soaked{next: make([]int, senders)})
	if err != nil {
		return err
	}
	sent := make(chan int, senders)
	began := time.Now()
	for id := range senders {
		if _, err := near.Spawn(soakSender(sink, id, float64(p.Int("rate"))/float64(senders), lasts, sent)); err != nil {
			return err
		}
	}
	first, err := watchSoak(ctx, began, lasts, near, sink, out)
	if err != nil {
		return err
	}
	total := 0
	for range senders {
		select {
		case n := <-sent:
			total += n
		case <-ctx.Done():
			return fmt.Errorf("not all has been sent %v after its time", soakSlack)
		}
	}
	spent := time.Since(began)
	got, bytes, err := soakCount(ctx, near, sink) // after all that was sent before? each sender has an order of its own
	for err == nil && got < total {
		got, bytes, err = soakCount(ctx, near, sink)
	}
	if err != nil {
		return fmt.Errorf("%d of %d messages have come: %w", got, total, err)
	}
	return judge(p, out, first, lookNow(), total, bytes, spent)
}

// soakCount asks the receiver what has come.
func soakCount(ctx context.Context, near *node.Node, sink node.PID) (messages, bytes int, err error) {
	t, err := node.Call[wire.Tuple](ctx, near, sink, wire.Atom("count"))
	if err != nil {
		return 0, 0, err
	}
	m, _ := wire.Int(t[0])
	b, _ := wire.Int(t[1])
	return int(m), int(b), nil
}

// watchSoak prints how things are from time to time until lasts is over. It returns
// the first look after the warm-up.
func watchSoak(ctx context.Context, began time.Time, lasts time.Duration, near *node.Node, sink node.PID, out io.Writer) (first look, err error) {
	warm := min(lasts/soakWarmUp, soakWarm)
	for i := range soakLooks {
		at := began.Add(warm + (lasts-warm)*time.Duration(i)/soakLooks)
		select {
		case <-time.After(time.Until(at)):
		case <-ctx.Done():
			return first, ctx.Err()
		}
		got, _, err := soakCount(ctx, near, sink)
		if err != nil {
			return first, err
		}
		l := lookNow()
		if i == 0 {
			first = l
		}
		fmt.Fprintf(out, "%6.1fs  %10d messages  %v\n", time.Since(began).Seconds(), got, l)
	}
	return first, nil
}

// judge prints the result, and is an error if something has grown.
func judge(p contract.Params, out io.Writer, first, last look, messages, bytes int, spent time.Duration) error {
	rate := float64(messages) / spent.Minutes()
	fmt.Fprintf(out, "%6.1fs  %10d messages  %v\n", spent.Seconds(), messages, last)
	fmt.Fprintf(out, "%s: %.0f messages a minute, %.1f MiB/s; resident at the start %.1f MiB, at the end %.1f MiB\n", p.Word("proto"), rate,
		float64(bytes)/(1<<20)/spent.Seconds(), float64(first.rss)/(1<<20), float64(last.rss)/(1<<20))
	switch grown := last.rss - first.rss; {
	case grown > p.Int("grow")<<20:
		return fmt.Errorf("memory has grown by %.1f MiB; at most %d MiB is allowed (grow=)", float64(grown)/(1<<20), p.Int("grow"))
	case last.goroutines > first.goroutines:
		return fmt.Errorf("there were %d goroutines, and are %d", first.goroutines, last.goroutines)
	case rate < float64(p.Int("rate"))*float64(p.Int("least"))/100:
		return fmt.Errorf("%.0f messages a minute went through, of %d (rate=); at least %d%% must (least=)", rate, p.Int("rate"), p.Int("least"))
	}
	return nil
}
