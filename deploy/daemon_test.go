package deploy_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/porttest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
)

// cookie is the cookie of all nodes here.
const cookie = "what-the-nodes-of-the-test-share"

// cluster has daemons in processes of their own, which are scraped, and nodes of this process, which are not.
type cluster struct {
	*testing.T
	hub     *node.Node // the peer of all daemons except those that are alone
	daemons []*daemon

	prometheus *server // scrapes them
}

// daemon is a daemon that is scraped.
type daemon struct {
	scenario
	dir, file    string     // its folder, and its configuration
	http, listen string     // HOST:PORT
	version      string     // of the program
	way          *relay     // to its peer; nil: it has no peer of its own
	conns        []net.Conn // see hold

	cmd   *exec.Cmd
	stdin io.WriteCloser
}

func (d *daemon) tell(t *testing.T, line string) {
	_, err := fmt.Fprintln(d.stdin, line)
	require.NoError(t, err, d.name)
}

func (d *daemon) environment() []string {
	return append(os.Environ(), asProgram+"="+d.version, "ACTORNODE_COOKIE="+cookie, "HOME="+d.dir)
}

// start starts the process and waits until it is ready.
func (d *daemon) start(t *testing.T) {
	d.cmd = exec.Command(os.Args[0], "start", "--config", d.file)
	d.cmd.Env, d.cmd.Dir = d.environment(), d.dir
	log, err := os.OpenFile(filepath.Join(d.dir, d.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	defer log.Close()
	d.cmd.Stdout, d.cmd.Stderr = log, log
	d.stdin, err = d.cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, d.cmd.Start())
	t.Cleanup(d.kill)
	testkit.Until(t, func() string {
		r, err := http.Get("http://" + d.http + "/readyz")
		if err != nil {
			return d.log()
		}
		defer r.Body.Close()
		if b, _ := io.ReadAll(r.Body); r.StatusCode != http.StatusOK {
			return d.name + " is not ready: " + string(b) + d.log()
		}
		return ""
	})
}

func (d *daemon) log() string {
	b, _ := os.ReadFile(filepath.Join(d.dir, d.name+".log"))
	return string(b)
}

// kill ends the process at once. It may have ended.
func (d *daemon) kill() {
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait()
	_ = d.stdin.Close()
	d.release()
}

// command runs a command line for the daemon.
func (d *daemon) command(t *testing.T, args ...string) {
	name := d.name + "@127.0.0.1"
	cmd := exec.Command(os.Args[0], append(args, "--no-epmd", "--node", name, "--peer", name+"="+d.listen)...)
	cmd.Env, cmd.Dir = d.environment(), d.dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

// hold opens n connections to the port for health and metrics, and leaves them open.
func (d *daemon) hold(t *testing.T, n int) {
	for range n {
		c, err := net.Dial("tcp", d.http)
		require.NoError(t, err)
		d.conns = append(d.conns, c)
		_, err = io.WriteString(c, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
		require.NoError(t, err)
		_, err = c.Read(make([]byte, 1000))
		require.NoError(t, err)
	}
}

func (d *daemon) release() {
	for _, c := range d.conns {
		_ = c.Close()
	}
	d.conns = nil
}

// scan opens n connections to the port for nodes, sends nothing, and closes them.
func (d *daemon) scan(t *testing.T, n int) {
	for range n {
		c, err := net.Dial("tcp", d.listen)
		require.NoError(t, err)
		defer c.Close()
	}
}

// at returns where a node listens for a protocol.
func at(t *testing.T, n *node.Node, protocol string) string {
	for _, e := range n.Endpoints() {
		if e.Protocol == protocol {
			return e.Addr
		}
	}
	require.Fail(t, "no listener", "%s for %s: %v", n.Name(), protocol, n.Endpoints())
	return ""
}

// peer starts a node in this process. Its process sink takes all messages.
func peer(t *testing.T, name string) *node.Node {
	n := nodetest.Start(t, node.Config{Name: node.Atom(name + "@127.0.0.1"),
		Distribution: &node.Distribution{Cookie: cookie, Finder: &discovery.Static{}}})
	_, err := n.SpawnOpt(node.Options{Name: "sink"}, node.ActorFunc(func(*node.Context, any) error { return nil }))
	require.NoError(t, err)
	return n
}

// begin starts a daemon for each scenario, and their peers, and waits until all are connected.
func begin(t *testing.T, all []scenario) *cluster {
	c := &cluster{T: t, hub: peer(t, "hub")}
	for _, p := range all {
		dir := t.TempDir()
		d := &daemon{scenario: p, version: "v1", dir: dir, file: filepath.Join(dir, "actornode.yaml"),
			http: fmt.Sprint("127.0.0.1:", porttest.Reserve(t)), listen: fmt.Sprint("127.0.0.1:", porttest.Reserve(t))}
		var peers []string
		if !p.alone {
			peers = append(peers, fmt.Sprintf("hub@127.0.0.1: native://%s", at(t, c.hub, "native")))
		}
		if p.peer != "" {
			n := peer(t, p.peer)
			d.way = newRelay(t, at(t, n, "native"))
			ways := []string{"native://" + d.way.from}
			if p.spare {
				ways = append(ways, at(t, n, "erlang"))
			}
			peers = append(peers, fmt.Sprintf("%s: [%s]", n.Name(), strings.Join(ways, ", ")))
		}
		finds := ""
		if p.finds != "" {
			finds = ", " + fmt.Sprintf(p.finds, porttest.Reserve(t))
		}
		require.NoError(t, os.WriteFile(d.file, fmt.Appendf(nil, `name: %s@127.0.0.1
listen: {erlang: %q}
http: {listen: %q}
discovery: {epmd: false, mesh: true, peers: {%s}%s}
%s
`, d.name, d.listen, d.http, strings.Join(peers, ", "), finds, p.config), 0o600))
		c.daemons = append(c.daemons, d)
	}
	var starts sync.WaitGroup
	for _, d := range c.daemons {
		starts.Go(func() { d.start(t) })
	}
	starts.Wait()
	return c
}
