package command

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

func init() {
	if os.Getenv(asDaemon) == "" {
		return
	}
	offered = append(offered, func(n *node.Node) error {
		forget := node.ActorFunc(func(*node.Context, any) error {
			kept = nil
			return nil
		})
		if _, err := n.SpawnOpt(node.Options{Name: "forget"}, forget); err != nil {
			return err
		}
		keep := wire.Export{Module: "test", Function: "keep", Arity: 1}
		return rpc.Export(n, keep, func(_ context.Context, args []any) (any, error) {
			kept = make([][]byte, args[0].(int))
			for i := range kept {
				kept[i] = make([]byte, 1<<20)
			}
			return len(kept), nil
		})
	})
}

// kept is the memory that test:keep holds.
var kept [][]byte

func page(t *testing.T, addr, path string) string {
	r, err := http.Get("http://" + addr + path)
	require.NoError(t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(body)
}

// metric returns the value of a metric of a daemon, as text.
func metric(t *testing.T, addr, name string) string {
	for line := range strings.Lines(page(t, addr, "/metrics")) {
		if v, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// insult opens a connection and sends something that is not a handshake.
func (p *program) insult() {
	conn, err := net.Dial("tcp", "127.0.0.1:"+p.port)
	require.NoError(p.t, err)
	defer conn.Close()
	io.WriteString(conn, "\x00\x01x") // a frame of one byte
	io.Copy(io.Discard, conn)
}

// finder returns a finder that finds only the daemon.
func (p *program) finder() *discovery.Static {
	return &discovery.Static{Nodes: map[node.Atom][]discovery.Endpoint{"go@127.0.0.1": {{Addr: "127.0.0.1:" + p.port}}}}
}

// peer starts a node that is connected to the daemon.
func (p *program) peer(name node.Atom) (*node.Node, error) {
	n, err := node.Start(node.Config{Name: name, Distribution: &node.Distribution{Cookie: "secret", Listen: "-",
		Finder: p.finder()}})
	require.NoError(p.t, err)
	p.t.Cleanup(func() { n.Stop() })
	return n, n.Connect(testkit.Context(p.t), "go@127.0.0.1")
}

// The daemon goes on when nobody reads its log or standard output any more.
func TestReadersMayGo(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	file := filepath.Join(p.home, "actornode.yaml")
	require.NoError(t, os.WriteFile(file, []byte("name: go@127.0.0.1\nlisten: {erlang: \"127.0.0.1:"+p.port+"\"}\n"), 0o600))
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, "start", "--config", file)
	cmd.Env = []string{asDaemon + "=1", "HOME=" + p.home, "ACTORNODE_COOKIE=secret", "ACTORNODE_DISCOVERY_EPMD=false",
		"ACTORNODE_HTTP_LISTEN=" + p.http}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	log, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "is up")
	out.Close()
	log.Close()
	n, err := p.peer("printer@127.0.0.1") // "node up" goes into the log
	require.NoError(t, err)
	require.NoError(t, n.Send(node.At{Name: "user", Node: "go@127.0.0.1"}, wire.Tuple{wire.Atom("io_request"), n.MakeRef(), 1,
		wire.Tuple{wire.Atom("put_chars"), wire.Atom("unicode"), "hello"}}))
	p.insult()
	eventually(t, "what is not written is counted", func() bool {
		v := metric(t, p.http, "actornode_log_write_failures_total")
		return v != "" && v != "0"
	})
	require.Equal(t, "ok\n", livez(t, p.http))
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait(), "it stops in order")
}

// A command whose reader goes away ends, quietly.
func TestCommandsEndWithTheirReader(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, r.Close()) // before the first word
	defer w.Close()
	cmd := exec.Command(self, "help", "start")
	cmd.Env = []string{asDaemon + "=1", "HOME=" + t.TempDir()}
	var errs strings.Builder
	cmd.Stdout, cmd.Stderr = w, &errs
	err = cmd.Run()
	exited, ok := errors.AsType[*exec.ExitError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, syscall.SIGPIPE, exited.Sys().(syscall.WaitStatus).Signal())
	require.Empty(t, errs.String())
}

// Strangers cannot fill the disk: the log has ten lines a second of a kind, and the number of the others.
func TestStrangersDoNotFillTheLog(t *testing.T) {
	t.Parallel()
	p := begin(t, "", "ACTORNODE_LOG_LINES=2", "ACTORNODE_LOG_BYTES=512").up()
	const attempts = 100
	began := time.Now()
	for range attempts {
		p.insult()
	}
	lines, left := 0, 0
	eventually(t, "all are told of", func() bool {
		lines, left = 0, 0
		for _, r := range p.records() {
			if r["msg"] == "refused an incoming connection" {
				lines++
			}
			if n, ok := r["not_logged"].(float64); ok {
				left += int(n)
			}
		}
		return lines+left == attempts
	})
	require.LessOrEqual(t, lines, 2*(2+int(time.Since(began)/time.Second)), "two a second, by the daemon's clock")
	for line := range strings.Lines(p.log.String()) {
		require.LessOrEqual(t, len(line), 512)
	}
	require.Equal(t, fmt.Sprint(left), metric(t, p.http, `actornode_limit_refused_total{limit="log_lines"}`))
	require.Equal(t, "64", metric(t, p.http, `actornode_limit{limit="http"}`))
	require.Equal(t, "1", metric(t, p.http, `actornode_limit_used{limit="http"}`))
}

// A cookie on the command line causes a warning; one from elsewhere does not.
func TestCookieOnTheCommandLine(t *testing.T) {
	t.Parallel()
	const warning = "the cookie is visible to all users of this machine"
	p := begin(t, "").up()
	p.signal(syscall.SIGTERM)
	require.Equal(t, exitOK, p.end())
	require.NotContains(t, p.log.String(), warning)

	p = newProgram(t)
	self, err := os.Executable()
	require.NoError(t, err)
	p.cmd = exec.Command(self, "start", "--name", "go@127.0.0.1", "--cookie", "secret", "--listen", "127.0.0.1:"+p.port, "--no-epmd")
	p.cmd.Env = []string{asDaemon + "=1", "HOME=" + p.home}
	p.cmd.Stderr = &p.log
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	p.out = bufio.NewReader(out)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() { p.cmd.Process.Kill() })
	p.up().signal(syscall.SIGTERM)
	require.Equal(t, exitOK, p.end())
	require.Equal(t, 1, strings.Count(p.log.String(), warning), p.log.String())
	require.Contains(t, p.log.String(), "setting=--cookie")
	require.NotContains(t, p.log.String(), "secret")
}

// With too much in memory the daemon refuses work before it is killed, reports it, and goes on when there is room.
func TestMemoryIsShort(t *testing.T) {
	t.Parallel()
	p := begin(t, "limits: {memory: 96MiB}\ndemo: true\n").up()
	n, err := p.peer("op@127.0.0.1")
	require.NoError(t, err)
	keep := func(mib int) error {
		_, err := rpc.Call[int](testkit.Context(t), n, "go@127.0.0.1", "test", "keep", mib)
		return err
	}
	require.NoError(t, keep(90))
	failed := `{"name":"memory","ok":false,"error":"`
	eventually(t, "it is not ready", func() bool { return strings.Contains(readyz(p.http), failed) })
	require.ErrorContains(t, keep(0), "system_limit")
	late := 0
	eventually(t, "no more than one connection a second", func() bool {
		late++ // a peer that was connected may connect again
		_, err := p.peer(node.Atom(fmt.Sprintf("late%d@127.0.0.1", late)))
		return err != nil
	})
	require.Equal(t, fmt.Sprint(96<<20), asNumber(t, metric(t, p.http, `actornode_limit{limit="memory"}`)))
	require.NotEqual(t, "0", metric(t, p.http, `actornode_limit_refused_total{limit="memory"}`))
	_, err = node.Call[any](testkit.Context(t), n, node.At{Name: "counter", Node: "go@127.0.0.1"}, wire.Atom("get"))
	require.NoError(t, err, "what runs goes on")

	require.NoError(t, n.Send(node.At{Name: "forget", Node: "go@127.0.0.1"}, wire.Atom("go")))
	eventually(t, "it is ready again", func() bool { return strings.HasPrefix(readyz(p.http), `{"ready":true`) })
	require.NoError(t, keep(1))
	p.signal(syscall.SIGTERM)
	require.Equal(t, exitOK, p.end(), p.log.String())
	var said []string
	for _, r := range p.records() {
		if m := r["msg"].(string); strings.Contains(m, "memory") {
			said = append(said, m)
		}
	}
	require.Equal(t, []string{"memory is short: new connections and remote spawns are refused",
		"memory is no longer short: new connections and remote spawns are accepted again"}, said)
}

// asNumber returns a Prometheus value as an integer.
func asNumber(t *testing.T, text string) string {
	var f float64
	require.NoError(t, json.Unmarshal([]byte(text), &f))
	return fmt.Sprintf("%.0f", f)
}

// On a full disk the daemon stays up, and counts what it could not write.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skipf("SKIPPED: there is no device that is always full: %v", err)
	}
	p := begin(t, "", "ACTORNODE_LOG_FILE=/dev/full").up()
	require.NotEqual(t, "0", metric(t, p.http, "actornode_log_write_failures_total"))
	require.Equal(t, "ok\n", livez(t, p.http))
	p.signal(syscall.SIGTERM)
	require.Equal(t, exitOK, p.end(), p.log.String())
}

// disk is a disk with room for a number of bytes.
type disk struct {
	room int
	text strings.Builder
}

func (d *disk) Write(b []byte) (int, error) {
	n := min(len(b), d.room)
	d.room -= n
	d.text.Write(b[:n])
	if n < len(b) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

// A partly written line does not spoil the next one.
func TestTornLines(t *testing.T) {
	d := &disk{room: 7}
	w := &lineWriter{to: d}
	write := func(s string) error {
		_, err := io.WriteString(w, s)
		return err
	}
	require.NoError(t, write("one\n"))
	require.ErrorIs(t, write("second\n"), syscall.ENOSPC)
	require.ErrorIs(t, write("third\n"), syscall.ENOSPC)
	d.room = 100
	require.NoError(t, write("fourth\n"))
	require.Equal(t, "one\nsec\nfourth\n", d.text.String())
}

// The limits of process groups and of gossip are among the metrics of limits.
func TestMetricsOfLimits(t *testing.T) {
	t.Parallel()
	p := begin(t, "limits: {pg_members: 10, pg_groups: 6}\ndiscovery: {gossip: {bind: \"127.0.0.1:0\", max_streams: 7}}\n").up()
	for name, max := range map[string]string{"pg_members": "10", "pg_groups": "6", "gossip_streams": "7"} {
		require.Equal(t, max, metric(t, p.http, `actornode_limit{limit="`+name+`"}`), name)
		require.Equal(t, "0", metric(t, p.http, `actornode_limit_used{limit="`+name+`"}`), name)
		require.Equal(t, "0", metric(t, p.http, `actornode_limit_refused_total{limit="`+name+`"}`), name)
	}
}
