package attack

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode"
	"github.com/actornode/actornode/deploy/attack/internal/raw"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/wire"
)

var all = flag.Bool("attack.all", false, "run every attack, not only the quick ones")

func TestMain(m *testing.M) {
	if os.Getenv(asVault) != "" {
		actornode.Main(vault)
	}
	flag.Parse()
	os.Exit(raw.Main(m))
}

// row is an attack.
type row struct {
	name   string
	setup  string       // of setups; "": plain
	own    *raw.Options // a daemon for this row only, instead of a setup
	needs  []need
	slow   bool // only with -attack.all, and in make night
	alone  bool // without bystanders: for a row with a daemon of its own
	attack func(*attempt)
	want   want
}

// want says what must hold in the end. The zero value is what doc.go says.
type want struct {
	peak      int           // MiB of resident memory at most
	served    time.Duration // the longest wait of a bystander
	log       string        // regexp that must match the log
	never     string        // regexp that must not match the log
	logKiB    int           // KiB of log at most
	breaks    bool          // connections of bystanders may break
	refuses   bool          // bystanders may be refused, and may wait without limit
	dies      bool          // the process may end: the attack has checked how
	unready   bool          // /readyz may report something else
	panics    bool          // the log may contain panics of handlers
	leaves    bool          // goroutines and files need not come back: the attack has checked
	goroutine int           // number of additional goroutines that are not a leak
}

// need is a requirement of a row.
type need struct {
	what string
	has  func() bool
}

var (
	root  = need{"root on Linux", func() bool { return runtime.GOOS == "linux" && os.Getuid() == 0 }}
	linux = need{"Linux", func() bool { return runtime.GOOS == "linux" }}
)

// setups are the ways to start daemons. Each has 4 GiB of address space.
var setups = map[string]raw.Options{
	"plain": {},
	// Steps of handshakes have a limit of a second, and a silent peer one of four.
	"hasty":      {Config: "connect_timeout: 1s\ntick_time: 4s\n"},
	"grace":      {Args: []string{"--grace", "5s"}},
	"gossip":     {Gossip: true},
	"guarded":    {Config: guardedDaemon},
	"restricted": {Args: []string{"--operators", "ops@127.0.0.1", "--allow", "demo:echo/0", "--allow", "erlang:whereis/1"}},
}

// target is a daemon with its bystanders.
type target struct {
	*raw.Daemon
	bystanders []*bystander
}

// attempt is the environment of an attack.
type attempt struct {
	*testing.T
	*target
	rand  *rand.Rand
	logAt int
	named int

	mu    sync.Mutex
	conns []*raw.Conn
}

// outcome is a line of the table.
type outcome struct {
	name, result string
	took, waited time.Duration
	peak         int64
	log          int
}

var outcomes struct {
	sync.Mutex
	all []outcome
}

// group is the rows of one daemon.
type group struct {
	name    string
	options raw.Options
	rows    []row
}

func groups(t *testing.T) (gs []*group) {
	seen := make(map[string]bool)
	for _, r := range slices.Concat(strangers, ports, terms, controls(), frames(), gonodes, flows, kernels, deputies(),
		wishes, others, resources, secrets(), starts()) {
		require.False(t, seen[r.name], "two rows are named %s", r.name)
		seen[r.name] = true
		if r.own != nil {
			gs = append(gs, &group{r.name, *r.own, []row{r}})
			continue
		}
		setup := cmp.Or(r.setup, "plain")
		o, ok := setups[setup]
		require.True(t, ok, setup)
		i := slices.IndexFunc(gs, func(g *group) bool { return g.name == setup })
		if i < 0 {
			gs = append(gs, &group{name: setup, options: o})
			i = len(gs) - 1
		}
		gs[i].rows = append(gs[i].rows, r)
	}
	return gs
}

// The daemon survives every attack of the table as the row says.
func TestAttacks(t *testing.T) {
	testkit.From(t, testkit.Merge, "attacks on a daemon")
	if runtime.GOOS == "windows" {
		t.Skip("a shell that limits what a process gets is needed")
	}
	raw.Build(t)
	if timed() {
		machine.measure()
	}
	begun := time.Now()
	t.Cleanup(func() { t.Logf("%s%v in all", table(), time.Since(begun).Round(time.Second)) })
	for _, g := range groups(t) {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			g.run(t)
		})
	}
}

func (g *group) run(t *testing.T) {
	wanted := slices.DeleteFunc(slices.Clone(g.rows), func(r row) bool { return skipped(r) != "" })
	if g.options.Space == 0 {
		g.options.Space = 4 << 20
	}
	var tg *target
	defer func() {
		if tg != nil {
			return
		}
		for _, r := range wanted {
			if !noted(r.name) {
				note(outcome{name: r.name, result: "FAILED: no daemon"})
			}
		}
	}()
	if len(wanted) > 0 {
		tg = newTarget(t, g.options, !g.rows[0].alone)
	}
	for i, r := range g.rows {
		ok := t.Run(r.name, func(t *testing.T) {
			if why := skipped(r); why != "" {
				note(outcome{name: r.name, result: "skipped: " + why})
				t.Skip(why)
			}
			tg.run(t, r)
		})
		// The next row gets a new daemon if this row has failed, or has left garbage that would be taken for the next
		// row's.
		if tg != nil && (!ok || !tg.Lives() || tg.Figures().RSS > 128<<20) && i+1 < len(g.rows) {
			tg.end()
			tg = newTarget(t, g.options, true)
		}
	}
	if tg != nil {
		tg.end()
	}
}

// skipped says why a row is not run; "": it is run.
func skipped(r row) string {
	if r.slow && !*all && testkit.At() < testkit.Night {
		return "left to make night: it takes long"
	}
	for _, n := range r.needs {
		if !n.has() {
			return n.what + " is needed"
		}
	}
	return ""
}

func newTarget(t *testing.T, o raw.Options, others bool) *target {
	tg := &target{Daemon: raw.Start(t, o)}
	if others {
		tg.bystanders = bystandersOf(tg.Daemon)
	}
	t.Cleanup(tg.end)
	return tg
}

func (tg *target) end() {
	for _, b := range tg.bystanders {
		close(b.quit)
	}
	tg.Kill() // ends the calls that they wait for
	for _, b := range tg.bystanders {
		<-b.done
	}
	tg.bystanders = nil
}

// run runs a row and checks its conditions.
func (tg *target) run(t *testing.T, r row) {
	a := &attempt{T: t, target: tg, rand: rand.New(rand.NewPCG(1, 2))}
	o := outcome{name: r.name, result: "ok"}
	begun := time.Now()
	before := tg.settled()
	_ = tg.ResetPeak() // not permitted to the owner everywhere: then the peak is that of all rows
	for _, b := range tg.bystanders {
		b.reset()
	}
	a.logAt = tg.LogSize()
	t.Cleanup(func() {
		if t.Failed() {
			_ = tg.Until(100*time.Millisecond, func() bool { return false }) // let connections finish that are ending
			o.result = "FAILED"
			text := tg.LogFrom(a.logAt)
			t.Logf("log of the attack, %d bytes:\n%.6000s", len(text), text)
		}
		note(o)
	})
	defer func() {
		o.took, o.peak, o.log = time.Since(begun), tg.Figures().Peak, tg.LogSize()-a.logAt
	}()
	t.Cleanup(a.hangUp)
	r.attack(a)
	a.hangUp()
	o.took, o.peak, o.log = time.Since(begun), tg.Figures().Peak, tg.LogSize()-a.logAt
	log := tg.LogFrom(a.logAt)
	requireLog(t, log, r.want, tg.Cookie)
	if r.want.dies {
		return
	}
	require.True(t, tg.Lives(), "the daemon has ended: %v", tg.State())
	o.waited = requireServed(t, tg, r.want, begun)
	requireHealth(t, tg, r.want)
	if !r.want.leaves {
		requireBack(t, tg, before, r.want.goroutine)
	}
	o.peak = tg.Figures().Peak
	require.LessOrEqual(t, o.peak>>20, int64(cmp.Or(r.want.peak, 256)), "MiB of memory")
	log = tg.LogFrom(a.logAt)
	o.log = len(log)
	requireLog(t, log, r.want, tg.Cookie)
	if r.want.log != "" { // lines above the limit are reported a second later, with their number
		found := regexp.MustCompile(r.want.log)
		require.NoError(t, tg.Until(testkit.Limit, func() bool { return found.MatchString(tg.LogFrom(a.logAt)) }),
			"%q is not in the log", r.want.log)
	}
	require.LessOrEqual(t, len(log), logLimit(r.want, time.Since(begun)), "bytes of log")
}

// logLimit is how many bytes of log an attack may cause that has taken this long. Lines of one kind are limited per
// second, so an attack that takes longer has more of them.
func logLimit(w want, took time.Duration) int {
	return cmp.Or(w.logKiB, 128)<<10 + int(max(0, took-time.Second).Seconds()*logRate)
}

const logRate = 96 << 10 // bytes per second: three kinds of 100 lines

var control = regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f]")

func requireLog(t *testing.T, log string, w want, cookie string) {
	log = strings.ReplaceAll(log, "*node.Crash panic: ", "") // part of a message about that panic
	for _, never := range []string{"panic: ", "fatal error: ", "DATA RACE", cookie} {
		if never != "panic: " || !w.panics {
			at := strings.Index(log, never)
			require.Negative(t, at, "%q is in the log: %q", never, around(log, []int{at, at}))
		}
	}
	require.False(t, control.MatchString(log), "control characters in the log: %.200q", control.FindString(log))
	if w.never != "" {
		found := regexp.MustCompile(w.never).FindStringIndex(log)
		require.Nil(t, found, "%s is in the log: %q", w.never, around(log, found))
	}
}

// around returns the text before and after a match in a log.
func around(log string, found []int) string {
	if found == nil {
		return ""
	}
	return log[max(0, found[0]-1000):min(len(log), found[1]+200)]
}

func requireHealth(t *testing.T, tg *target, w want) {
	if tg.HTTP == "" {
		return
	}
	paths := []string{"/livez", "/readyz"}
	if w.unready {
		paths = paths[:1]
	}
	for _, path := range paths {
		testkit.UntilEvery(t, 20*time.Millisecond, func() string {
			text, err := raw.Get(tg.HTTP, path)
			if err == nil && strings.HasPrefix(text, "HTTP/1.1 200") {
				return ""
			}
			return fmt.Sprintf("%s is not 200: %v: %s", path, err, text)
		})
	}
}

// requireServed waits until each bystander has been answered to a request that it made after the attack, and checks the
// longest wait of each.
func requireServed(t *testing.T, tg *target, w want, begun time.Time) (worst time.Duration) {
	now := time.Now()
	for _, b := range tg.bystanders {
		err := tg.Until(testkit.Limit, func() bool { return b.since(now) })
		require.NoError(t, err, "bystander %s is not served after the attack: %v", b.name, b.lastError())
		waited, errs := b.figures()
		worst = max(worst, waited)
		if w.refuses {
			continue
		}
		if timed() {
			limit := machine.within(cmp.Or(w.served, 5*time.Second), begun)
			require.LessOrEqual(t, waited, limit, "bystander %s has waited", b.name)
		}
		if !w.breaks {
			require.Empty(t, errs, "bystander %s", b.name)
		}
	}
	return worst
}

// level counts the things whose number must not grow.
type level struct{ goroutines, files int }

func (tg *target) level() (l level, err error) {
	if tg.HTTP == "" {
		return level{files: tg.Figures().Files}, nil
	}
	n, err := tg.Metric("go_goroutines")
	return level{int(n), tg.Figures().Files}, err
}

// settled returns the level before an attack.
func (tg *target) settled() level {
	l, _ := tg.level()
	return l
}

// slack is how many goroutines and files come and go with the bystanders.
const slack = 12

func requireBack(t *testing.T, tg *target, before level, more int) {
	var now level
	var err error
	begun := time.Now()
	ok := tg.Until(testkit.Limit, func() bool {
		now, err = tg.level()
		return err == nil && now.goroutines <= before.goroutines+slack+more && now.files <= before.files+slack
	})
	require.NoError(t, ok, "goroutines and files: %+v before, now %+v (%v)", before, now, err)
	if timed() {
		require.LessOrEqual(t, time.Since(begun), machine.within(20*time.Second, begun), "goroutines and files are back, but late")
	}
}

func note(o outcome) {
	outcomes.Lock()
	defer outcomes.Unlock()
	outcomes.all = append(outcomes.all, o)
}

func noted(name string) bool {
	outcomes.Lock()
	defer outcomes.Unlock()
	return slices.ContainsFunc(outcomes.all, func(o outcome) bool { return o.name == name })
}

// table returns the results, in lines.
func table() string {
	outcomes.Lock()
	defer outcomes.Unlock()
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nattack\toutcome\ttime\tothers waited\tpeak memory\tlog")
	count := make(map[string]int)
	for _, o := range outcomes.all {
		kind, _, _ := strings.Cut(o.result, ":")
		count[kind]++
		fmt.Fprintf(w, "%s\t%s\t%.2f s\t%.3f s\t%d MiB\t%.1f KiB\n", o.name, o.result, o.took.Seconds(), o.waited.Seconds(),
			o.peak>>20, float64(o.log)/1024)
	}
	_ = w.Flush()
	fmt.Fprintf(&b, "%d attacks: %v\n", len(outcomes.all), count)
	return b.String()
}

// bystander is a client that does no harm.
type bystander struct {
	name string
	d    *raw.Daemon
	ask  func(*bystander) error
	drop func() // drops the connection, if it holds one
	quit chan struct{}
	done chan struct{}

	mu    sync.Mutex
	begun time.Time // of the call under way; zero: none
	asked time.Time // when the last that was answered began
	worst time.Duration
	errs  []string
}

func bystandersOf(d *raw.Daemon) (bs []*bystander) {
	add := func(name string, ask func(*bystander) error) {
		b := &bystander{name: name, d: d, ask: ask, drop: func() {}, quit: make(chan struct{}), done: make(chan struct{})}
		bs = append(bs, b)
		go b.run()
	}
	if d.Erlang != "" {
		var e *raw.Erlang
		add("erlang", func(b *bystander) (err error) {
			if e == nil {
				if e, err = raw.DialErlang(d.Erlang, raw.Self("bystander1@127.0.0.1", 1), d.Cookie); err != nil {
					return err
				}
				e.Patience = testkit.Limit
				b.drop = func() { _ = e.Close(); e = nil }
			}
			_, err = e.Call("counter", wire.Atom("get"))
			return err
		})
	}
	if d.Native != "" {
		var n *raw.Native
		add("native", func(b *bystander) (err error) {
			if n == nil {
				if n, err = raw.DialNative(d.Native, raw.Self("bystander2@127.0.0.1", 1), d.Name, d.Cookie); err != nil {
					return err
				}
				n.Patience = testkit.Limit
				b.drop = func() { _ = n.Close(); n = nil }
			}
			_, err = n.Call("counter", wire.Atom("get"))
			return err
		})
	}
	turn := 0
	add("newcomer", func(*bystander) error {
		turn++
		self := raw.Self(fmt.Sprintf("newcomer%d@127.0.0.1", turn%4), uint32(turn+1))
		if d.Erlang != "" && (turn%2 == 0 || d.Native == "") {
			e, err := raw.DialErlang(d.Erlang, self, d.Cookie)
			if err != nil {
				return fmt.Errorf("erlang: %w", err)
			}
			defer func() { _ = e.Close() }()
			_, err = e.Call("counter", wire.Atom("get"))
			return err
		}
		n, err := raw.DialNative(d.Native, self, d.Name, d.Cookie)
		if err != nil {
			return fmt.Errorf("native: %w", err)
		}
		defer func() { _ = n.Close() }()
		_, err = n.Call("counter", wire.Atom("get"))
		return err
	})
	return bs
}

// run makes calls until stop.
func (b *bystander) run() {
	defer close(b.done)
	defer func() { b.drop() }()
	pause := 20 * time.Millisecond
	if b.name == "newcomer" {
		pause = 100 * time.Millisecond
	}
	for {
		select {
		case <-b.quit:
			return
		case <-time.After(pause):
		}
		begun := time.Now()
		b.mu.Lock()
		b.begun = begun
		b.mu.Unlock()
		err := b.ask(b)
		b.mu.Lock()
		b.worst = max(b.worst, time.Since(b.begun))
		b.begun = time.Time{}
		if err == nil {
			b.asked = begun
		} else if len(b.errs) < 5 {
			b.errs = append(b.errs, fmt.Sprintf("after %v: %v", time.Since(begun).Round(time.Millisecond), err))
		}
		b.mu.Unlock()
		if err != nil {
			b.drop()
			b.drop = func() {}
		}
	}
}

// reset forgets the measurements.
func (b *bystander) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.worst, b.errs = 0, nil
	if !b.begun.IsZero() {
		b.begun = time.Now()
	}
}

// since reports whether a call that began after at has been answered.
func (b *bystander) since(at time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked.After(at)
}

func (b *bystander) figures() (worst time.Duration, errs []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.worst, b.errs
}

func (b *bystander) lastError() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.errs) == 0 {
		return "no answer"
	}
	return b.errs[len(b.errs)-1]
}

// The building blocks of attacks.

// self returns the name of a node that no other node has heard of.
func (a *attempt) self() wire.NodeID {
	a.named++
	return raw.Self(fmt.Sprintf("x%d.%s@127.0.0.1", a.named, strings.Map(letter, a.T.Name()[strings.LastIndexByte(a.T.Name(),
		'/')+1:])), 1)
}

func letter(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
		return r
	}
	return -1
}

// dial connects to addr from source. The connection is closed after the attack.
func (a *attempt) dial(source, addr string) *raw.Conn {
	c, err := raw.DialFrom(source, addr)
	require.NoError(a, err)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.conns = append(a.conns, c)
	return c
}

// hangUp closes what dial has opened.
func (a *attempt) hangUp() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.conns {
		_ = c.Close()
	}
	a.conns = nil
}

// openErlang connects from an address of its own, and sends nothing yet.
func (a *attempt) openErlang() *raw.Erlang {
	return raw.NewErlang(a.dial(attacker, a.Erlang), a.self())
}

func (a *attempt) openNative() *raw.Native {
	return raw.NewNative(a.dial(attacker, a.Native), a.self(), a.Daemon.Name)
}

// attacker is the source address of attacks, where that must differ from the others'.
const attacker = "127.0.0.2"

// erlang connects with the cookie.
func (a *attempt) erlang() *raw.Erlang {
	e := a.openErlang()
	require.NoError(a, e.Handshake(a.Cookie))
	return e
}

func (a *attempt) native() *raw.Native {
	n := a.openNative()
	require.NoError(a, n.Handshake(a.Cookie))
	return n
}

// closes waits until the daemon closes a connection.
func (a *attempt) closes(c *raw.Conn, within time.Duration) []byte {
	begun := time.Now()
	b, ended := c.Rest(testkit.Limit)
	require.True(a, ended, "the connection is open after %v", testkit.Limit)
	a.inTime(within, begun, "the connection was closed")
	return b
}

// until waits for a condition of the daemon.
func (a *attempt) until(within time.Duration, fact func() bool, what string) {
	begun := time.Now()
	require.NoError(a, a.Until(testkit.Limit, fact), "%s", what)
	a.inTime(within, begun, what)
}

// timed reports whether times are judged. In make merge other tests run at the same time, and the events need only
// happen; the table has their times.
func timed() bool { return *all || testkit.At() == testkit.Night }

// inTime checks that something has taken at most within, as far as the machine permitted.
func (a *attempt) inTime(within time.Duration, begun time.Time, what string) {
	if timed() {
		require.LessOrEqual(a, time.Since(begun), machine.within(within, begun), "%s, but late", what)
	}
}

// untilUp waits until the daemon has a connection with a node, or has none. It reads the metrics, since the log leaves
// out lines if there are many of a kind.
func (a *attempt) untilUp(within time.Duration, name wire.Atom, up bool) {
	line := regexp.MustCompile(`peer_up\{peer="` + regexp.QuoteMeta(string(name)) + `",[^}]*\} 1\n`)
	a.until(within, func() bool {
		text, err := raw.Get(a.HTTP, "/metrics")
		return err == nil && line.MatchString(text) == up
	}, fmt.Sprintf("%s is connected: %v", name, up))
}

// log returns what has been logged since the row began.
func (a *attempt) log() string { return a.LogFrom(a.logAt) }

// several runs do n times, atOnce at a time, and waits.
func several(n, atOnce int, do func(i int)) {
	var wg sync.WaitGroup
	for w := range atOnce {
		wg.Go(func() {
			for i := w; i < n; i += atOnce {
				do(i)
			}
		})
	}
	wg.Wait()
}

func newUDP(addr string) (net.Conn, error) { return net.Dial("udp", addr) }
