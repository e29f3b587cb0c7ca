package cluster_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/deploy/cluster/internal/netem"
	"github.com/actornode/actornode/internal/testkit"
)

var (
	everything = flag.Bool("cluster.all", false, "run all faults, and write deploy/RESULTS.md")
	seed       = flag.Uint64("cluster.seed", 0, "seed of what happens to packets; 0: one by chance")
)

// tickTime is that of all nodes here. A silent peer is noticed after the tick time, plus or minus a quarter of it, as
// in OTP. On a busy machine it takes a little longer, and the fault needs a moment to begin.
const (
	tickTime = 8 * time.Second
	fastTick = 3 * time.Second
)

// row is a fault, with the promised and the observed effects. The victim is one of the nodes.
type row struct {
	name, promised string
	quick          bool // part of the short test
	tagged         bool // part of the short test once a version is tagged
	lost           end  // the end of the connection between the load and the victim
	fault          func(f *fault)

	own func(f *fault) (load *container) // prepares what only this row has; nil: nothing

	alerts, mayAlert []string // alerts for the victim that must fire, and those that may
	parted           bool     // each node misses others for long enough to cause an alert
}

// end says which connections end.
type end uint8

const (
	never end = iota
	once
	perhaps
	all // the connections of all nodes, one after another
)

// fault is a row that runs.
type fault struct {
	t      *testing.T
	s      *stack
	victim *container
	seed   uint64
	files  *certificates // of nodes that use TLS
}

// Alerts.
var (
	down    = []string{"ActornodeDown"}
	gone    = []string{"ActornodeGone"}
	missing = []string{"ActornodeNodesMissing"}
	alone   = []string{"ActornodeAlone"}
	held    = []string{"ActornodePeerHeld"}
	limits  = []string{"ActornodeLimitNear", "ActornodeLimitReached"}
)

var rows = []row{
	{name: "kill -9", quick: true, lost: once, fault: (*fault).kill,
		promised: "nodedown at once; calls fail with noconnection; what was on its way is lost; the node is back under its name"},
	{name: "stopped for 30 s", lost: once, alerts: gone, fault: (*fault).stop,
		promised: "nodedown at once: it says goodbye; the node is back under its name"},
	{name: "two nodes cut off from the others for 60 s", parted: true, fault: (*fault).part,
		promised: "each node says which it misses; all are connected again within the mesh's pause"},
	{name: "paused for 5 s", fault: func(f *fault) { f.pause(5 * time.Second) },
		promised: "shorter than the tick time of 8 s: nothing is noticed, nothing is lost"},
	{name: "paused for 90 s", lost: once, alerts: down, fault: func(f *fault) { f.pause(90 * time.Second) },
		promised: "nodedown after the tick time, 8 s ± 2 s; calls fail with noconnection"},
	{name: "off the network for 5 s", fault: func(f *fault) { f.cut(5 * time.Second) },
		promised: "shorter than the tick time: nothing is noticed, TCP sends again what is missing"},
	{name: "off the network for 15 s", quick: true, lost: once, mayAlert: alone,
		fault:    func(f *fault) { f.cut(15 * time.Second) },
		promised: "nodedown after the tick time, 8 s ± 2 s; calls fail with noconnection"},
	{name: "off the network for 90 s", lost: once, alerts: alone, fault: func(f *fault) { f.cut(90 * time.Second) },
		promised: "nodedown after the tick time, 8 s ± 2 s; calls fail with noconnection"},
	{name: "hears nothing for 20 s, but is heard", lost: once, mayAlert: alone, fault: func(f *fault) {
		f.bad(20*time.Second, netem.In, netem.Rule{Loss: 1})
	}, promised: "nodedown on both sides after the tick time, 8 s ± 2 s"},
	{name: "2% of packets lost", quick: true, fault: func(f *fault) { f.bad(10*time.Second, netem.Both, netem.Rule{Loss: 0.02}) },
		promised: "slower, nothing is noticed, nothing is lost"},
	{name: "20% of packets lost", lost: perhaps,
		fault:    func(f *fault) { f.bad(20*time.Second, netem.Both, netem.Rule{Loss: 0.2}) },
		promised: "slower; if TCP brings nothing for the tick time, nodedown"},
	{name: "200 ms ± 100 ms", fault: func(f *fault) {
		f.bad(15*time.Second, netem.Both, netem.Rule{Delay: 200 * time.Millisecond, Jitter: 100 * time.Millisecond})
	}, promised: "slower, nothing is noticed, nothing is lost"},
	{name: "a quarter of packets overtakes", fault: func(f *fault) {
		f.bad(15*time.Second, netem.Both, netem.Rule{Delay: 20 * time.Millisecond, Reorder: 0.25})
	}, promised: "no message in another order: TCP puts them into order"},
	{name: "1% of packets corrupted", fault: func(f *fault) { f.bad(15*time.Second, netem.Both, netem.Rule{Corrupt: 0.01}) },
		promised: "no message is wrong: TCP's checksum drops the packets"},
	{name: "1 Mbit/s", lost: perhaps, mayAlert: held,
		fault:    func(f *fault) { f.bad(15*time.Second, netem.Both, netem.Rule{Rate: 1_000_000}) },
		promised: "senders wait, other nodes are not held up; a peer that takes nothing for a quarter of the tick time is lost"},
	{name: "CPU quota of 10%", lost: perhaps, fault: func(f *fault) { f.slow(0.1) },
		promised: "the node is slow; other nodes are not held up"},
	{name: "CPU quota of 3%, less than it needs", lost: perhaps, mayAlert: down, fault: func(f *fault) { f.slow(0.03) },
		promised: "the node is slow; other nodes are not held up"},
	{name: "no file descriptors", mayAlert: down, fault: (*fault).full,
		promised: "connections stay; new ones wait until there are some again"},
	{name: "wall clock 1 h ahead, then 1 h behind", fault: (*fault).jumps,
		promised: "nothing is noticed, nothing is lost: what lasts is measured by the monotonic clock"},
	{name: "DNS answers gone", fault: (*fault).deaf,
		promised: "connections stay, and the nodes that were found stay known"},
	{name: "disk of the log full", own: (*fault).smallDisk, fault: (*fault).diskFull,
		promised: "the daemon goes on and counts the lines that it cannot write; it logs again when there is space"},
	{name: "memory short", alerts: limits, own: (*fault).limited, fault: (*fault).short,
		promised: "not ready above 85% of limits.memory; spawns of peers are refused; all else goes on, the kernel kills nothing"},
	{name: "more memory used than there is", mayAlert: limits[:1], lost: once, own: (*fault).started, fault: (*fault).beyond,
		promised: "the kernel kills the node: as kill -9"},
	{name: "another node of the same name on its host", fault: (*fault).namesake,
		promised: "EPMD refuses the second node, which ends; nothing is noticed, nothing is lost"},
	{name: "another node of the same name on another host", fault: (*fault).namesakeElsewhere,
		promised: "a peer keeps the newest connection; the two nodes try again less and less often; others notice nothing"},
	{name: "certificates and their authority replaced", own: (*fault).certified, fault: (*fault).recertify,
		promised: "connections stay, new ones use the new files; those that cannot be used change nothing"},
	{name: "old and new version together", tagged: true, own: (*fault).mixed, fault: (*fault).mix,
		promised: "nothing is noticed, nothing is lost"},
	{name: "paused for 15 s, tick time 3 s", lost: once, alerts: down, own: (*fault).quick,
		fault: func(f *fault) { f.pause(15 * time.Second) }, promised: "nodedown after the tick time, 3 s ± 0.75 s"},
	{name: "off the network for 15 s, tick time 3 s", lost: once, mayAlert: alone,
		own:   (*fault).quick,
		fault: func(f *fault) { f.cut(15 * time.Second) }, promised: "nodedown after the tick time, 3 s ± 0.75 s"},
	{name: "rolling restart of all nodes", quick: true, lost: all, fault: (*fault).rolling,
		promised: "each node drains; no call is lost that its client makes again on another node"},
	// The last row, since the load keeps the old cookie and could not connect again.
	{name: "cookie rotated by SIGHUP", quick: true, fault: (*fault).rotate,
		promised: "nothing is noticed, nothing is lost"},
}

// kill ends the process, which Docker restarts.
func (f *fault) kill() {
	require.NoError(f.t, syscall.Kill(f.victim.pid, syscall.SIGKILL))
	f.again()
}

// again waits until the container runs again, and looks up its address.
func (f *fault) again() {
	pid, name := f.victim.pid, f.victim.name
	until(f.t, func() string {
		if err := f.victim.find("go"); err != nil {
			return err.Error()
		} else if f.victim.pid == pid {
			return fmt.Sprintf("process %d of the container still runs", pid)
		}
		return ""
	})
	require.Equal(f.t, name, f.victim.name, "the container has its address again")
}

// stop stops the container, which Docker does not restart.
func (f *fault) stop() {
	f.s.run("stop", f.victim.id)
	f.hold(30 * time.Second)
	f.s.run("start", f.victim.id)
	f.again()
}

// part cuts the first two nodes off from all other nodes, but not from the load, nor from each other.
func (f *fault) part() {
	for _, rule := range []string{"-I", "-D"} {
		for _, c := range f.s.nodes[:2] {
			for _, other := range f.s.nodes[2:] {
				require.NoError(f.t, netem.Iptables(c.pid, rule, "OUTPUT", "-d", other.ip, "-p", "tcp", "--match", "multiport", "--ports",
					"4369:4371", "-j", "DROP"))
			}
		}
		if rule == "-I" {
			f.hold(time.Minute)
		}
	}
}

func (f *fault) pause(d time.Duration) {
	f.s.run("pause", f.victim.id)
	f.hold(d)
	f.s.run("unpause", f.victim.id)
}

// cut pulls the cable.
func (f *fault) cut(d time.Duration) { f.bad(d, netem.Both, netem.Rule{Loss: 1}) }

// bad makes the victim's network bad.
func (f *fault) bad(d time.Duration, which netem.Direction, rule netem.Rule) {
	l, err := netem.Start(netem.Config{PID: f.victim.pid, Ports: "4369:4371", Direction: which, Rule: rule, Seed: f.seed})
	require.NoError(f.t, err)
	f.hold(d)
	require.NoError(f.t, l.Stop())
	f.t.Logf("packets: %d have passed, %d of them corrupted, %d were lost", l.Passed.Load(), l.Corrupted.Load(), l.Lost.Load())
	if rule.Loss > 0 {
		assert.Positive(f.t, l.Lost.Load())
	}
	if rule.Loss < 1 {
		assert.Positive(f.t, l.Passed.Load())
	}
}

// slow leaves the victim a share of one CPU.
func (f *fault) slow(quota float64) {
	f.s.run("update", "--cpus", fmt.Sprint(quota), f.victim.id)
	before, err := f.victim.cpu()
	require.NoError(f.t, err)
	began := time.Now()
	f.hold(15 * time.Second)
	after, err := f.victim.cpu()
	require.NoError(f.t, err)
	share := (after - before) / time.Since(began).Seconds()
	f.t.Logf("it has used %.1f%% of a CPU", share*100)
	assert.Less(f.t, share, quota*1.5)
	f.s.run("update", "--cpus", strconv.Itoa(runtime.NumCPU()), f.victim.id)
}

// cpu returns how many seconds of a CPU the container's program has used.
func (c *container) cpu() (seconds float64, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	fields := strings.Fields(rest)
	for _, i := range []int{11, 12} { // utime, stime
		ticks, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return 0, err
		}
		seconds += ticks / 100
	}
	return seconds, nil
}

// full leaves the victim no file descriptor.
func (f *fault) full() {
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", f.victim.pid))
	require.NoError(f.t, err)
	before := regexp.MustCompile(`Max open files +(\d+)`).FindStringSubmatch(string(limits))
	require.NotNil(f.t, before, string(limits))
	f.descriptors("10") // it has more
	http.DefaultClient.CloseIdleConnections()
	_, err = f.victim.get("/livez")
	assert.Error(f.t, err, "a further connection")
	f.hold(10 * time.Second)
	f.descriptors(before[1])
	until(f.t, func() string {
		if _, err := f.victim.get("/livez"); err != nil {
			return err.Error()
		}
		return ""
	})
}

// descriptors sets how many files the victim may open. It runs as the victim's user, who may do it without privileges.
func (f *fault) descriptors(n string) {
	out, err := exec.Command("setpriv", "--reuid=65532", "--regid=65532", "--clear-groups",
		"prlimit", "--pid", strconv.Itoa(f.victim.pid), "--nofile="+n+":").CombinedOutput()
	require.NoError(f.t, err, string(out))
}

// deaf takes away the victim's DNS server.
func (f *fault) deaf() {
	drop := []string{"OUTPUT", "-d", "127.0.0.11", "-j", "DROP"}
	require.NoError(f.t, netem.Iptables(f.victim.pid, append([]string{"-I"}, drop...)...))
	f.hold(20 * time.Second) // discovery.dns.ttl is 5 s
	require.NoError(f.t, netem.Iptables(f.victim.pid, append([]string{"-D"}, drop...)...))
}

// rotate gives all nodes a new cookie.
func (f *fault) rotate() {
	f.s.cookie = fmt.Sprintf("NEWCOOKIE%d", f.seed)
	f.s.writeCookie(f.s.cookie)
	for _, c := range f.s.nodes {
		f.s.run("kill", "-s", "HUP", c.id)
	}
	for _, c := range f.s.nodes { // commands have the new one
		until(f.t, func() string {
			if _, err := c.cli("ping"); err != nil {
				return err.Error()
			}
			return ""
		})
	}
	f.hold(5 * time.Second)
}

// rolling restarts all nodes, each when the one before it is ready.
func (f *fault) rolling() {
	for i, c := range f.s.nodes {
		f.victim = c
		if i%2 == 0 { // as compose and Kubernetes do
			f.s.run("stop", c.id) // SIGTERM: drains
			assert.Equal(f.t, "0", f.s.run("inspect", "-f", "{{.State.ExitCode}}", c.id), "the exit status of %s", c.name)
			f.s.run("start", c.id)
		} else { // Docker restarts what has ended by itself
			out, err := c.cli("drain")
			assert.NoError(f.t, err)
			assert.Contains(f.t, out, "has drained")
			_, err = c.cli("stop")
			assert.NoError(f.t, err)
		}
		f.again()
		f.s.in(f.t).ready()
	}
}

// hold lets the fault last.
func (f *fault) hold(d time.Duration) {
	select {
	case <-time.After(d):
	case <-f.t.Context().Done():
	}
}

// report is the load's report about one target: see folder load.
type report struct {
	Asked, Answered, Withheld, GaveUp            int
	Failed                                       map[string]int
	Slowest                                      time.Duration
	Sent, Back, Skipped                          int
	Lost, LostWithout, Reordered, Doubled, Wrong int
	Violations                                   []string
	Changes                                      []struct {
		At     time.Time
		Up     bool
		Reason string
	}
	Connected bool
}

// add adds a later report.
func (r *report) add(x report) {
	for _, v := range []struct {
		to   *int
		more int
	}{{&r.Asked, x.Asked}, {&r.Answered, x.Answered}, {&r.Withheld, x.Withheld}, {&r.GaveUp, x.GaveUp}, {&r.Sent, x.Sent},
		{&r.Back, x.Back}, {&r.Skipped, x.Skipped}, {&r.Lost, x.Lost}, {&r.LostWithout, x.LostWithout},
		{&r.Reordered, x.Reordered}, {&r.Doubled, x.Doubled}, {&r.Wrong, x.Wrong}} {
		*v.to += v.more
	}
	if r.Failed == nil {
		r.Failed = make(map[string]int)
	}
	for k, n := range x.Failed {
		r.Failed[k] += n
	}
	r.Slowest = max(r.Slowest, x.Slowest)
	r.Violations, r.Changes = append(r.Violations, x.Violations...), append(r.Changes, x.Changes...)
	r.Connected = x.Connected
}

// startLoad starts the load. args are further options of docker run.
func (s *stack) startLoad(t testing.TB, args ...string) *container {
	var names []string
	for _, c := range s.nodes {
		names = append(names, c.name)
	}
	all := []string{"run", "-d", "--network", s.network(), "--user", "65532:65532", "--cap-drop", "ALL",
		"-v", s.dir + "/cookie:/cookie:ro",
		"-e", "LOAD_COOKIE_FILE=/cookie", "-e", "LOAD_TICK_TIME=" + tickTime.String(), "-e", "LOAD_NODES=" + strings.Join(names, ",")}
	id := s.run(append(append(all, args...), s.load)...)
	t.Cleanup(func() { s.try("rm", "-f", id) })
	l := s.look(id, "load")
	until(t, func() string {
		if got, err := l.take(); err != nil || !healthy(got) {
			return fmt.Sprint("the load does not run: ", err, s.logs(l))
		}
		return ""
	})
	return l
}

// take takes the report of all targets, by name.
func (c *container) take() (map[string]report, error) {
	text, err := c.get("/take")
	if err != nil {
		return nil, err
	}
	var all map[string]report
	return all, json.Unmarshal([]byte(text), &all)
}

// healthy reports whether nothing has failed, and all targets have answered.
func healthy(all map[string]report) bool {
	for _, r := range all {
		if !r.Connected || r.Answered == 0 || r.Back == 0 || len(r.Failed) > 0 {
			return false
		}
	}
	return len(all) > 0
}

// size is what a node uses.
type size struct{ goroutines, memory float64 }

func (c *container) size() (z size, err error) {
	if z.goroutines, err = c.metric("go_goroutines"); err != nil {
		return z, err
	}
	z.memory, err = c.metric("go_memstats_heap_inuse_bytes")
	return z, err
}

// testFaults runs the rows.
func (s *stack) testFaults(t *testing.T) {
	for _, program := range []string{"nsenter", "iptables", "setpriv", "prlimit"} {
		testkit.Program(t, testkit.Merge, program)
	}
	x := s.in(t)
	x.load = x.loadImage()
	prometheus := ""
	if *everything {
		prometheus = x.prometheusImage()
		x.prometheus = x.startPrometheus(t, prometheus, alertAfter)
	}
	var load *container // nil: none runs
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("seed %d", *seed)
	outer := t
	var seen []string
	for i, r := range rows {
		if !r.quick && !*everything && !(r.tagged && lastVersion() != "") {
			if r.tagged {
				t.Logf("no version is tagged: the row %q is left to make night", r.name)
			}
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			defer func() {
				if t.Skipped() {
					seen = append(seen, fmt.Sprintf("| %s | %s | not run |  |  |  |  |  |  |  |  |", r.name, r.promised))
				}
			}()
			f := &fault{t: t, s: x.in(t), victim: s.nodes[i%len(s.nodes)], seed: *seed + uint64(i)}
			if r.own != nil && load != nil { // two loads are too much for a small machine
				x.run("rm", "-f", load.id)
				load = nil
			}
			f.s.ready()
			if r.own == nil && load == nil {
				load = x.startLoad(outer)
			}
			used := load
			if r.own != nil {
				used = r.own(f)
			}
			if *everything && f.s.prometheus == nil { // a row's own nodes are in a network of their own
				f.s.prometheus = f.s.startPrometheus(f.t, prometheus, alertAfter)
			}
			line := f.run(r, used)
			t.Log(line)
			seen = append(seen, line)
		})
	}
	if *everything && len(seen) == len(rows) {
		writeResults(t, seen)
	}
}

// run runs a row, and returns its line of the table.
func (f *fault) run(r row, load *container) string {
	t, s := f.t, f.s
	require.NoError(t, f.victim.find("go")) // Docker may have restarted it meanwhile
	s.nodes = slices.Clone(s.nodes)
	before := make(map[string]size)
	for _, c := range append(slices.Clone(s.nodes), load) {
		z, err := c.size()
		require.NoError(t, err)
		before[c.name] = z
	}
	_, err := load.take()
	require.NoError(t, err)
	began := time.Now()
	r.fault(f)
	ended := time.Now()
	total := make(map[string]report)
	until(t, func() string {
		got, err := load.take()
		if err != nil {
			return err.Error()
		}
		for name, x := range got {
			sum := total[name]
			sum.add(x)
			total[name] = sum
		}
		if !healthy(got) {
			return fmt.Sprintf("it has not recovered: %+v", got[f.victim.name])
		}
		return ""
	})
	recovered := time.Since(ended)
	f.settled(append(slices.Clone(s.nodes), load), before)
	alerts := f.alerted(r, began)
	last, err := load.take() // judged later, too
	require.NoError(t, err)
	for name, x := range last {
		sum := total[name]
		sum.add(x)
		total[name] = sum
	}

	var every report
	for name, x := range total {
		every.add(x)
		assert.Empty(t, x.Violations, name)
		assert.Zero(t, x.Reordered+x.Doubled+x.Wrong+x.LostWithout, "%s: %+v", name, x)
		assert.Zero(t, x.GaveUp, "%s: calls that failed on every node", name)
		touched := r.lost == all || r.lost != never && name == f.victim.name
		if touched {
			continue
		}
		assert.Empty(t, x.Changes, "%s has nothing to do with it", name)
		assert.Zero(t, x.Lost, name)
		assert.Empty(t, x.Failed, name)
	}
	noticed := "—"
	changes := total[f.victim.name].Changes
	if r.lost == once && assert.NotEmpty(t, changes, "the end of the connection is noticed") {
		assert.False(t, changes[0].Up)
		took := changes[0].At.Sub(began)
		noticed = took.Round(10 * time.Millisecond).String()
	}
	for _, c := range changes {
		if !c.Up && r.lost == perhaps {
			noticed = c.At.Sub(began).Round(10 * time.Millisecond).String()
			break
		}
	}
	var failed []string
	for _, k := range slices.Sorted(maps.Keys(every.Failed)) {
		failed = append(failed, fmt.Sprintf("%d %s", every.Failed[k], k))
	}
	if len(failed) == 0 {
		failed = []string{"none"}
	}
	d := time.Since(began).Seconds()
	return fmt.Sprintf("| %s | %s | %d (%.0f/s) | %s | %d | %.0f/s | %d | %s | %s | %s | %s |", r.name, r.promised, every.Answered,
		float64(every.Answered)/d, strings.Join(failed, ", "), every.GaveUp, float64(every.Sent)/d, every.Lost, noticed,
		recovered.Round(10*time.Millisecond), every.Slowest.Round(time.Millisecond), alerts)
}

// settled waits until goroutines and memory are about what they were before.
func (f *fault) settled(all []*container, before map[string]size) {
	for _, c := range all {
		until(f.t, func() string {
			z, err := c.size()
			was := before[c.name]
			if err != nil || z.goroutines > was.goroutines*1.2+50 || z.memory > was.memory*2+64<<20 {
				return fmt.Sprintf("%s has %+v after %+v: %v", c.name, z, was, err)
			}
			return ""
		})
	}
}

// writeResults writes the table.
func writeResults(t *testing.T, lines []string) {
	var b strings.Builder
	version, _ := os.ReadFile("/proc/version")
	kernel := regexp.MustCompile(`Linux version \d+\.\d+`).FindString(string(version))
	fmt.Fprintf(&b, `# The cluster in containers, through every fault

Written by `+"`make night PARTS=cluster`"+` on %s; %s/%s, %d CPUs, %s; seed %d.
Five nodes of the compose file in containers of one machine, with a tick time of %v. The load is a sixth Go node that is to make
5,000 calls and 20,000 sends a second, to all of them. Rates are means over the row, with the fault in it.

- Failed: attempts at a call that have failed, by error. Lost calls: those that have failed on every node that the client tried.
- Lost messages: of all that were sent. None came twice, or in another order, and none that was sent while connected was lost
  without the end of its connection: that would fail the test. So would the end of a connection that the fault is not for.
- Noticed: from the fault to the first NodeDown in the load. Recovered: from the end of the fault until all nodes answer again.
- Where a row names another tick time, or is of the disk or of certificates, three nodes of its own are the cluster.
- Alerts: those of deploy/prometheus/rules.yaml that have fired for the node that the fault is for, in Prometheus, which looks
  each second, after %v in place of minutes. An alert for another node, or one that is not for that fault, would fail the test.
- After each row goroutines and memory of all nodes are back to what they were; else the test fails.

| fault | promised | calls answered | failed | lost calls | sends | lost messages | noticed | recovered | slowest call | alerts |
|---|---|---|---|---|---|---|---|---|---|---|
`, time.Now().UTC().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), kernel,
		*seed, tickTime, alertAfter)
	for _, l := range lines {
		b.WriteString(l + "\n")
	}
	file, err := filepath.Abs("../RESULTS.md")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
}
