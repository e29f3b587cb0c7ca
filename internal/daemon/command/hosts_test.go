package command

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/epmd"
)

// hosts is a cluster of daemons on three addresses of this host, and a node that
// watches them.
type hosts struct {
	*cliTest
	t     *testing.T
	names []node.Atom
	cmds  map[node.Atom]*exec.Cmd
	n     *node.Node
	me    *nodetest.Probe
	scope *pg.Scope
	http  string // of the first daemon
}

func newHosts(t *testing.T) *hosts {
	h := &hosts{cliTest: newCLITest(t), t: t, names: []node.Atom{"a@127.0.0.1", "b@127.0.0.2", "c@127.0.0.3"},
		cmds: make(map[node.Atom]*exec.Cmd),
		http: "127.0.0.1:" + reserve(t)}
	for _, name := range h.names {
		h.start(name)
	}
	text, _ := h.lookup("ERL_EPMD_PORT")
	port, err := strconv.Atoi(text)
	require.NoError(t, err)
	h.n = nodetest.Start(t, node.Config{Name: "watcher@127.0.0.1",
		Distribution: &node.Distribution{Cookie: "secret", Finder: &discovery.EPMD{Config: epmd.Config{Port: port}}}})
	h.me = nodetest.NewProbe(t, h.n)
	h.me.TrapExit(true)
	h.scope, err = pg.Start(testkit.Context(t), h.n, pg.Config{})
	require.NoError(t, err)
	return h
}

// start starts a daemon, or restarts it.
func (h *hosts) start(name node.Atom) {
	args := []string{"--name", string(name), "--demo", "--join", "a@127.0.0.1,b@127.0.0.2,c@127.0.0.3"}
	if name == "a@127.0.0.1" {
		file := filepath.Join(h.t.TempDir(), "a.yaml")
		require.NoError(h.t, os.WriteFile(file, []byte("http: {listen: \""+h.http+"\", pprof: true}\n"), 0o600))
		args = append(args, "--config", file)
	}
	h.cmds[name] = h.daemon(h.t, args...)
}

// add calls the counter of a node.
func (h *hosts) add(name node.Atom, by int) int {
	total, err := node.Call[int](testkit.Context(h.t), h.n, node.At{Name: "counter", Node: name}, wire.Tuple{wire.Atom("add"), by})
	require.NoError(h.t, err)
	return total
}

// member starts a process on a node that joins the group there.
func (h *hosts) member(at node.Atom) node.PID {
	pid, err := rpc.Spawn(testkit.Context(h.t), h.n, at, "demo", "echo")
	require.NoError(h.t, err)
	ok, err := rpc.Call[any](testkit.Context(h.t), h.n, at, "pg", "join", wire.Atom("workers"), pid)
	require.NoError(h.t, err)
	require.Equal(h.t, wire.AtomOK, ok)
	return pid
}

// members waits until all nodes see exactly the processes of want in the group.
func (h *hosts) members(want ...node.PID) {
	eventually(h.t, "the group is the same everywhere", func() bool {
		if !samePIDs(h.scope.Members(wire.Atom("workers")), want) {
			return false
		}
		for _, name := range h.names {
			v, err := rpc.Call[any](testkit.Context(h.t), h.n, name, "pg", "get_members", wire.Atom("workers"))
			elements, ok := wire.AsList(v)
			var pids []node.PID
			for _, e := range elements {
				pid, _ := e.(node.PID)
				pids = append(pids, pid)
			}
			if err != nil || !ok || !samePIDs(pids, want) {
				return false
			}
		}
		return true
	})
}

func samePIDs(a, b []node.PID) bool {
	seen := make(map[node.PID]int)
	for _, p := range a {
		seen[p]++
	}
	for _, p := range b {
		seen[p]--
	}
	for _, n := range seen {
		if n != 0 {
			return false
		}
	}
	return true
}

// whole waits until each daemon is connected to the two others, natively, and to the watcher.
func (h *hosts) whole() {
	eventually(h.t, "all are connected", func() bool {
		for _, name := range h.names {
			up := 0
			peers, err := admin.Nodes(testkit.Context(h.t), h.n, name)
			for _, p := range peers {
				if p.State == "up" && p.Protocol == "native" {
					up++
				}
			}
			if err != nil || up != len(h.names) {
				return false
			}
		}
		return true
	})
}

// goroutines returns how many goroutines the first daemon has, without the pool's workers, of which one more may start
// whenever a moment is busier than those before.
func (h *hosts) goroutines() (n int) {
	alone := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := alone.Get("http://" + h.http + "/debug/pprof/goroutine?debug=2")
	require.NoError(h.t, err)
	defer r.Body.Close()
	dump, err := io.ReadAll(r.Body)
	require.NoError(h.t, err)
	require.Equal(h.t, http.StatusOK, r.StatusCode)
	for g := range strings.SplitSeq(string(dump), "\n\n") {
		if !strings.Contains(g, "executor.(*Worker).loop(") {
			n++
		}
	}
	return n
}

// TestThreeHosts: links, monitors, names, groups and calls cross hosts; when a host dies at once the others learn what
// has died with it, and it comes back as another node.
func TestThreeHosts(t *testing.T) { // not parallel: it counts goroutines
	before := testkit.Goroutines()
	h := newHosts(t)
	h.whole()
	for i, name := range h.names {
		assert.Equal(t, i+1, h.add(name, i+1))
	}
	on := map[node.Atom]node.PID{}
	for _, name := range h.names {
		on[name] = h.member(name)
	}
	h.members(on["a@127.0.0.1"], on["b@127.0.0.2"], on["c@127.0.0.3"])
	steady := h.goroutines()

	const b = node.Atom("b@127.0.0.2")
	h.me.Link(on[b])
	byPID, byName := h.me.Monitor(on[b]), h.me.Monitor(node.At{Name: "counter", Node: b})
	elsewhere := h.me.Monitor(node.At{Name: "counter", Node: "c@127.0.0.3"})
	h.me.MonitorNode(b)
	require.NoError(t, h.cmds[b].Process.Kill())
	assert.Equal(t, node.Exited{From: on[b], Reason: node.NoConnection}, node.ReceiveOf[node.Exited](h.me.Process))
	assert.Equal(t, any(node.NoConnection), h.me.ExpectDown(byPID).Reason)
	assert.Equal(t, any(node.NoConnection), h.me.ExpectDown(byName).Reason)
	assert.Equal(t, b, node.ReceiveOf[node.NodeDown](h.me.Process).Node)
	h.cmds[b].Wait()
	h.names = []node.Atom{"a@127.0.0.1", "c@127.0.0.3"}
	h.members(on["a@127.0.0.1"], on["c@127.0.0.3"])

	h.start(b)
	h.names = append(h.names, b)
	require.NoError(t, h.n.Connect(testkit.Context(t), b))
	h.whole()
	assert.Equal(t, 7, h.add(b, 7), "a new life")
	assert.Equal(t, 4, h.add("c@127.0.0.3", 1), "the old one")
	assert.Equal(t, any(node.NoProc), h.me.ExpectDown(h.me.Monitor(on[b])).Reason, "what is dead stays dead")
	again := h.member(b)
	assert.NotEqual(t, on[b], again)
	h.members(on["a@127.0.0.1"], again, on["c@127.0.0.3"])
	eventually(t, "no goroutine is left of what was", func() bool { return h.goroutines() <= steady })
	h.me.Demonitor(elsewhere)
	h.me.ExpectNone()

	for _, cmd := range h.cmds {
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	}
	for name, cmd := range h.cmds {
		assert.NoError(t, cmd.Wait(), name)
	}
	h.me.Close(nil)
	require.NoError(t, h.n.Stop())
	eventually(t, "no goroutine is left here", func() bool { return testkit.Goroutines() <= before })
}
