package command

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

const daemonName = "go@127.0.0.1"

// beginPorts starts a daemon with the sample, which needs these tools.
func beginPorts(t *testing.T, vars ...string) *program {
	for _, tool := range []string{"python3", "escript"} {
		testkit.Program(t, testkit.Merge, tool)
	}
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	p := newProgram(t)
	vars = append(vars, "PATH="+os.Getenv("PATH"), "ACTORNODE_LISTEN_ERLANG=127.0.0.1:"+p.port, "ACTORNODE_LOG_FORMAT=json")
	return p.start(root, "deploy/samples/port/actornode.yaml", vars...).up()
}

// goNode starts a Go node that finds the daemon.
func (p *program) goNode() *node.Node {
	return nodetest.Start(p.t, node.Config{Name: "op@127.0.0.1", Distribution: &node.Distribution{Cookie: "secret", Listen: "-",
		Finder: &discovery.Static{Nodes: map[node.Atom][]discovery.Endpoint{daemonName: {{Addr: "127.0.0.1:" + p.port}}}}}})
}

// erl starts an OTP node that finds the daemon.
func (p *program) erl() *erltest.Node {
	return erltest.Start(p.t, erltest.Options{Name: "erl@127.0.0.1",
		Args: []string{"-erl_epmd_port", p.port, "-dist_listen", "false"}})
}

// Go and OTP call the programs of the sample, which end with the daemon.
func TestPorts(t *testing.T) {
	t.Parallel()
	p := beginPorts(t)
	n, erl := p.goNode(), p.erl()
	sum, err := node.Call[int](testkit.Context(t), n, node.At{Name: "pycounter", Node: daemonName}, wire.Tuple{wire.Atom("add"), 2})
	require.NoError(t, err)
	assert.Equal(t, 42, sum)
	assert.Equal(t, "45", erl.Ask(`gen_server:call({pycounter, 'go@127.0.0.1'}, {add, 3}, infinity)`))
	assert.Equal(t, "4", erl.Ask(`gen_server:call({erlcounter, 'go@127.0.0.1'}, {add, 3}, infinity)`))
	assert.Contains(t, erl.Ask(`gen_server:call({pycounter, 'go@127.0.0.1'}, crash, infinity)`), "{exit_status,1}")
	require.Equal(t, "40", erl.Ask(`(fun F() -> try gen_server:call({pycounter, 'go@127.0.0.1'}, get, infinity) `+
		`catch exit:{noproc, _} -> receive after 20 -> F() end end end)()`), "was restarted")
	p.signal(syscall.SIGTERM)
	assert.Equal(t, exitOK, p.end(), p.log.String())
}

// asks tries all ways in which another node might run a program.
func asks(t *testing.T, p *program, erl *erltest.Node, n *node.Node,
	file string) (spawned, child, copied string, operator error) {
	args := fmt.Sprintf(`[#{command => "/bin/sh", args => ["-c", "echo > %s.$0", Way]}]`, file)
	spawned = erl.Ask(`Way = "spawn", R = spawn_request('go@127.0.0.1', port, start, %s, [monitor]), `+
		`case receive {spawn_reply, R, A, B} -> {A, B} end of {ok, _} -> receive {'DOWN', R, _, _, Why} -> Why end; No -> No end`, args)
	child = erl.Ask(`Way = "child", supervisor:start_child({ports, 'go@127.0.0.1'}, #{id => x, start => {port, start, %s}, restart => temporary})`, args)
	copied = erl.Ask(`{ok, C} = supervisor:get_childspec({ports, 'go@127.0.0.1'}, pycounter), supervisor:start_child({ports, 'go@127.0.0.1'}, C#{id => y})`)
	config := wire.NewMap("command", "/bin/sh", "args", wire.List{"-c", "echo > " + file + ".operator"})
	_, operator = admin.Spawn(testkit.Context(t), n, daemonName, "port", "start", []any{config}, "")
	return spawned, child, copied, operator
}

// Only the tree starts programs, unless the configuration permits it to others.
func TestPortsAreTheTrees(t *testing.T) {
	t.Parallel()
	p := beginPorts(t)
	n, erl := p.goNode(), p.erl()
	file := filepath.Join(t.TempDir(), "ran")
	spawned, child, copied, operator := asks(t, p, erl, n, file)
	assert.Contains(t, spawned, "undef")
	assert.Contains(t, child, "undef")
	assert.Contains(t, copied, "undef")
	require.ErrorIs(t, operator, rpc.ErrUndef)
	assert.Equal(t, "2", erl.Ask(`length(supervisor:which_children({ports, 'go@127.0.0.1'}))`))
	p.signal(syscall.SIGTERM)
	assert.Equal(t, exitOK, p.end(), p.log.String())
	ran, err := filepath.Glob(file + "*") // what a program wrote before the daemon ended
	require.NoError(t, err)
	assert.Empty(t, ran)
}

func TestPortsRemote(t *testing.T) {
	t.Parallel()
	p := beginPorts(t, "ACTORNODE_PORTS_REMOTE=true")
	n, erl := p.goNode(), p.erl()
	file := filepath.Join(t.TempDir(), "ran")
	spawned, child, _, operator := asks(t, p, erl, n, file)
	assert.Contains(t, spawned, "bad_config", "not even then: it would be nobody's child")
	assert.Contains(t, child, "{ok,<")
	require.ErrorContains(t, operator, "only a process of this node")
	p.log.Await(t, "any node that knows the cookie can run programs on this machine, as the user of this daemon")
	eventually(t, "the child has run", func() bool { _, err := os.Stat(file + ".child"); return err == nil })
	p.signal(syscall.SIGTERM)
	assert.Equal(t, exitOK, p.end(), p.log.String())
	ran, err := filepath.Glob(file + "*")
	require.NoError(t, err)
	assert.Equal(t, []string{file + ".child"}, ran)
}

// check of a file also checks the configuration of its programs.
func TestCheckPorts(t *testing.T) {
	env, _, errs := newEnvironment(t, nil)
	file := filepath.Join(t.TempDir(), "a.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`
supervisor:
  children:
    - {name: a, start: "port:start", args: [{command: cat, codec: xml}]}
    - {name: b, start: "port:start", args: [{command: cat, ready: 0}]}
    - {name: c, start: "port:start"}
    - {name: d, start: "port:start", args: [{command: cat}]}
`), 0o600))
	require.Equal(t, exitFailed, run(t.Context(), []string{"check", file}, env))
	assert.Equal(t, file+":4:44: supervisor.children[0].args: port: invalid configuration: codec: <<\"xml\">>; want msgpack, "+
		"plain or etf\n"+
		file+":5:44: supervisor.children[1].args: port: invalid configuration: ready: 0; want a time above 0 as in 500ms or 2s, or "+
		"milliseconds\n"+
		file+":6:24: supervisor.children[2].start: port:start is not exported for 0 args; allowed: port:start/1\n", errs.String())
}
