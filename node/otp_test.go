package node_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire/epmd"
)

// otpPatience is how long the tests wait for what an Erlang node is to do.
const otpPatience = 30 * time.Second

// otp is a running Erlang node that evaluates what it is told.
type otp struct {
	t     *testing.T
	name  node.Atom
	in    io.Writer
	lines chan string   // answers
	gone  chan struct{} // closed when it has ended
	log   *transcript   // what else it prints
}

// transcript is what a node logs.
type transcript struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *transcript) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *transcript) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// take returns what has been logged, and forgets it.
func (l *transcript) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.b.Reset()
	return l.b.String()
}

// await waits for a text.
func (l *transcript) await(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(otpPatience); !strings.Contains(l.String(), text); time.Sleep(5 * time.Millisecond) {
		require.True(t, time.Now().Before(deadline), "%q is not in the log, but\n%s", text, l)
	}
}

// otpLoop evaluates lines and prints their values.
const otpLoop = `io:format("=> ready~n"),
(fun L() -> case io:get_line("") of X when is_list(X) ->
  V = try {ok, T, _} = erl_scan:string(X), {ok, E} = erl_parse:parse_exprs(T), {value, W, _} = erl_eval:exprs(E, []), W
      catch C:R -> {C, R} end,
  io:format("=> ~0tp~n", [V]), L(); _ -> halt(0) end end)().`

// needOTP skips a test that plays with real Erlang nodes where there are none.
// With tls it needs OTP's ssl application too.
func needOTP(t *testing.T, tls bool) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: no Erlang is started")
	}
	erl, err := exec.LookPath("erl")
	if err != nil {
		t.Skip("no erl on the PATH: nothing is compared with OTP")
	}
	if tls && !hasSSL(erl) {
		t.Skip("OTP has no ssl here (Debian: erlang-ssl): TLS is not tried with real nodes")
	}
}

var hasSSL = func() func(string) bool {
	var once sync.Once
	var has bool
	return func(erl string) bool {
		once.Do(func() {
			has = exec.Command(erl, "-noinput", "-eval",
				"halt(case [code:which(M) || M <- [inet_tls_dist, crypto, public_key, 'OTP-PUB-KEY']] of [_|_] = L -> "+
					"case lists:member(non_existing, L) of true -> 1; false -> 0 end end).").Run() == nil
		})
		return has
	}
}()

// startOTP starts a node with arguments; name is -name or -sname and a name. EPMD
// is at a port, 0 for none.
func startOTP(t *testing.T, epmdPort int, kind, name string, args ...string) *otp {
	t.Helper()
	o := &otp{t: t, name: node.Atom(name), lines: make(chan string, 16), gone: make(chan struct{}), log: &transcript{}}
	all := append([]string{"+S", "1:1", "-noshell", "-start_epmd", "false", "-setcookie", "secret", kind, name}, args...)
	cmd := exec.Command("erl", append(all, "-eval", strings.ReplaceAll(otpLoop, "\n", " "))...)
	cmd.Env = []string{"ERL_EPMD_PORT=" + strconv.Itoa(epmdPort), "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "ERL_CRASH_DUMP=/dev/null"}
	cmd.Dir = t.TempDir()
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	o.in = stdin
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = cmd.Stdout
	require.NoError(t, cmd.Start())
	go func() { // ended by erl's end
		defer close(o.gone)
		s := bufio.NewScanner(stdout)
		for s.Buffer(nil, 1<<20); s.Scan(); {
			if answer, ok := strings.CutPrefix(s.Text(), "=> "); ok {
				o.lines <- answer
				continue
			}
			fmt.Fprintln(o.log, s.Text())
		}
	}()
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Process.Kill()
		for {
			select {
			case <-o.lines:
				continue
			case <-o.gone:
			}
			break
		}
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s said:\n%s", name, o.log)
		}
	})
	require.Equal(t, "ready", o.answer())
	return o
}

func (o *otp) answer() string {
	o.t.Helper()
	select {
	case l := <-o.lines:
		return l
	case <-o.gone:
		require.Fail(o.t, "erl has ended", "%s", o.log)
	case <-time.After(otpPatience):
		require.Fail(o.t, "erl is silent", "%s", o.log)
	}
	return ""
}

// ask has an expression evaluated.
func (o *otp) ask(format string, args ...any) string {
	o.t.Helper()
	_, err := fmt.Fprintf(o.in, format+".\n", args...)
	require.NoError(o.t, err)
	return o.answer()
}

// otpMapper serves EPMD on a free port of an address, and returns it with a
// Finder that uses it.
func otpMapper(t *testing.T, host string) (port int, f *node.EPMD) {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Skipf("nothing can listen at %s here: %v", host, err)
	}
	port = l.Addr().(*net.TCPAddr).Port
	cfg := epmd.Config{Port: port, Logger: slog.New(slog.DiscardHandler), Local: []string{host}}
	s, err := epmd.NewServer(cfg)
	require.NoError(t, err)
	done := make(chan struct{})
	go func() { // ended by Stop
		defer close(done)
		_ = s.Serve(context.Background(), l)
	}()
	t.Cleanup(func() { s.Stop(); <-done })
	return port, &node.EPMD{Config: cfg}
}

// otpPeer starts a Go node with an echo on it, and a log.
func otpPeer(t *testing.T, name string, d node.Distribution) (*node.Node, *transcript) {
	t.Helper()
	log := &transcript{}
	d.Cookie = "secret"
	n, err := node.Start(node.Config{Name: node.Atom(name), Distribution: &d, Log: slog.New(slog.NewTextHandler(log, nil))})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, n.Stop())
		if t.Failed() {
			t.Logf("%s said:\n%s", name, log)
		}
	})
	_, err = n.SpawnOpt(node.Options{Name: "echo"}, node.ActorFunc(echo))
	require.NoError(t, err)
	return n, log
}

// bothWays has each of the two dial the other, and talks.
func (o *otp) bothWays(n *node.Node) {
	o.t.Helper()
	require.NoError(o.t, n.Ping(soon(o.t), o.name), "we dial erl")
	o.talk(n)
	require.Equal(o.t, "true", o.ask("erlang:disconnect_node('%s')", n.Name()))
	o.alone(n)
	require.Equal(o.t, "true", o.ask("net_kernel:connect_node('%s')", n.Name()), "erl dials us")
	o.talk(n)
}

// alone waits until neither has a connection.
func (o *otp) alone(n *node.Node) {
	o.t.Helper()
	require.Eventually(o.t, func() bool { return len(n.Nodes(true)) == 0 && o.ask("nodes(connected)") == "[]" },
		otpPatience, 5*time.Millisecond)
}

// talk uses the connection that there is, in both directions.
func (o *otp) talk(n *node.Node) {
	o.t.Helper()
	require.Equal(o.t, "[hello,1]", o.ask("gen_server:call({echo, '%s'}, [hello, 1])", n.Name()))
	require.Equal(o.t, "true", o.ask("B = binary:copy(<<7>>, 300000), B =:= gen_server:call({echo, '%s'}, B)", n.Name()))
	v, err := node.RPC(soon(o.t), n, o.name, "erlang", "node")
	require.NoError(o.t, err)
	require.Equal(o.t, o.name, v)
}
