package session

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

var (
	steps       = flag.Int("steps", testkit.By(5_000, 50_000, 1_000_000), "how many steps the fuzzer of sessions takes")
	daemonSteps = flag.Int("daemon-steps", 0, "how many steps the fuzzer takes with a daemon over TCP; 0: none")
	only        = flag.Int("episode", -1, "the one episode to be played; -1: all")
	longest     = flag.Int("length", 1000, "steps of one episode")
	shrink      = flag.Duration("shrink", 2*time.Minute, "how long steps are left out of an episode that fails")
)

// serve checks that a peer that does nothing wrong is served, by both protocols.
func (f *fuzz) serve() {
	f.good = true
	defer func() { f.good = false }()
	for _, native := range []bool{false, true} {
		p := &peer{name: "good@127.0.0.1", creation: uint32(1 + f.step)}
		f.peers = append(f.peers, p)
		c := f.newConn(p, native, f.connect(native))
		for i := 0; c.stage != up; i++ {
			if i == 10 || c.stage == gone {
				f.fail("%s: a peer that does nothing wrong does not get in: stage %s", c, c.stage)
			}
			c.since = time.Now()
			f.advance(c)
		}
		for range 4 {
			f.callNamed(c)
		}
		f.settle()
		if native && f.far != nil {
			f.killAll(c)
		}
		_ = c.end.Close()
		c.chaos = true
		f.ended(c)
		f.settle()
	}
}

// inBubble returns how many goroutines the bubble has. The other goroutines of the process are the runtime's, whose
// number varies. Workers of the pool, of which there are two at most, start when they are needed: they do not count.
func inBubble() (n int, stacks []byte) {
	stacks = make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return bytes.Count(stacks, []byte("synctest bubble")) - bytes.Count(stacks, []byte("executor.(*Pool).rouseLocked")), stacks
}

// leftovers compares the goroutines with those at the start.
func (f *fuzz) leftovers() {
	synctest.Wait()
	if all := f.n.Peers(); len(all) > 0 {
		f.fail("peers are left: %+v", all)
	}
	now := f.n.Stats()
	if now.Processes != f.began.Processes || now.Names != f.began.Names || now.Lingering != 0 {
		f.fail("there were %d processes and %d names, and there are %d (%d) and %d", f.began.Processes, f.began.Names, now.Processes,
			now.Lingering, now.Names)
	}
	if n, stacks := inBubble(); n > f.routines {
		_, _ = os.Stdout.Write(stacks)
		f.fail("there were %d goroutines, and there are %d", f.routines, n)
	}
	for _, l := range f.n.LimitUsage() {
		if l.Used != 0 && l.Name != "processes" {
			f.fail("of the limit %s %d are used", l.Name, l.Used)
		}
	}
}

// episode plays an episode in a bubble of its own.
func episode(t *testing.T, seed uint64, number, length int, skip map[int]bool, trace *os.File, all *tally) (found string) {
	synctest.Test(t, func(t *testing.T) {
		f := &fuzz{seed: seed, episode: uint64(number), steps: length, skip: skip, tally: all}
		if trace != nil {
			f.trace = trace
			_ = trace.Truncate(0)
			_, _ = trace.Seek(0, 0)
			fmt.Fprintf(trace, "episode %d\n", number)
		}
		found = f.play()
		if found == "" {
			if err := f.n.Stop(); err != nil {
				found = "stop: " + err.Error()
			}
		}
		if found != "" {
			fmt.Printf("FOUND seed=%d episode=%d step=%d: %s\n", seed, number, f.step, found)
			for _, l := range f.log.lines {
				fmt.Print("log: ", l)
			}
			os.Exit(3)
		}
	})
	return found
}

const child = "ACTORNODE_SESSIONS"

// TestChild plays episodes, in a process of its own: TestSessions starts it.
func TestChild(t *testing.T) {
	what := os.Getenv(child)
	if what == "" {
		t.Skip("this is for the process that TestSessions starts")
	}
	var seed uint64
	var first, count, length int
	var file, skipped string
	_, err := fmt.Sscanf(what, "%d %d %d %d %s %s", &seed, &first, &count, &length, &file, &skipped)
	require.NoError(t, err)
	skip := make(map[int]bool)
	for i, mark := range skipped {
		if mark == '-' {
			skip[i] = true
		}
	}
	trace, err := os.Create(file)
	require.NoError(t, err)
	defer trace.Close()
	all := &tally{kinds: make(map[string]int)}
	began := time.Now()
	for i := range count {
		episode(t, seed, first+i, length, skip, trace, all)
	}
	took := time.Since(began)
	fmt.Printf("TALLY %d episodes, %d steps (in %d there was nothing to do), %.0f a second: %d links, %d sessions resumed, %d "+
		"signals of the node, %d wrong frames, %d mutated, %d times all waited\n",
		count, all.steps, all.idle, float64(all.steps)/took.Seconds(), all.ups, all.resumes, all.signals, all.wrong, all.chaos,
		all.settles)
	for _, k := range slices.Sorted(maps.Keys(all.kinds)) {
		fmt.Printf("TALLY   %-26s %d\n", k, all.kinds[k])
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	fmt.Printf("TALLY heap %d KiB, %d goroutines\n", m.HeapAlloc>>10, runtime.NumGoroutine())
}

// run plays episodes in another process. ok false: one has failed, and out says how.
func run(t *testing.T, seed uint64, first, count, length int, skip string,
	within time.Duration) (out string, ok bool, trace string) {
	file := filepath.Join(t.TempDir(), "trace")
	if skip == "" {
		skip = "all"
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.v", "-test.timeout="+within.String())
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %d %d %s %s", child, seed, first, count, length, file, skip))
	b, err := cmd.CombinedOutput()
	script, _ := os.ReadFile(file)
	return string(b), err == nil, string(script)
}

// Peers do what they may, and what they may not, by both protocols.
func TestSessions(t *testing.T) {
	seed := testkit.Seed(t)
	length := *longest
	first, count := 0, max(1, *steps/length)
	if *only >= 0 {
		first, count = *only, 1
	}
	t.Logf("seed %d, %d episodes of %d steps", seed, count, length)
	out, ok, trace := run(t, seed, first, count, length, "", 10*time.Minute+time.Duration(*steps)*10*time.Millisecond)
	for line := range strings.Lines(out) {
		if text, ok := strings.CutPrefix(line, "TALLY "); ok {
			t.Log(strings.TrimSpace(text))
		}
	}
	if ok {
		return
	}
	number := -1
	_, _ = fmt.Sscanf(trace, "episode %d", &number)
	reduced, last := trace, out
	if number >= 0 && *shrink > 0 {
		reduced, last = reduce(t, seed, number, length, trace, out)
	}
	t.Fatalf("seed %d, episode %d: repeat with -seed=%d -episode=%d\n%s\nthe steps that it takes:\n%s\nand with all of them:\n%s",
		seed, number, seed, number, cutTo(last, 8000), cutTo(reduced, 12000), cutTo(out, 2000))
}

func cutTo(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n/4] + "\n…\n" + s[len(s)-n*3/4:]
}

// reduce leaves out steps, as many as it can.
func reduce(t *testing.T, seed uint64, number, length int, trace, out string) (string, string) {
	until := time.Now().Add(*shrink)
	skip := bytes.Repeat([]byte{'+'}, length)
	fails := func(skip []byte) bool {
		o, ok, tr := run(t, seed, number, 1, length, string(skip), 2*time.Minute)
		if !ok && headline(o) == headline(out) {
			trace, out = tr, o
			return true
		}
		return false
	}
	lastStep := 0
	for line := range strings.Lines(trace) {
		var n int
		if _, err := fmt.Sscanf(line, "%d", &n); err == nil {
			lastStep = n
		}
	}
	lastStep = min(lastStep, length-1)
	for i := lastStep + 1; i < length; i++ {
		skip[i] = '-'
	}
	if !fails(skip) {
		return trace, out
	}
	for size := max(1, lastStep/2); size >= 1; size /= 2 {
		for at := 0; at <= lastStep && time.Now().Before(until); at += size {
			try := slices.Clone(skip)
			for i := at; i < min(at+size, lastStep+1); i++ {
				try[i] = '-'
			}
			if !bytes.Equal(try, skip) && fails(try) {
				skip = try
			}
		}
	}
	return trace, out
}

// headline returns what a failure is about, without the numbers.
func headline(out string) string {
	s := bufio.NewScanner(strings.NewReader(out))
	s.Buffer(nil, 1<<22)
	for s.Scan() {
		line := s.Text()
		if i := strings.Index(line, "FOUND "); i >= 0 {
			_, text, _ := strings.Cut(line[i:], ": ")
			return strings.Map(func(r rune) rune {
				if r >= '0' && r <= '9' {
					return -1
				}
				return r
			}, text)[:min(len(text)/3, 60)]
		}
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return line
		}
	}
	return "?"
}
