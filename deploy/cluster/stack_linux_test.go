package cluster_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
)

// stack is what docker compose has made from the compose file.
type stack struct {
	*engine
	dir    string // cookie, overrides
	files  []string
	vars   []string
	cookie string
	nodes  []*container
	gate   string // address of this host in the network
	load   string // image of the load

	prometheus *container // scrapes the nodes; nil: none
}

// container is one container.
type container struct {
	s    *stack
	id   string
	name string // of its node
	host string // in that name; "": the address
	ip   string
	pid  int
}

const cookieOfTests = "SECRETOFCLUSTERTESTS"

// newStack prepares a stack, and removes it with the test.
func (e *engine) newStack(vars ...string) *stack {
	s := &stack{engine: e, dir: e.t.TempDir(), cookie: cookieOfTests}
	openFolders(e.t, s.dir)
	s.writeCookie(s.cookie)
	file, err := filepath.Abs("../docker/compose.yaml")
	require.NoError(e.t, err)
	s.files = []string{file}
	s.vars = append([]string{"COMPOSE_PROJECT_NAME=" + e.tag, "ACTORNODE_COOKIE_SECRET=" + s.dir + "/cookie",
		"COMPOSE_IGNORE_ORPHANS=1"}, vars...)
	e.t.Cleanup(func() {
		if e.t.Failed() {
			s.tellLogs()
		}
		for _, id := range strings.Fields(e.run("ps", "-aq", "--filter", "network="+s.network())) {
			e.try("rm", "-f", "-v", id)
		}
		s.compose("--profile", "tls", "--profile", "erlang", "down", "-v", "-t", "1")
	})
	return s
}

// in returns the stack for a part of the test.
func (s *stack) in(t testing.TB) *stack {
	e, x := *s.engine, *s
	e.t, x.engine = t, &e
	return &x
}

// openFolders gives the user of the containers access to a folder of the test.
func openFolders(t testing.TB, dir string) {
	for ; strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
		require.NoError(t, os.Chmod(dir, 0o755))
	}
}

func (s *stack) network() string { return s.tag + "_cluster" }

func (s *stack) writeCookie(cookie string) {
	require.NoError(s.t, os.WriteFile(s.dir+"/cookie.new", []byte(cookie+"\n"), 0o400))
	require.NoError(s.t, os.Chown(s.dir+"/cookie.new", 65532, 65532))
	b, err := os.ReadFile(s.dir + "/cookie.new")
	require.NoError(s.t, err)
	if _, err := os.Stat(s.dir + "/cookie"); err == nil { // the mounted file stays the same
		require.NoError(s.t, os.WriteFile(s.dir+"/cookie", b, 0o400))
		return
	}
	require.NoError(s.t, os.Rename(s.dir+"/cookie.new", s.dir+"/cookie"))
}

// compose runs docker compose.
func (s *stack) compose(args ...string) (string, error) {
	all := slices.Clone(s.engine.compose[1:])
	for _, f := range s.files {
		all = append(all, "-f", f)
	}
	cmd := s.command(s.engine.compose[0], append(all, args...)...)
	cmd.Env = append(cmd.Env, s.vars...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("compose %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// shell plays a session in the compose file's shell of Erlang.
func (s *stack) shell(input string) (string, error) {
	all := slices.Clone(s.engine.compose[1:])
	for _, f := range s.files {
		all = append(all, "-f", f)
	}
	cmd := s.command(s.engine.compose[0], append(all, "run", "--rm", "-T", "erlang")...)
	cmd.Env = append(cmd.Env, s.vars...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// up starts n nodes of a service.
func (s *stack) up(service string, n int, args ...string) {
	_, err := s.compose(append(args, "up", "-d", "--no-build", "--scale", fmt.Sprintf("%s=%d", service, n), service)...)
	require.NoError(s.t, err)
	ids := s.run("ps", "-q", "--no-trunc", "--filter", "label=com.docker.compose.project="+s.tag,
		"--filter", "label=com.docker.compose.service="+service)
	s.nodes = nil
	for _, id := range strings.Fields(ids) {
		s.nodes = append(s.nodes, s.look(id, "go"))
	}
	require.Len(s.t, s.nodes, n)
	s.gate = s.run("network", "inspect", "-f", "{{(index .IPAM.Config 0).Gateway}}", s.network())
}

// look looks up the address of a container.
func (s *stack) look(id, base string) *container {
	c := &container{s: s, id: id}
	require.NoError(s.t, c.find(base), "its log: %s", s.logs(c))
	return c
}

// find looks up the address of a container. Docker lists a container that it is about to restart as running, but
// without a process.
func (c *container) find(base string) error {
	out, err := c.s.try("inspect", "-f", "{{.State.Pid}} {{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", c.id)
	if err != nil {
		return err
	}
	var pid int
	var ip string
	if _, err := fmt.Sscan(out, &pid, &ip); err != nil || pid == 0 {
		return fmt.Errorf("container %s does not run: process and address %q", c.id, out)
	}
	c.pid, c.ip, c.name = pid, ip, base+"@"+cmp.Or(c.host, ip)
	return nil
}

// logs returns the last lines of a container's log.
func (s *stack) logs(c *container) string {
	cmd := s.command(s.docker, "logs", "--tail", "30", c.id)
	out, _ := cmd.CombinedOutput()
	return string(out)
}

func (s *stack) tellLogs() {
	for _, c := range s.nodes {
		s.t.Logf("the log of %s:\n%s", c.name, s.logs(c))
	}
}

// cli runs a command of actornode in the container.
func (c *container) cli(args ...string) (string, error) {
	cmd := c.s.command(c.s.docker, append([]string{"exec", c.id, "/usr/local/bin/actornode"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%s: actornode %s: %w: %s", c.name, strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// peers returns the nodes that the container's node is connected to, except commands.
func (c *container) peers() ([]string, error) {
	out, err := c.cli("nodes", "--json")
	if err != nil {
		return nil, err
	}
	var all []string
	d := json.NewDecoder(strings.NewReader(out))
	for {
		var v any
		if err := d.Decode(&v); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, namesIn(v)...)
	}
}

func namesIn(v any) (all []string) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			all = append(all, namesIn(x)...)
		}
	case map[string]any:
		for k, x := range v {
			if name, is := x.(string); is && (k == "name" || k == "node") {
				all = append(all, name)
			} else {
				all = append(all, namesIn(x)...)
			}
		}
	}
	return all
}

// get sends a request to the HTTP server of the container.
func (c *container) get(path string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.ip+":9100"+path, nil)
	if err != nil {
		return "", err
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", r.Status, b)
	}
	return string(b), err
}

// metric returns the sum of all series of a metric.
func (c *container) metric(name string) (sum float64, err error) {
	text, err := c.get("/metrics")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		series, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if metric, _, _ := strings.Cut(series, "{"); ok && metric == name {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return 0, err
			}
			sum += v
		}
	}
	return sum, nil
}

// ready waits until all nodes are ready, and connected to the n-1 others.
func (s *stack) ready() {
	for _, c := range s.nodes {
		until(s.t, func() string {
			if _, err := c.get("/readyz"); err != nil {
				return c.name + ": " + err.Error()
			}
			peers, err := c.metric("actornode_peers")
			if err != nil || int(peers) < len(s.nodes)-1 {
				return fmt.Sprintf("%s has %v peers: %v", c.name, peers, err)
			}
			return ""
		})
	}
}

// steer starts a node in the test's own process, in the network of the containers. It has no listener.
func (s *stack) steer(t testing.TB) *node.Node {
	return nodetest.Start(t, node.Config{Name: node.Atom("test@" + s.gate), Distribution: &node.Distribution{Cookie: s.cookie,
		Listen: "-", Finder: &discovery.Static{Port: 4370}}})
}
