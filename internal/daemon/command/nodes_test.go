package command

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire/epmd"
)

// hosted starts a node in this process, with the operator's service that a test wants, on the port mapper of a cliTest.
func (s *cliTest) hosted(t *testing.T, name node.Atom, c admin.Config) *node.Node {
	n := s.bare(t, name)
	require.NoError(t, admin.Start(t.Context(), n, c))
	return n
}

// bare is hosted without the service.
func (s *cliTest) bare(t *testing.T, name node.Atom) *node.Node {
	mapper, err := epmd.ConfigFromEnv(s.lookup)
	require.NoError(t, err)
	mapper.Logger = quiet
	n, err := node.Start(node.Config{Name: name,
		Distribution: &node.Distribution{Cookie: "secret", Finder: &discovery.EPMD{Config: mapper}}})
	require.NoError(t, err)
	t.Cleanup(func() { n.Stop() })
	return n
}

func (s *cliTest) lookup(key string) (string, bool) {
	for _, v := range s.env {
		if value, ok := strings.CutPrefix(v, key+"="); ok {
			return value, true
		}
	}
	return "", false
}

// run runs a command line in this process.
func (s *cliTest) run(t *testing.T, line string) (code exit, said string) {
	env, out, errs := newEnvironment(t, nil)
	env.lookup = s.lookup
	code = run(t.Context(), patient(append([]string{"actornode"}, strings.Fields(line)...))[1:], env)
	return code, out.String() + errs.String()
}

// late runs a line with a --timeout that passes while the node does not answer. The timeout starts at one second: a
// machine may need longer than that to reach the node.
func (s *cliTest) late(t *testing.T, line string) (said string, timeout time.Duration) {
	t.Helper()
	for timeout = time.Second; ; timeout *= 2 {
		code, said := s.run(t, line+" --timeout "+timeout.String())
		if code == exitTimeout || timeout > testkit.Limit {
			require.Equal(t, exitTimeout, code, said)
			return said, timeout
		}
	}
}

func TestDrain(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	drained := make(chan struct{})
	s.hosted(t, "go@127.0.0.1", admin.Config{Drain: func(ctx context.Context) error {
		select {
		case <-drained:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}})
	s.late(t, "drain")
	code, said := s.run(t, "status")
	assert.Equal(t, exitOK, code)
	assert.Contains(t, said, "draining")
	close(drained)
	code, said = s.run(t, "drain")
	assert.Equal(t, exitOK, code)
	assert.Equal(t, "go@127.0.0.1 has drained\n", said)
	code, said = s.run(t, "stop")
	assert.Equal(t, exitUnsupported, code, said)
}

// TestStopThatHangs: a node is told to stop and does not.
func TestStopThatHangs(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	told := make(chan struct{}, 100) // several times on a slow machine: see late
	s.hosted(t, "go@127.0.0.1", admin.Config{Stop: func() { told <- struct{}{} }})
	said, timeout := s.late(t, "stop")
	assert.Contains(t, said, "had not stopped after "+timeout.String())
	testkit.Receive(t, told)
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	s.hosted(t, "go@127.0.0.1", admin.Config{ReadOnly: true, Level: new(slog.LevelVar)})
	for _, line := range []string{"register a b", "unregister actornode", "connect a@b", "disconnect a@b", "drain", "stop",
		"log level debug", "spawn demo counter"} {
		code, said := s.run(t, line)
		assert.Equal(t, exitRefused, code, "%s: %s", line, said)
	}
	for _, line := range []string{"status", "nodes", "ps", "tree", "info actornode", "log level", "deadletters", "top --once"} {
		code, said := s.run(t, line)
		assert.Equal(t, exitOK, code, "%s: %s", line, said)
	}
}

// TestNoService: a node without a service.
func TestNoService(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	s.bare(t, "go@127.0.0.1")
	for _, line := range []string{"status", "nodes", "ps", "tree", "info net_kernel", "log level", "deadletters",
		"trace net_kernel", "top --once", "stop"} {
		code, said := s.run(t, line)
		assert.Equal(t, exitUnsupported, code, "%s: %s", line, said)
		assert.Contains(t, said, "no operator service")
	}
}

// TestBareNode: a node with only the service, and nothing of Erlang's.
func TestBareNode(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	n := s.hosted(t, "go@127.0.0.1", admin.Config{})
	spawn := func(name node.Atom) node.PID {
		pid, err := n.SpawnOpt(node.Options{Name: name}, node.ActorFunc(func(*node.Context, any) error { return nil }))
		require.NoError(t, err)
		return pid
	}
	first, second := spawn("first"), spawn("second")
	eventually(t, "the names are offered", func() bool {
		return slices.Equal([]string{"actornode", "first", "net_kernel", "rex", "second"}, s.completions(t, "kill", ""))
	})
	code, said := s.run(t, "kill first")
	assert.Equal(t, exitOK, code, said)
	assert.False(t, n.IsAlive(first))
	code, said = s.run(t, "kill nobody")
	assert.Equal(t, exitNotFound, code, said)
	code, said = s.run(t, fmt.Sprintf("kill <0.%d.%d>", uint32(second.Number()), second.Number()>>32))
	assert.Equal(t, exitOK, code, said)
	assert.False(t, n.IsAlive(second))
}

// TestInterrupted: Ctrl-C stops every command that waits.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	asked := make(chan struct{})
	n := s.hosted(t, "go@127.0.0.1", admin.Config{})
	_, err := n.SpawnOpt(node.Options{Name: "silent"}, node.ActorFunc(func(c *node.Context, msg any) error {
		if _, ok := c.Node().AsRequest(msg); ok {
			close(asked)
		}
		return nil
	}))
	require.NoError(t, err)
	x := s.terminal(t, 80, 24, "actornode", "call", "silent", "hello")
	<-asked
	x.press("\x03")
	assert.Equal(t, exitInterrupted, x.exit())
	x.wait("interrupted")
}

func TestTopOnce(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	s.hosted(t, "go@127.0.0.1", admin.Config{})
	code, said := s.run(t, "top --once --sort rate --every 100ms")
	assert.Equal(t, exitOK, code, said)
	for _, want := range []string{"go@127.0.0.1  ready", "Processes ", "RATE", "net_kernel"} {
		assert.Contains(t, said, want)
	}
	code, said = s.run(t, "top --once --json")
	assert.Equal(t, exitOK, code, said)
	var v struct {
		Status    admin.Summary
		Processes []struct{ PID, Name string }
	}
	require.NoError(t, json.Unmarshal([]byte(said), &v))
	assert.Equal(t, node.Atom("go@127.0.0.1"), v.Status.Node)
	assert.Equal(t, "net_kernel", v.Processes[slices.IndexFunc(v.Processes,
		func(p struct{ PID, Name string }) bool { return p.Name == "net_kernel" })].Name)
}

// The table shows since when a node is not connected, why, and when the next try is; if all are connected there are no
// such columns.
func TestNodesTable(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) admin.Time { return admin.Time{Time: now.Add(d)} }
	up := admin.Peer{Name: "a@h", State: "up", Protocol: "native", Addr: "h:1", Since: at(-time.Hour), Wanted: true}
	columns, rows := nodesTable([]admin.Peer{up}, now)
	assert.Len(t, columns, 8)
	assert.Equal(t, "1h0m", rows[0][4])
	columns, rows = nodesTable([]admin.Peer{up,
		{Name: "b@h", State: "lost", Since: at(-2 * time.Minute), Failure: "net_tick_timeout", Next: at(41 * time.Second), Wanted: true},
		{Name: "c@h", State: "connecting", Since: at(-time.Minute), Failure: "connection refused", Wanted: true},
		{Name: "d@h", State: "lost", Since: at(-time.Minute), Failure: "reset"},
		{Name: "e@h", State: "lost", Wanted: true},
	}, now)
	require.Len(t, columns, 10)
	var seen []string
	for _, row := range rows {
		seen = append(seen, strings.Join([]string{ansi.Strip(row[1]), row[4], row[8], row[9]}, "|"))
	}
	assert.Equal(t, []string{"up|1h0m||", "lost for 2m0s||in 41.0s|net_tick_timeout", "connecting||now|connection refused",
		"lost for 1m0s||with a message|reset", "lost||soon|"}, seen)
}

// A command shows what a node reports about its mesh.
func TestLostNodes(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	gone := "gone@127.0.0.1"
	n, err := node.Start(node.Config{Name: "go@127.0.0.1", Log: quiet, Distribution: &node.Distribution{Cookie: "secret", Listen: "127.0.0.1:0",
		Mesh: &discovery.Mesh{}, Finder: &discovery.Static{Nodes: map[node.Atom][]discovery.Endpoint{
			node.Atom(gone): {{Addr: "127.0.0.1:" + reserve(t)}}}}}})
	require.NoError(t, err)
	t.Cleanup(func() { n.Stop() })
	require.NoError(t, admin.Start(t.Context(), n, admin.Config{}))
	at := fmt.Sprint(" --node go@127.0.0.1 --no-epmd --peer go@127.0.0.1=", n.Addr())
	testkit.Until(t, func() string {
		code, said := s.run(t, "nodes --json"+at)
		require.Equal(t, exitOK, code, said)
		var all []admin.Peer
		require.NoError(t, json.Unmarshal([]byte(said), &all))
		if len(all) != 1 || all[0].State != "lost" || all[0].Failure == "" || all[0].Since.IsZero() || all[0].Next.IsZero() || !all[0].Wanted {
			return said
		}
		return ""
	})
	_, said := s.run(t, "nodes"+at)
	assert.Regexp(t, gone+` +lost for .* in .*connection refused`, said)
}
