package interop

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/epmdtest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/wire"
)

// fewest is how many checks the programs for C and Java nodes make of a target, together with those of erl_call.
const fewest = 57

// TestForeign lets C and Java nodes, by the libraries of the installed OTP, judge a node: the daemon, hidden and
// published, and OTP before that. See foreign/.
func TestForeign(t *testing.T) {
	r := findReleases(t)[0]
	cnode, java := compileC(t, r), compileJava(t, r)
	r.compile(t)
	daemon := buildDaemon(t)
	for _, c := range []struct {
		name string
		demo func(t *testing.T, s *stand) *exec.Cmd
	}{
		{"oracle", func(t *testing.T, s *stand) *exec.Cmd { return r.demo(t, s.name, s.port) }},
		{"actornode", func(t *testing.T, s *stand) *exec.Cmd { return demoOf(t, daemon, s.name, s.port) }},
		{"published", func(t *testing.T, s *stand) *exec.Cmd { return demoOf(t, daemon, s.name, s.port, "--published") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &stand{release: r, name: "target@127.0.0.1", port: epmdtest.Serve(t, "127.0.0.1").Port}
			s.start(t, c.demo(t, s))
			res := result{row: c.name, checks: erlCall(t, s)}
			for _, cmd := range []*exec.Cmd{cnode(t, s.port, s.name, "judge"), java(t, s.port, s.name, "judge")} {
				s.drive(t, &res, cmd)
			}
			for _, check := range res.checks {
				if check.word != "ok" {
					t.Error(check)
				}
			}
			assert.GreaterOrEqual(t, len(res.checks), fewest)
			t.Logf("\n%s", table([]result{res}))
		})
	}
}

// foreigner makes the command of a C or Java node that judges a target, or serves it.
type foreigner func(t *testing.T, port int, target, do string) *exec.Cmd

// compileC compiles the C node with the erl_interface of the release.
func compileC(t *testing.T, r *release) foreigner {
	cc := testkit.Program(t, testkit.Merge, "cc")
	testkit.Program(t, testkit.Merge, "erl_call")
	root := r.library(t, "erl_interface")
	program := filepath.Join(t.TempDir(), "cnode")
	out, err := exec.CommandContext(t.Context(), cc, "-Wall", "-Werror", "-o", program, "foreign/cnode.c", "-I", filepath.Join(root, "include"),
		"-L", filepath.Join(root, "lib"), "-lei", "-lpthread").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return func(t *testing.T, port int, target, do string) *exec.Cmd {
		return foreign(t, port, program, target, cookie, do)
	}
}

// compileJava compiles the Java node with the jinterface of the release.
func compileJava(t *testing.T, r *release) foreigner {
	javac := testkit.Program(t, testkit.Merge, "javac")
	jar := filepath.Join(r.library(t, "jinterface"), "priv", "OtpErlang.jar")
	dir := t.TempDir()
	out, err := exec.CommandContext(t.Context(), javac, "-Xlint:all", "-Werror", "-cp", jar, "-d", dir, "foreign/Foreign.java").CombinedOutput()
	require.NoError(t, err, "%s", out)
	path := jar + string(os.PathListSeparator) + dir
	return func(t *testing.T, port int, target, do string) *exec.Cmd {
		return foreign(t, port, "java", "-cp", path, "Foreign", target, cookie, do)
	}
}

func foreign(t *testing.T, port int, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = environ(port)
	return cmd
}

// library returns the folder of a library of the release; the test is skipped where it is not installed.
func (r *release) library(t *testing.T, name string) string {
	out, err := r.command(t.Context(), "erl", "-noshell", "-eval",
		fmt.Sprintf(`case code:lib_dir(%s) of {error, _} -> ok; D -> io:put_chars(D) end, halt().`, name)).Output()
	require.NoError(t, err)
	if len(out) == 0 {
		t.Skipf("not installed: %s", name)
	}
	return string(out)
}

// erlCall lets OTP's erl_call call the target in each of the ways that it can connect.
func erlCall(t *testing.T, s *stand) (all []check) {
	for _, c := range []struct {
		name   string
		cookie string
		args   []string
		want   string // of the output; "": it must fail
	}{
		{"its name", cookie, []string{"-name", s.name, "-a", "erlang node []"}, "'" + s.name + "'"},
		{"a function with arguments", cookie, []string{"-name", s.name, "-a", "demo add [1,2]"}, "3"},
		{"a hidden name of its own", cookie, []string{"-h", "caller", "-name", s.name, "-a", "erlang nodes [hidden]"}, "[caller@"},
		{"a random name", cookie, []string{"-r", "-name", s.name, "-a", "demo add [1,2]"}, "3"},
		{"a dynamic name", cookie, []string{"-R", "-name", s.name, "-a", "erlang nodes [hidden]"}, "["},
		{"a server", cookie, []string{"-R", "-name", s.name, "-a", "gen_server call [echo,hello]"}, "hello"},
		{"a wrong cookie", "wrong", []string{"-name", s.name, "-a", "erlang node []"}, ""},
	} {
		cmd := foreign(t, s.port, "erl_call", append([]string{"-c", c.cookie, "-timeout", strconv.Itoa(int(testkit.Limit / time.Second))}, c.args...)...)
		out, err := cmd.Output()
		one := check{"ok", "erl_call", c.name}
		if (err == nil) != (c.want != "") || !strings.HasPrefix(strings.ReplaceAll(string(out), "['", "["), c.want) {
			one = check{"FAILED", "erl_call", fmt.Sprintf("%s | %v, it prints %q", c.name, err, out)}
		}
		all = append(all, one)
	}
	return all
}

// TestForeignServers lets a node of this program call, ping, monitor, link and leave C and Java nodes.
func TestForeignServers(t *testing.T) {
	r := findReleases(t)[0]
	for name, c := range map[node.Atom]struct {
		start foreigner
		links bool // it has processes of its own that can be linked
	}{
		"c@127.0.0.1": {compileC(t, r), false}, "j@127.0.0.1": {compileJava(t, r), true},
	} {
		t.Run(string(name), func(t *testing.T) {
			mapper := epmdtest.Serve(t, "127.0.0.1")
			log := new(logtest.Text)
			n := nodetest.Start(t, node.Config{Name: "go@127.0.0.1", Log: log.Logger(),
				Distribution: &node.Distribution{Cookie: cookie, Finder: &discovery.EPMD{Config: mapper}}})
			_, err := pg.Start(t.Context(), n, pg.Config{}) // which talks to nodes by itself
			require.NoError(t, err)
			stop := serveForeign(t, c.start(t, mapper.Port, string(n.Name()), "serve"))
			box := node.At{Name: "box", Node: name}
			call := func(req any) (any, error) { return node.Call[any](testkit.Context(t), n, box, req) }
			got, err := call(node.Atom("hello"))
			require.NoError(t, err)
			require.Equal(t, node.Atom("hello"), got)
			got, err = node.Await[any](testkit.Context(t), n, node.Async[any](n, box, node.Atom("hello")))
			require.NoError(t, err)
			require.Equal(t, node.Atom("hello"), got)
			require.NoError(t, n.Ping(testkit.Context(t), name))
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			_, err = node.Call[any](ctx, n, box, node.Atom("silence"))
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded)

			h := nodetest.NewProbe(t, n)
			h.TrapExit(true)
			require.NoError(t, n.Register("test", h.Self()))
			byName, gone := h.Monitor(box), h.Monitor(box)
			require.True(t, h.DemonitorFlush(gone))
			h.MonitorNode(name)
			if c.links {
				got, err = call(node.Atom("pid"))
				require.NoError(t, err)
				pid := got.(node.PID)
				require.Equal(t, name, pid.Node())
				byPID := h.Monitor(pid)
				linked := nodetest.NewProbe(t, n)
				linked.Link(pid)
				linked.Close(node.Atom("because"))
				require.Equal(t, wire.Tuple{node.Atom("exit"), node.Atom("because")}, nodetest.Expect[wire.Tuple](h))
				h.Link(pid)
				h.Unlink(pid)
				n.Exit(pid, node.Atom("signal"))
				require.Equal(t, wire.Tuple{node.Atom("exit"), node.Atom("signal")}, nodetest.Expect[wire.Tuple](h))
				h.Link(pid)
				_, err = call(node.Atom("hello"))
				require.NoError(t, err, "it is linked by now")
				stop()
				require.Equal(t, node.NoConnection, h.ExpectDown(byPID).Reason)
				e, err := node.ReceiveOfWithin[node.Exited](h.Process, testkit.Limit)
				require.NoError(t, err)
				require.Equal(t, node.NoConnection, e.Reason)
			} else {
				_, err = call(node.Atom("hello"))
				require.NoError(t, err)
				stop()
			}
			require.Equal(t, node.NoConnection, h.ExpectDown(byName).Reason)
			down, err := node.ReceiveOfWithin[node.NodeDown](h.Process, testkit.Limit)
			require.NoError(t, err)
			require.Equal(t, name, down.Node)
			h.ExpectNone()
			_, err = call(node.Atom("hello"))
			require.ErrorContains(t, err, "noconnection")
			require.NotContains(t, log.String(), "was not sent")
		})
	}
}

// serveForeign starts a C or Java node and waits until it is connected. stop, or the end of the test, ends it.
func serveForeign(t *testing.T, cmd *exec.Cmd) (stop func()) {
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			cmd.Process.Kill()
			io.Copy(io.Discard, out)
			cmd.Wait()
		}
	}
	t.Cleanup(stop)
	require.True(t, lines.Scan(), "it has ended")
	require.Equal(t, "up", lines.Text())
	return stop
}
