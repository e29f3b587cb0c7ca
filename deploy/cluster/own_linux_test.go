package cluster_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/certtest"
	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

// clone starts a node with the variables of another, but for those in vars. args are options of docker run.
func (s *stack) clone(t testing.TB, of *container, image string, args []string, vars ...string) (id string) {
	all := []string{"run", "-d", "--user", "65532:65532", "--read-only", "--cap-drop", "ALL", "-v",
		s.dir + "/cookie:/run/secrets/cookie:ro"}
	env := strings.Split(s.run("inspect", "-f", "{{range .Config.Env}}{{println .}}{{end}}", of.id), "\n")
	for _, v := range append(env, vars...) { // the last one of a name holds
		if strings.HasPrefix(v, "ACTORNODE_") {
			all = append(all, "-e", v)
		}
	}
	id = s.run(append(append(all, args...), image)...)
	t.Cleanup(func() { s.try("rm", "-f", id) })
	return id
}

// namesake starts another node under the victim's name, on the victim's host.
func (f *fault) namesake() {
	id := f.s.clone(f.t, f.victim, f.s.image("node"), []string{"--network", "container:" + f.victim.id},
		"ACTORNODE_NAME="+f.victim.name, "ACTORNODE_LISTEN_ERLANG=:0", "ACTORNODE_LISTEN_NATIVE=:0", "ACTORNODE_HTTP_LISTEN=off")
	within(f.t, time.Minute, func() string {
		return f.s.stillRuns(id)
	})
	out := f.s.logs(&container{id: id})
	f.t.Logf("what the second node says:\n%s", out)
	assert.NotEqual(f.t, "0", f.s.run("inspect", "-f", "{{.State.ExitCode}}", id))
	assert.Contains(f.t, out, f.victim.name)
	f.hold(5 * time.Second)
}

// stillRuns says that a container runs; "": it has ended.
func (s *stack) stillRuns(id string) string {
	state, err := s.try("inspect", "-f", "{{.State.Status}}", id)
	if err != nil {
		return err.Error()
	} else if state != "exited" {
		return "the container is " + state
	}
	return ""
}

// imposter starts another node under the victim's name, on a host of its own.
func (f *fault) imposter() {
	began := time.Now().Format(time.RFC3339Nano)
	id := f.s.clone(f.t, f.victim, f.s.image("node"), []string{"--network", f.s.network()}, "ACTORNODE_NAME="+f.victim.name)
	f.hold(20 * time.Second)
	f.s.run("rm", "-f", id)
	f.s.ready(time.Minute)
	log, err := f.s.command(f.s.docker, "logs", "--since", began, f.victim.id).CombinedOutput()
	require.NoError(f.t, err)
	ups := strings.Count(string(log), `"msg":"node up"`)
	f.t.Logf("the first node was connected again %d times", ups)
	assert.Positive(f.t, ups)
	assert.Less(f.t, ups, 20*len(f.s.nodes), "the two nodes try again less and less often")
}

// others makes a stack beside that of the other rows, of n nodes, and returns a load for it. It ends with the row.
func (f *fault) others(n int, tick time.Duration, override string) (load *container) {
	e := *f.s.engine
	e.t, e.tag = f.t, e.tag+"-own"
	x := e.newStack("ACTORNODE_IMAGE="+f.s.image("node"), "ACTORNODE_TICK_TIME="+tick.String(), "ACTORNODE_USER=65532:65532")
	if override != "" {
		require.NoError(f.t, os.WriteFile(x.dir+"/override.yaml", []byte(override), 0o644))
		x.files = append(x.files, x.dir+"/override.yaml")
	}
	x.up("node", n)
	x.ready(time.Minute)
	x.load = f.s.load
	f.s, f.victim = x, x.nodes[0]
	return x.startLoad(f.t, "-e", "LOAD_TICK_TIME="+tick.String())
}

// quick starts nodes that are to notice soon that a peer is gone.
func (f *fault) quick() *container { return f.others(3, fastTick, "") }

// Where the log of nodes is that have a small disk for it.
const logFolder = "/var/log/actornode"

// smallDisk has the log in a file system of 256 KiB.
func (f *fault) smallDisk() *container {
	return f.others(3, tickTime, `services:
  node:
    environment: {ACTORNODE_LOG_FILE: `+logFolder+`/log}
    tmpfs: ["`+logFolder+`:size=256k,mode=1777"]
`)
}

// diskFull leaves no room for the victim's log.
func (f *fault) diskFull() {
	folder := fmt.Sprintf("/proc/%d/root%s/", f.victim.pid, logFolder)
	read := func() string {
		b, err := os.ReadFile(folder + "log")
		require.NoError(f.t, err)
		return string(b)
	}
	say := func() { // has the node log a line
		_, err := f.victim.cli("log", "level", "info")
		assert.NoError(f.t, err)
	}
	failures := func() float64 {
		n, err := f.victim.metric("actornode_log_write_failures_total")
		require.NoError(f.t, err)
		return n
	}
	assert.Zero(f.t, failures())
	fill, err := os.Create(folder + "fill")
	require.NoError(f.t, err)
	for err == nil {
		_, err = fill.Write(make([]byte, 4096))
	}
	require.ErrorIs(f.t, err, syscall.ENOSPC)
	require.NoError(f.t, fill.Close())
	within(f.t, time.Minute, func() string { // the last block of the log has room for some lines
		if say(); failures() == 0 {
			return "all lines are written"
		}
		return ""
	})
	full := read()
	f.hold(10 * time.Second)
	say()
	assert.Equal(f.t, full, read())
	for _, path := range []string{"/livez", "/readyz"} {
		_, err := f.victim.get(path)
		assert.NoError(f.t, err)
	}
	f.t.Logf("%v lines could not be written", failures())
	require.NoError(f.t, os.Remove(folder+"fill"))
	say()
	within(f.t, 10*time.Second, func() string {
		if after := strings.TrimPrefix(read(), full); !strings.HasSuffix(after, "}\n") {
			return fmt.Sprintf("the log goes on with %q", after)
		}
		return ""
	})
}

// certified starts nodes that speak TLS only, and their load.
func (f *fault) certified() *container {
	x, files := f.s.startTLS(f.t, 3)
	f.s, f.victim, f.files = x, x.nodes[0], files
	return x.startLoad(f.t, "-v", files.dir+":/tls:ro", "-e", "LOAD_TLS=/tls")
}

// certificates are those of a stack that speaks TLS.
type certificates struct {
	dir  string
	ca   *certtest.Authority
	leaf certtest.Leaf
}

// put puts files into the folder of the nodes, each at once.
func (c *certificates) put(t testing.TB, files map[string][]byte) {
	for name, text := range files {
		name = filepath.Join(c.dir, name)
		require.NoError(t, os.WriteFile(name+".new", text, 0o400))
		require.NoError(t, os.Chown(name+".new", 65532, 65532))
		require.NoError(t, os.Rename(name+".new", name))
	}
}

// startTLS starts n nodes of the profile tls. They end with the test.
func (s *stack) startTLS(t testing.TB, n int) (*stack, *certificates) {
	files := &certificates{dir: t.TempDir(), ca: certtest.New(t, "ca"), leaf: certtest.Host("tls.example")}
	gate := netip.MustParseAddr(s.gate)
	for a := gate.Next(); len(files.leaf.IPs) < 60; a = a.Next() {
		files.leaf.IPs = append(files.leaf.IPs, a.String())
	}
	cert, key := files.ca.Make(files.leaf)
	files.put(t, map[string][]byte{"cert.pem": cert, "key.pem": key, "ca.pem": files.ca.PEM})
	openFolders(t, files.dir)
	x := s.in(t)
	x.vars = append(slices.Clone(s.vars), "ACTORNODE_TLS="+files.dir)
	x.up("tls", n, "--profile", "tls")
	t.Cleanup(func() {
		if t.Failed() {
			x.tellLogs()
		}
		for _, c := range x.nodes {
			s.try("rm", "-f", c.id)
		}
	})
	x.ready(time.Minute)
	return x, files
}

// shows returns the serial number of the certificate that a node shows.
func (c *container) shows(t testing.TB) string {
	conn, err := tls.Dial("tcp", c.ip+":4371", &tls.Config{InsecureSkipVerify: true}) // it is looked at, not trusted
	require.NoError(t, err)
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// recertify gives the nodes other certificates, and then those of another authority.
func (f *fault) recertify() {
	reconnect := func() { // the rest of the nodes, so that no connection of the load ends
		for i, c := range f.s.nodes {
			other := f.s.nodes[(i+1)%len(f.s.nodes)]
			_, err := c.cli("disconnect", other.name)
			assert.NoError(f.t, err)
			_, err = c.cli("connect", other.name)
			assert.NoError(f.t, err)
		}
	}
	serial := func(cert []byte) string {
		block, _ := pem.Decode(cert)
		require.NotNil(f.t, block)
		c, err := x509.ParseCertificate(block.Bytes)
		require.NoError(f.t, err)
		return c.SerialNumber.String()
	}
	show := func(want string) {
		for _, c := range f.s.nodes {
			assert.Equal(f.t, want, c.shows(f.t), c.name)
		}
	}
	before := f.victim.shows(f.t)
	cert, key := f.files.ca.Make(f.files.leaf)
	require.NotEqual(f.t, before, serial(cert))

	f.files.put(f.t, map[string][]byte{"cert.pem": []byte("no certificate")})
	show(before) // one that cannot be used changes nothing; commands read the same file, and have no older one
	f.files.put(f.t, map[string][]byte{"key.pem": key})
	f.files.put(f.t, map[string][]byte{"cert.pem": cert})
	show(serial(cert))
	reconnect()

	next := certtest.New(f.t, "the next ca")
	f.files.put(f.t, map[string][]byte{"ca.pem": append(slices.Clone(f.files.ca.PEM), next.PEM...)})
	reconnect()
	cert, key = next.Make(f.files.leaf)
	f.files.put(f.t, map[string][]byte{"key.pem": key})
	f.files.put(f.t, map[string][]byte{"cert.pem": cert})
	reconnect()
	f.files.put(f.t, map[string][]byte{"ca.pem": next.PEM})
	reconnect()
	show(serial(cert))
	f.hold(5 * time.Second)
}

// started has the row's load alone.
func (f *fault) started() *container { return f.s.startLoad(f.t) }

// limited gives the victim less memory, of which it knows when it starts.
func (f *fault) limited() *container {
	restart := func(limit, swap string) error {
		f.s.run("update", "--memory", limit, "--memory-swap", swap, f.victim.id)
		f.s.run("restart", f.victim.id)
		return f.victim.find("go")
	}
	require.NoError(f.t, restart("192m", "192m"))
	f.t.Cleanup(func() { assert.NoError(f.t, restart("4g", "8g")) })
	f.s.ready(time.Minute)
	return f.s.startLoad(f.t)
}

// hoard has a process of the victim keep messages of 1 MiB, until full says that it is enough. stop ends the process.
func (f *fault) hoard(full func() bool) (stop func()) {
	n := f.s.steer(f.t)
	at := wire.Atom(f.victim.name)
	pid, err := rpc.Spawn(nodetest.Soon(f.t), n, at, "demo", "echo")
	require.NoError(f.t, err)
	require.NoError(f.t, sys.Suspend(nodetest.Soon(f.t), n, pid))
	self := nodetest.Open(f.t, n)
	within(f.t, time.Minute, func() string {
		for range 10 {
			if full() {
				return ""
			}
			assert.NoError(f.t, self.Send(pid, wire.Tuple{self.Self(), make([]byte, 1<<20)}))
		}
		return "it is not enough"
	})
	return func() { n.Exit(pid, wire.Atom("kill")) }
}

// short has live objects need the memory that the victim may use.
func (f *fault) short() {
	ready := func() error {
		_, err := f.victim.get("/readyz")
		return err
	}
	require.NoError(f.t, ready())
	stop := f.hoard(func() bool { return ready() != nil })
	assert.ErrorContains(f.t, ready(), "memory")
	_, err := f.s.nodes[1].cli("rpc", "--node", f.victim.name, "demo", "add", "1", "2")
	assert.ErrorContains(f.t, err, "system_limit")
	f.hold(10 * time.Second)
	stop()
	within(f.t, time.Minute, func() string {
		if err := ready(); err != nil {
			return err.Error()
		}
		return ""
	})
	assert.Equal(f.t, "0", f.s.run("inspect", "-f", "{{.RestartCount}}", f.victim.id), "the kernel has not ended it")
}

// beyond takes memory away that the victim believes to have.
func (f *fault) beyond() {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.victim.pid))
	require.NoError(f.t, err)
	m := regexp.MustCompile(`(?m)^VmRSS:\s+(\d+) kB`).FindStringSubmatch(string(status))
	require.NotNil(f.t, m, string(status))
	used, err := strconv.Atoi(m[1])
	require.NoError(f.t, err)
	limit := fmt.Sprint(used+64<<10, "k")
	f.s.run("update", "--memory", limit, "--memory-swap", limit, f.victim.id)
	pid := f.victim.pid
	f.hoard(func() bool {
		_, err := os.Stat(fmt.Sprintf("/proc/%d/root/proc", pid))
		return err != nil
	})
	f.s.run("update", "--memory", "4g", "--memory-swap", "8g", f.victim.id)
	f.again()
}

// mixed starts a node of an old version beside those of this one.
func (f *fault) mixed() *container {
	revision, image := f.s.oldImage(f.t)
	f.t.Logf("the old version is %s", revision)
	const host = "old.example"
	id := f.s.clone(f.t, f.s.nodes[0], image, []string{"--network", f.s.network(), "--network-alias", host}, "ACTORNODE_NAME=go@"+host)
	old := &container{s: f.s, id: id}
	require.NoError(f.t, old.find("go"), f.s.logs(old))
	old.name = "go@" + host
	f.s.nodes = append(slices.Clone(f.s.nodes), old)
	f.victim = old
	f.s.ready(time.Minute)
	for _, c := range f.s.nodes {
		if c != old {
			_, err := c.cli("connect", old.name)
			require.NoError(f.t, err)
		}
	}
	return f.s.startLoad(f.t)
}

var oldVersion = flag.String("cluster.old", "", "revision of the old version; empty: the last tag, or 200 commits ago")

// oldImage makes an image of an old version of this repository.
func (s *stack) oldImage(t testing.TB) (revision, image string) {
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", append([]string{"-C", "../.."}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	revision = *oldVersion
	if revision == "" {
		var err error
		if revision, err = git("describe", "--tags", "--abbrev=0", "HEAD~1"); err != nil {
			revision = "HEAD~200"
		}
	}
	revision, err := git("rev-parse", "--short", revision+"^{commit}")
	if err != nil {
		t.Skipf("NO OLD VERSION: the repository has no history here: %v", err)
	}
	dir := t.TempDir()
	tree := exec.Command("git", "-C", "../..", "archive", revision)
	unpack := exec.Command("tar", "-x", "-C", dir)
	unpack.Stdin, err = tree.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, tree.Start())
	require.NoError(t, unpack.Run())
	require.NoError(t, tree.Wait())
	out := t.TempDir()
	cmd := exec.Command("go", "build", "-o", out+"/actornode", "./cmd/actornode")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-pgo=off -buildvcs=false")
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, string(text))
	require.NoError(t, os.WriteFile(out+"/Dockerfile", []byte("FROM "+s.image("node")+"\nCOPY actornode /usr/local/bin/actornode\n"), 0o644))
	return revision, s.in(t).build("old", out)
}

// mix makes calls between the versions, both ways.
func (f *fault) mix() {
	for _, c := range f.s.nodes[:len(f.s.nodes)-1] {
		for _, x := range [][2]*container{{c, f.victim}, {f.victim, c}} {
			args := []string{"rpc", "--node", x[1].name, "demo", "add", "20", "22"}
			if x[0] == f.victim { // its command may not know cookie_file yet
				args = append(args, "--cookie", f.s.cookie)
			}
			out, err := x[0].cli(args...)
			assert.NoError(f.t, err)
			assert.Equal(f.t, "42\n", out)
		}
	}
	f.hold(20 * time.Second)
}
