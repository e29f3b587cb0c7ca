package raw

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/porttest"
	"github.com/actornode/actornode/wire"
)

// Cookie is the default cookie of a [Daemon].
const Cookie = "an-attack-does-not-know-this"

// Options configures a [Daemon]. The zero value is a node go@127.0.0.1 with the demo and HTTP, and with its own port
// mapper.
type Options struct {
	Name   string   // NAME@HOST; default go@127.0.0.1
	Cookie string   // default Cookie; passed in the environment
	Args   []string // of actornode start, in addition to those for the other fields
	Config string   // content of the file for --config; "" for none
	Env    []string // NAME=VALUE, in addition to PATH and those for the other fields
	// Program is the file of the program; default: cmd/actornode, built by Build.
	Program string
	// Wrap is a command in front of the daemon's, such as unshare --time. It must exec its arguments.
	Wrap []string
	// Files is the limit of open files, Space that of the address space in KiB; 0 keeps the test's limit.
	Files, Space int
	// EPMD is the port of the port mapper; 0 means a free port, where the daemon itself becomes the port mapper.
	EPMD int
	// Stderr receives the log; nil keeps it for Log. If it is an *os.File, the daemon writes to it directly.
	Stderr io.Writer
	Bare   bool // no --demo and no --http
	Gossip bool // gossip on a free port
	// HTTP is the value for Daemon.HTTP if Args set the address and the log is not kept.
	HTTP string
	// Prepare, if set, may change the other options, and register cleanups of the test. Started is called after the start
	// of the process.
	Prepare func(t testing.TB, o *Options)
	Started func()
	// Within bounds the start of the daemon; default 2 minutes.
	Within time.Duration
}

// Daemon is a running actornode in a separate process. It ends with the test.
type Daemon struct {
	Name   wire.Atom
	Cookie string
	PID    int
	EPMD   string // HOST:PORT of its port mapper
	Erlang string // HOST:PORT of its listener for the Erlang distribution protocol, or ""
	Native string // HOST:PORT of its listener for the native protocol, or ""
	HTTP   string // HOST:PORT, or ""
	Gossip string // HOST:PORT, over TCP and UDP, or ""

	cmd   *exec.Cmd
	stdin io.Closer
	out   buffer // standard output
	log   buffer // standard error
	ended chan struct{}
	err   error // of the process, when ended is closed
}

// buffer is text that one goroutine writes and others read.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
	n  int // bytes in all
}

// kept is how much of a daemon's output is kept, from its beginning.
const kept = 64 << 20

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n += len(p)
	b.b.Write(p[:min(len(p), kept-min(kept, b.b.Len()))])
	return len(p), nil
}

func (b *buffer) from(at int) (string, int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.b.Bytes()[min(at, b.b.Len()):]), b.n
}

// built is the program, built once per test process.
var built struct {
	once sync.Once
	dir  string
	path string
	err  error
}

// Build builds the program cmd/actornode once, and returns its path. It skips the test below make merge, since an uncached
// build takes a minute. If the variable ACTORNODE_BINARY is set, it returns that file instead, for example one built with
// -race.
func Build(t testing.TB) string {
	t.Helper()
	testkit.From(t, testkit.Merge, "a daemon, which is compiled")
	built.once.Do(func() {
		if built.path = os.Getenv("ACTORNODE_BINARY"); built.path != "" {
			return
		}
		if built.dir, built.err = os.MkdirTemp("", "attack"); built.err != nil {
			return
		}
		built.path = filepath.Join(built.dir, "actornode")
		out, err := exec.Command("go", "build", "-pgo=off", "-o", built.path,
			"github.com/actornode/actornode/cmd/actornode").CombinedOutput()
		if err != nil {
			built.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

// Main runs the tests of a package and removes the result of Build. It is for TestMain.
func Main(m *testing.M) (code int) {
	defer func() {
		if built.dir != "" {
			_ = os.RemoveAll(built.dir)
		}
	}()
	return m.Run()
}

// Start starts a daemon and waits until it is up, or fails the test. The daemon ends with the test.
func Start(t testing.TB, o Options) *Daemon {
	t.Helper()
	d, err := TryStart(t, o)
	if err != nil {
		t.Fatalf("%v\n%s", err, d.Log())
	}
	return d
}

// TryStart is Start for daemons that may fail to start: the error tells how it ended.
func TryStart(t testing.TB, o Options) (*Daemon, error) {
	t.Helper()
	if o.Prepare != nil {
		o.Prepare(t, &o)
	}
	if o.Name == "" {
		o.Name = "go@127.0.0.1"
	}
	if o.Cookie == "" {
		o.Cookie = Cookie
	}
	if o.EPMD == 0 {
		o.EPMD = porttest.Reserve(t)
	}
	d := &Daemon{Name: wire.Atom(o.Name), Cookie: o.Cookie, EPMD: fmt.Sprint("127.0.0.1:", o.EPMD), ended: make(chan struct{})}
	dir := t.TempDir()
	args := []string{"start", "--name", o.Name, "--until-eof"}
	if !o.Bare {
		args = append(args, "--demo", "--http", "127.0.0.1:0")
	}
	if o.Gossip {
		d.Gossip = fmt.Sprint("127.0.0.1:", porttest.Reserve(t))
		args = append(args, "--gossip", d.Gossip)
	}
	if o.Config != "" {
		file := filepath.Join(dir, "actornode.yaml")
		if err := os.WriteFile(file, []byte(o.Config), 0o600); err != nil {
			return d, err
		}
		args = append(args, "--config", file)
	}
	if o.Program == "" {
		o.Program = Build(t)
	}
	line := append(append([]string{o.Program}, args...), o.Args...)
	line = append(append([]string{}, o.Wrap...), line...)
	if limits := ulimits(o); limits != "" {
		line = append([]string{"/bin/sh", "-c", limits + ` && exec "$0" "$@"`}, line...)
	}
	d.cmd = exec.Command(line[0], line[1:]...)
	d.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "ACTORNODE_COOKIE=" + o.Cookie,
		fmt.Sprint("ERL_EPMD_PORT=", o.EPMD), "ERL_EPMD_ADDRESS=127.0.0.1"}, o.Env...)
	d.cmd.Dir = dir
	d.cmd.Stdout, d.cmd.Stderr = &d.out, &d.log
	if o.Stderr != nil {
		d.cmd.Stderr = o.Stderr
	}
	var err error
	if d.stdin, err = d.cmd.StdinPipe(); err != nil {
		return d, err
	}
	if err := d.cmd.Start(); err != nil {
		return d, err
	}
	d.PID = d.cmd.Process.Pid
	go d.watch()
	if o.Started != nil {
		o.Started()
	}
	t.Cleanup(func() { d.Kill() })
	if o.Within == 0 {
		o.Within = 2 * time.Minute
	}
	return d, d.up(o)
}

func ulimits(o Options) string {
	var l []string
	if o.Files > 0 {
		l = append(l, fmt.Sprint("ulimit -n ", o.Files))
	}
	if o.Space > 0 {
		l = append(l, fmt.Sprint("ulimit -v ", o.Space))
	}
	return strings.Join(l, " && ")
}

// watch waits for the end of the process. Kill and Stop wait for it.
func (d *Daemon) watch() {
	d.err = d.cmd.Wait()
	close(d.ended)
}

var (
	isUp    = regexp.MustCompile(`is up at (\S+)`)
	serving = regexp.MustCompile(`msg="serving health checks and metrics over HTTP" addr=(\S+)`)
)

// up waits for the log line that reports the start, and finds the ports.
func (d *Daemon) up(o Options) error {
	err := d.Until(o.Within, func() bool { out, _ := d.out.from(0); return isUp.MatchString(out) })
	if err != nil {
		return err
	}
	if !o.Bare && o.Stderr == nil { // they arrive through different pipes
		said := func() bool { return serving.MatchString(d.Log()) }
		if err := d.Until(o.Within, said); err != nil {
			return fmt.Errorf("the log does not say where HTTP is served: %w", err)
		}
	}
	log := d.Log()
	d.HTTP = o.HTTP
	if m := serving.FindStringSubmatch(log); m != nil {
		d.HTTP = m[1]
	}
	base, _, _ := strings.Cut(o.Name, "@")
	e, err := DialEPMD(d.EPMD)
	if err != nil {
		return nil // a node without EPMD: its callers know the ports
	}
	defer func() { _ = e.Close() }()
	a, err := e.Lookup(base)
	if err != nil || a.Result != 0 {
		return nil
	}
	if a.Registration.Port > 0 && !bytes.Contains(a.Registration.Extra, []byte("erlang=0")) {
		d.Erlang = net.JoinHostPort("127.0.0.1", strconv.Itoa(int(a.Registration.Port)))
	}
	for field := range strings.SplitSeq(string(a.Registration.Extra), ",") {
		if port, ok := strings.CutPrefix(field, "native="); ok {
			d.Native = net.JoinHostPort("127.0.0.1", port)
		}
	}
	return nil
}

// Until waits until fact returns true. It returns an error if the daemon ends or the time is over before.
func (d *Daemon) Until(within time.Duration, fact func() bool) error {
	for end := time.Now().Add(within); ; {
		if fact() {
			return nil
		}
		select {
		case <-d.ended:
			if fact() {
				return nil
			}
			return fmt.Errorf("raw: the daemon has ended: %w", errors.Join(d.err, errors.New(lastLine(d.Log()))))
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(end) {
			return fmt.Errorf("raw: not within %v", within)
		}
	}
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// Log returns the daemon's standard error, if kept; at most 64 MiB.
func (d *Daemon) Log() string { s, _ := d.log.from(0); return s }

// LogFrom is Log from a byte offset returned by LogSize.
func (d *Daemon) LogFrom(at int) string { s, _ := d.log.from(at); return s }

// LogSize returns the number of bytes written to standard error.
func (d *Daemon) LogSize() int { _, n := d.log.from(0); return n }

// Output returns the daemon's standard output.
func (d *Daemon) Output() string { s, _ := d.out.from(0); return s }

// Lives reports whether the process is running.
func (d *Daemon) Lives() bool {
	select {
	case <-d.ended:
		return false
	default:
		return true
	}
}

// Ended is closed when the process has ended.
func (d *Daemon) Ended() <-chan struct{} { return d.ended }

// State returns how the process ended, or nil if it is running.
func (d *Daemon) State() *os.ProcessState {
	if d.Lives() {
		return nil
	}
	return d.cmd.ProcessState
}

// Signal sends a signal to the process.
func (d *Daemon) Signal(s syscall.Signal) error { return d.cmd.Process.Signal(s) }

// Kill ends the process at once and waits for it.
func (d *Daemon) Kill() {
	_ = d.cmd.Process.Kill()
	_ = d.stdin.Close()
	<-d.ended
}

// Stop ends the daemon by closing its standard input, and waits at most the given time.
func (d *Daemon) Stop(within time.Duration) error {
	_ = d.stdin.Close()
	select {
	case <-d.ended:
		return d.err
	case <-time.After(within):
		return fmt.Errorf("raw: the daemon has not stopped within %v", within)
	}
}

// Figures are measurements of a process by the system.
type Figures struct {
	RSS, Peak int64 // bytes of memory: now, and the peak
	Threads   int
	Files     int // open
}

// Figures reads them from /proc. All are 0 without /proc, or after the process has ended.
func (d *Daemon) Figures() (f Figures) {
	dir := fmt.Sprint("/proc/", d.PID)
	status, _ := os.ReadFile(dir + "/status")
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			f.RSS = n << 10
		case "VmHWM":
			f.Peak = n << 10
		case "Threads":
			f.Threads = int(n)
		}
	}
	files, _ := os.ReadDir(dir + "/fd")
	f.Files = len(files)
	return f
}

// ResetPeak resets Figures.Peak to the current value.
func (d *Daemon) ResetPeak() error {
	return os.WriteFile(fmt.Sprint("/proc/", d.PID, "/clear_refs"), []byte("5"), 0)
}

// Metric returns a value of /metrics without labels, or with the labels in name. It returns an error if there is none.
func (d *Daemon) Metric(name string) (float64, error) {
	text, err := Get(d.HTTP, "/metrics")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("raw: no metric %s", name)
}
