package command

import (
	"bufio"
	"context"
	"flag"
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

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/internal/vet"
)

// TestMain lets the test binary act as the program when it is called as such: a real shell plays sessions, with real
// processes.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "actornode" || vet.IsTool(os.Args[1:]) {
		os.Args = patient(os.Args)
		Main(Program{})
	}
	time.Local = time.UTC // printed times are compared
	flag.Parse()
	if flag.Lookup("test.parallel").Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) { // the flag is at its default
		flag.Set("test.parallel", "8") // the tests wait for daemons more than they compute
	}
	os.Exit(m.Run())
}

// patient makes a command that talks to a node wait for testkit.Limit, unless it sets a time itself: a machine may be
// busy.
func patient(args []string) []string {
	clients := []string{"status", "ps", "tree", "info", "nodes", "deadletters", "top", "trace", "call", "send", "rpc", "spawn",
		"kill", "ping",
		"register", "unregister", "connect", "disconnect", "stop", "drain", "level"}
	at := slices.IndexFunc(args[:min(3, len(args))], func(arg string) bool { return slices.Contains(clients, arg) })
	if at < 0 || args[1] != "log" && at > 1 ||
		slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--timeout") }) {
		return args
	}
	return slices.Insert(slices.Clone(args), at+1, "--timeout="+testkit.Limit.String())
}

// cliTest is a place where programs run that know of nothing else on this machine: a home, a port mapper's port, and
// actornode on the PATH.
type cliTest struct {
	home string
	env  []string
}

func newCLITest(t *testing.T) *cliTest {
	self, err := os.Executable()
	require.NoError(t, err)
	home := t.TempDir()
	require.NoError(t, os.Mkdir(home+"/bin", 0o755))
	require.NoError(t, os.Symlink(self, home+"/bin/actornode"))
	s := &cliTest{home: home}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name == "PATH" || name == "GOCOVERDIR" || name == "TMPDIR" {
			s.env = append(s.env, v)
		}
	}
	s.env = append(s.env, "PATH="+home+"/bin:"+os.Getenv("PATH"), "HOME="+home, "TZ=UTC", "LANG=C.UTF-8",
		"ERL_EPMD_PORT="+reserve(t), "ACTORNODE_COOKIE=secret", "ERL_CRASH_DUMP=/dev/null",
		"ACTORNODE_CONNECT_TIMEOUT="+testkit.Limit.String(), "ACTORNODE_DRAIN_TIMEOUT="+testkit.Limit.String())
	return s
}

// command returns a program in this place, as a process that ends with the test. One that hangs prints its stacks.
func (s *cliTest) command(t *testing.T, name string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(t.Context(), 3*testkit.Limit)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, name, args...)
	if name == "actornode" {
		cmd.Path, cmd.Err = s.home+"/bin/actornode", nil
	}
	cmd.Env, cmd.Dir = s.env, s.home
	cmd.Cancel = func() error {
		if t.Context().Err() == nil {
			return cmd.Process.Signal(syscall.SIGQUIT) // if it hangs, it prints the stacks of its goroutines
		}
		return cmd.Process.Signal(syscall.SIGTERM)
	}
	cmd.WaitDelay = 10 * time.Second // then it is killed: the test is over, and does not fail
	return cmd
}

// daemon starts a daemon and returns when it is up.
func (s *cliTest) daemon(t *testing.T, args ...string) *exec.Cmd {
	cmd := s.command(t, "actornode", append([]string{"start"}, args...)...)
	var log logtest.Text
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		err := cmd.Wait() // the end of the test's context tells it to stop
		if cmd.ProcessState.ExitCode() != exitOK {
			t.Logf("the daemon has ended by %v (%v)", cmd.ProcessState, err)
		}
		if t.Failed() {
			t.Log(log.String())
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err, log.String())
	require.Contains(t, line, " is up")
	return cmd
}

// masks are the patterns of what differs from run to run.
var masks = []struct {
	what *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`cli-\d+-[0-9a-f]{4}`), "cli"},
	{regexp.MustCompile(`(<|\\u003c)([a-z]+@[0-9.]+)\.\d+\.\d+(>|\\u003e)`), "<$2.PID>"},
	{regexp.MustCompile(`\b\d+\.\d+\.[0-9a-z]{4,7}\b`), "PID"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?`), "MOMENT"},
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d(\.\d+)?`), "CLOCK"},
	{regexp.MustCompile(`(127\.0\.0\.\d|\[::1\]):\d{2,5}\b`), "$1:PORT"},
	{regexp.MustCompile(`\b\d+(\.\d)? ([KMG]i)?B\b`), "SIZE"},
	{regexp.MustCompile(`\b(\d+d\d+h|\d+h\d+m|\d+m\d+s|\d+(\.\d+)?(s|ms|µs))( ago| since|\s|$)`), "SPAN$4"},
	{regexp.MustCompile(`creation \d+, process \d+`), "creation N, process N"},
	{regexp.MustCompile(`\bgo1\.\S+ \S+/\S+`), "GO OS"},
	{regexp.MustCompile(`"(pid|creation|uptime|age|total|objects|stacks|cycles|paused|runnable|run_queue|goroutines|cpus|handled|stage|stages|bytes_in|bytes_out|frames_in|frames_out|silent|took)":[0-9.e+]+`), `"$1":N`},
	{regexp.MustCompile(`"(processes|max_processes|names|lingering|dead_letters)":[0-9]+`), `"$1":N`},
	{regexp.MustCompile(`(?m)^(Processes|Messages|Dead letters|Stages|Goroutines|Memory)  .*`), "$1  …"},
	{regexp.MustCompile(`of \d+: see --limit`), "of N: see --limit"},
	{regexp.MustCompile(`processes outside of all trees: \d+`), "processes outside of all trees: N"},
	{regexp.MustCompile(`(?m)^(Listens|Version)  .*`), "$1  …"},
	{regexp.MustCompile(`"listeners":\[[^]]*\]`), `"listeners":[…]`},
	{regexp.MustCompile(` (erlang|native) `), " PROTOCOL "},
	{regexp.MustCompile(`(?m)^Stage  +\d+`), "Stage  N"},
	{regexp.MustCompile(`"loose":\d+`), `"loose":N`},
	{regexp.MustCompile(`"(go|os|version)":"[^"]*"`), `"$1":"…"`},
}

// masked removes what differs from run to run, and with it the widths of columns.
func masked(text string) string {
	for _, m := range masks {
		text = m.what.ReplaceAllString(text, m.by)
	}
	text = regexp.MustCompile(`(\S)   +`).ReplaceAllString(text, "$1  ")
	text = regexp.MustCompile(`\n\n+`).ReplaceAllString(text, "\n") // an empty line ends nothing
	return text
}

// play runs the lines of a session that start with "$ " in a shell. It returns the session with the new output.
func (s *cliTest) play(t *testing.T, session string) string {
	var b strings.Builder
	for line := range strings.Lines(session) {
		switch {
		case strings.HasPrefix(line, "$ "):
			b.WriteString(line)
			b.WriteString(masked(strings.ReplaceAll(s.shell(t, strings.TrimPrefix(line, "$ ")), s.home, "HOME")))
		case strings.HasPrefix(line, "# ") || line == "\n":
			b.WriteString(line)
		}
	}
	return b.String()
}

// golden compares text with a file, which -update rewrites.
func golden(t *testing.T, file, text string) {
	if erltest.Updating() {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run the test with -update to make it")
	assert.Equal(t, string(want), text, "%s: run the test with -update if that is what is meant", file)
}

// eventually waits for what another process does.
func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	testkit.UntilEvery(t, 20*time.Millisecond, func() string {
		if done() {
			return ""
		}
		return "not yet: " + what
	})
}

// noRefs masks references.
func noRefs(text string) string {
	return regexp.MustCompile(`#Ref<[^>]*>`).ReplaceAllString(text, "#Ref<…>")
}
