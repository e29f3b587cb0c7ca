package command

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// asDaemon makes the test program act as the daemon, with one extra behaviour for trees: a process of its own, so that
// signals and exit statuses are real.
const asDaemon = "TEST_AS_DAEMON"

func init() {
	if os.Getenv(asProgram) != "" {
		Main(shopProgram(new(shop)))
	}
	if os.Getenv(asDaemon) != "" {
		offered = append(offered, exportCrowd, func(n *node.Node) error {
			err := rpc.ExportBehaviour(n, wire.Export{Module: "test", Function: "never"},
				func([]any) (node.Actor, error) { return never{}, nil })
			if err != nil {
				return err
			}
			return rpc.ExportBehaviour(n, wire.Export{Module: "test", Function: "hold", Arity: 1}, func(args []any) (node.Actor, error) {
				return &hold{n: n, name: string(args[0].([]byte))}, nil
			})
		})
		Main(Program{})
	}
}

// never does not finish its start.
type never struct{}

func (never) Init(*node.Context) error {
	fmt.Println("never starts")
	return node.ErrPending
}

func (never) Receive(*node.Context, any) error { return nil }

// hold is in a group before its start is done. When it is told to exit it prints what it sees of the node, and exits
// when it gets go; quick exits at once.
type hold struct {
	n     *node.Node
	name  string
	scope *pg.Scope
}

func (h *hold) Init(c *node.Context) (err error) {
	c.TrapExit(true)
	if h.scope, err = pg.Find(c.Context(), c, "pg"); err != nil {
		return err
	}
	return h.scope.Join(c.Context(), c, "held", c.Self())
}

func (h *hold) Receive(_ *node.Context, m any) error {
	if _, told := m.(node.Exited); told {
		fmt.Printf("%s stops: draining %v, groups %d, readyz %s\n", h.name, h.n.Stats().Draining, len(h.scope.LocalGroups()),
			readyz(os.Getenv("ACTORNODE_HTTP_LISTEN")))
		if h.name != "quick" {
			return nil
		}
	}
	return node.ErrStop
}

func readyz(addr string) string {
	r, err := http.Get("http://" + addr + "/readyz?verbose")
	if err != nil {
		return err.Error()
	}
	defer r.Body.Close()
	body, _ := io.ReadAll(r.Body)
	return strings.TrimSpace(string(body))
}

// program is a daemon in a process of its own.
type program struct {
	t    testing.TB
	cmd  *exec.Cmd
	out  *bufio.Reader
	log  logtest.Text
	port string // of the Erlang protocol
	http string
	home string
}

// begin starts a daemon named go@127.0.0.1, without EPMD. more has extra lines of its file.
func begin(t testing.TB, more string, vars ...string) *program {
	p := newProgram(t)
	file := filepath.Join(p.home, "actornode.yaml")
	text := fmt.Sprintf("name: go@127.0.0.1\nlisten: {erlang: \"127.0.0.1:%s\"}\nlog: {format: json}\n%s", p.port, more)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return p.start("", file, vars...)
}

func newProgram(t testing.TB) *program {
	return &program{t: t, port: reserve(t), http: "127.0.0.1:" + reserve(t), home: t.TempDir()}
}

// start starts the daemon in a folder, with a file.
func (p *program) start(dir, file string, vars ...string) *program {
	t := p.t
	self, err := os.Executable()
	require.NoError(t, err)
	p.cmd = exec.Command(self, "start", "--config", file)
	p.cmd.Dir = dir
	p.cmd.Env = append([]string{asDaemon + "=1", "HOME=" + p.home, "ACTORNODE_COOKIE=secret", "ACTORNODE_DISCOVERY_EPMD=false",
		"ACTORNODE_HTTP_LISTEN=" + p.http}, vars...)
	p.cmd.Stderr = &p.log
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	p.out = bufio.NewReader(out)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		io.Copy(io.Discard, p.out)
		p.cmd.Wait()
	})
	time.AfterFunc(4*testkit.Limit, func() { p.cmd.Process.Kill() }) // a test that hangs reports where
	return p
}

// line returns the next line of standard output.
func (p *program) line() string {
	p.t.Helper()
	s, err := p.out.ReadString('\n')
	require.NoError(p.t, err, p.log.String())
	return strings.TrimSpace(s)
}

func (p *program) up() *program {
	p.t.Helper()
	require.Contains(p.t, p.line(), "go@127.0.0.1 is up at 127.0.0.1:"+p.port)
	return p
}

func (p *program) signal(s os.Signal) { require.NoError(p.t, p.cmd.Process.Signal(s)) }

// end waits until the daemon ends and returns the exit status.
func (p *program) end() int {
	io.Copy(io.Discard, p.out)
	p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

// records returns the log records, which must be JSON.
func (p *program) records() (all []map[string]any) {
	p.t.Helper()
	for line := range strings.Lines(p.log.String()) {
		var r map[string]any
		require.NoError(p.t, json.Unmarshal([]byte(line), &r), line)
		all = append(all, r)
	}
	return all
}

func TestSignals(t *testing.T) {
	t.Parallel()
	for _, s := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			p := begin(t, "demo: true\n").up()
			assert.Equal(t, `{"ready":true,"checks":[{"name":"listening","ok":true},{"name":"services","ok":true},{"name":"applications","ok":true},`+
				`{"name":"cluster","ok":true},{"name":"memory","ok":true},{"name":"serving","ok":true}]}`, readyz(p.http))
			p.signal(s)
			assert.Equal(t, exitOK, p.end(), p.log.String())
			var said []string
			for _, r := range p.records() {
				said = append(said, r["msg"].(string))
			}
			assert.Contains(t, strings.Join(said, ", "),
				"stopping: asked to, by a signal or by an operator, draining, application stopped, drained")
		})
	}
}

const twoApplications = `
applications:
  - name: base
    supervisor: {children: [{id: quick, start: "test:hold", args: [quick], shutdown: 2m}]}
  - name: shop
    depends: [base]
    supervisor: {children: [{name: hold, start: "test:hold", args: [slow], shutdown: 2m}]}
drain_timeout: 3m
`

// The drain goes in order: what the last application sees when it is told to stop, and which answer an Erlang node gets
// meanwhile.
func TestDrainOrder(t *testing.T) {
	t.Parallel()
	p := begin(t, twoApplications).up()
	p.signal(syscall.SIGTERM)
	notReady := `readyz {"ready":false,"checks":[{"name":"listening","ok":true},{"name":"services","ok":true},{"name":"applications","ok":true},` +
		`{"name":"cluster","ok":true},{"name":"memory","ok":true},{"name":"serving","ok":false,"error":"the node is being drained"}]}`
	assert.Equal(t, "slow stops: draining true, groups 0, "+notReady, p.line())
	if erltest.Has() {
		out, err := erltest.Run(t, erltest.Options{Name: "erl@127.0.0.1", Args: []string{
			"-erl_epmd_port", p.port, "-dist_listen", "false", "-eval", `
				N = 'go@127.0.0.1',
				io:format("~p ~p ~p ~p~n", [net_adm:ping(N), rpc:call(N, demo, add, [1, 2]),
					begin {'EXIT', {E, _}} = (catch erpc:call(N, demo, add, [1, 2])), E end, begin R = spawn_request(N, demo, add, [1, 2], []), receive {spawn_reply, R, _, X} -> X end end]),
				M = monitor(process, {hold, N}),
				{hold, N} ! go, receive {'DOWN', M, _, _, _} -> halt() end.`}}) // halt may lose what has just been sent
		require.NoError(t, err, out)
		assert.Equal(t, "pong {badrpc,{'EXIT',system_limit}} {erpc,system_limit} system_limit\n", out)
	} else {
		n, err := node.Start(node.Config{Name: "erl@127.0.0.1", Distribution: &node.Distribution{Cookie: "secret", Listen: "-",
			Finder: &discovery.Static{Nodes: map[node.Atom][]discovery.Endpoint{"go@127.0.0.1": {{Addr: "127.0.0.1:" + p.port}}}}}})
		require.NoError(t, err)
		defer n.Stop()
		require.NoError(t, n.Connect(t.Context(), "go@127.0.0.1"))
		require.NoError(t, n.Send(node.At{Name: "hold", Node: "go@127.0.0.1"}, wire.Atom("go")))
	}
	assert.Equal(t, "quick stops: draining true, groups 0, "+notReady, p.line())
	assert.Equal(t, exitOK, p.end(), p.log.String())
	var stopped []any
	for _, r := range p.records() {
		if r["msg"] == "application stopped" {
			stopped = append(stopped, r["application"])
		}
	}
	assert.Equal(t, []any{"shop", "base"}, stopped)
}

// A second signal ends the program at once, whatever it is doing.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	p := begin(t, twoApplications).up()
	p.signal(syscall.SIGTERM)
	require.Contains(t, p.line(), "slow stops")
	p.signal(syscall.SIGTERM)
	assert.Equal(t, exitInterrupted, p.end())
	assert.Contains(t, p.log.String(), "a second signal arrived: exiting at once")
}

// A process that does not stop in time is killed, and the exit status says so.
func TestDrainIsBounded(t *testing.T) {
	t.Parallel()
	p := begin(t, strings.Replace(twoApplications, "drain_timeout: 3m", "drain_timeout: 200ms", 1)).up()
	p.signal(syscall.SIGTERM)
	assert.Equal(t, exitFailed, p.end())
	assert.Contains(t, p.log.String(), "applications did not stop within 200ms")
}

// The end of a permanent application ends the daemon.
func TestPermanentApplication(t *testing.T) {
	t.Parallel()
	p := begin(t, `
supervisor:
  intensity: 0
  children: [{name: bad, start: "demo:exit", args: [!atom oops]}]
`)
	assert.Equal(t, exitFailed, p.end())
	assert.Contains(t, p.log.String(), "oops")
}

// A port that another process has is reported, and nothing is left.
func TestPortConflicts(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	for _, v := range []string{"ACTORNODE_LISTEN_ERLANG=", "ACTORNODE_HTTP_LISTEN="} {
		p := begin(t, "", v+ln.Addr().String())
		assert.Equal(t, exitFailed, p.end(), v)
		assert.Contains(t, p.log.String(), "address already in use", v)
		assert.Contains(t, p.log.String(), ln.Addr().String(), v)
	}
}

// A daemon is ready when it has been connected to one of the nodes that it is to join.
func TestJoin(t *testing.T) {
	t.Parallel()
	other := reserve(t)
	p := begin(t, "discovery: {peers: {b@127.0.0.1: \":"+other+"\"}, join: [go@127.0.0.1, b@127.0.0.1]}\n").up()
	assert.Contains(t, readyz(p.http), `{"name":"cluster","ok":false,"error":"not connected yet to any node of [b@127.0.0.1]"}`)
	env, out, errs := newEnvironment(t, nil)
	assert.Equal(t, exitFailed, run(t.Context(), []string{"probe", "--timeout", "1m", "--http", p.http}, env))
	assert.Contains(t, errs.String(), "health: not ready: cluster: not connected yet to any node of")
	assert.Equal(t, exitOK, run(t.Context(), []string{"probe", "--timeout", "1m", "--live", "--http", p.http}, env))
	assert.Equal(t, "ok\n", out.String())

	b, err := node.Start(node.Config{Name: "b@127.0.0.1", Distribution: &node.Distribution{
		Cookie: "secret", Listen: "127.0.0.1:" + other, Finder: &discovery.Static{}}})
	require.NoError(t, err)
	defer b.Stop()
	eventually(t, "it is ready", func() bool { return strings.HasPrefix(readyz(p.http), `{"ready":true`) })
	assert.Equal(t, exitOK, run(t.Context(), []string{"probe", "--timeout", "1m"},
		environment{out, errs, nil, func(k string) (string, bool) {
			return p.http, k == "ACTORNODE_HTTP_LISTEN"
		}, env.home, Program{}, nil}))

	r, err := http.Get("http://" + p.http + "/metrics")
	require.NoError(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	require.NoError(t, err)
	assert.Equal(t, 1.0, families["actornode_peers"].Metric[0].Gauge.GetValue())
	assert.Contains(t, families, "go_goroutines")
	assert.Contains(t, families, "process_resident_memory_bytes")
	p.signal(syscall.SIGTERM)
	assert.Equal(t, exitOK, p.end(), p.log.String())
}

// An operator on another node sees whether the daemon is ready, changes what it
// logs, drains it, and stops it.
func TestOperator(t *testing.T) {
	t.Parallel()
	p := begin(t, "demo: true\n").up()
	n, err := node.Start(node.Config{Name: "op@127.0.0.1", Distribution: &node.Distribution{Cookie: "secret", Listen: "-",
		Finder: &discovery.Static{Nodes: map[node.Atom][]discovery.Endpoint{"go@127.0.0.1": {{Addr: "127.0.0.1:" + p.port}}}}}})
	require.NoError(t, err)
	defer n.Stop()
	ctx := testkit.Context(t)
	const at = "go@127.0.0.1"
	s, err := admin.Status(ctx, n, at)
	require.NoError(t, err)
	assert.True(t, s.Ready)
	was, err := admin.SetLogLevel(ctx, n, at, slog.LevelWarn)
	require.NoError(t, err)
	assert.Equal(t, slog.LevelInfo, was)
	_, err = admin.SetLogLevel(ctx, n, at, slog.LevelInfo)
	require.NoError(t, err)

	require.NoError(t, admin.Drain(ctx, n, at))
	s, err = admin.Status(ctx, n, at)
	require.NoError(t, err)
	assert.False(t, s.Ready)
	assert.True(t, s.Draining)
	assert.Contains(t, s.NotReady, "serving: the node is being drained")
	assert.Contains(t, readyz(p.http), `{"name":"serving","ok":false`)
	eventually(t, "a node that is drained lives", func() bool { return livez(t, p.http) == "ok\n" })
	_, err = node.Call[any](ctx, n, node.At{Name: "counter", Node: at}, wire.Atom("get"))
	require.Error(t, err, "its applications are gone")
	require.NoError(t, admin.Stop(ctx, n, at))
	assert.Equal(t, exitOK, p.end(), p.log.String())
}

func livez(t *testing.T, addr string) string {
	r, err := http.Get("http://" + addr + "/livez")
	require.NoError(t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(body)
}

// A signal in the middle of the start is not a failure: what has begun is undone.
func TestSignalWhileStarting(t *testing.T) {
	t.Parallel()
	p := begin(t, `
applications:
  - name: base
    supervisor: {children: [{id: quick, start: "test:hold", args: [quick], shutdown: 2m}]}
  - name: slow
    depends: [base]
    supervisor: {children: [{id: never, start: "test:never"}]}
`)
	require.Equal(t, "never starts", p.line())
	assert.Contains(t, readyz(p.http), `{"name":"applications","ok":false,"error":"not all applications have started"}`)
	assert.Contains(t, readyz(p.http), `{"name":"cluster","ok":true}`, "there is nothing to join")
	eventually(t, "it lives", func() bool { return livez(t, p.http) == "ok\n" })
	p.signal(syscall.SIGTERM)
	require.Contains(t, p.line(), "quick stops: ") // as StartAll undoes what it has started
	assert.Equal(t, exitOK, p.end(), p.log.String())
}
