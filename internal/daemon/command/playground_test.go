package command

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/internal/testkit/logtest"
)

// slowMachine is a warning of a daemon on a busy machine.
const slowMachine = "a message handler runs for too long"

// whole starts a cluster and returns its output when all daemons are connected.
func (s *cliTest) whole(t *testing.T, args ...string) (cmd *exec.Cmd, out *logtest.Text) {
	cmd, out = s.stream(t, append([]string{"cluster"}, args...)...)
	out.Await(t, "Ctrl-C ends them all.")
	return cmd, out
}

// status asks a node for its status.
func (s *cliTest) status(t *testing.T, name string) (sum admin.Summary, ok bool) {
	return sum, json.Unmarshal([]byte(s.shell(t, "actornode status --json -n "+name)), &sum) == nil
}

// connected waits until a node is connected to others in the native protocol, as many as others says.
func (s *cliTest) connected(t *testing.T, name string, others int) {
	eventually(t, name+" is connected", func() bool {
		return strings.Count(s.shell(t, "actornode nodes -n "+name), " native ") == others
	})
}

// TestCluster: the examples that the cluster prints work, a daemon that is killed comes back, and Ctrl-C ends all
// daemons.
func TestCluster(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	cmd, out := s.whole(t)
	text := out.String()
	cookie := regexp.MustCompile(`export ACTORNODE_COOKIE=([A-Z]{20})\n`).FindStringSubmatch(text)
	require.NotNil(t, cookie, text)
	for line := range strings.Lines(text) {
		if strings.Contains(line, "level=WARN") {
			assert.Contains(t, line, slowMachine)
		}
	}
	assert.Contains(t, text, "3 nodes are up and connected to each other: one@127.0.0.1 two@127.0.0.1 three@127.0.0.1")
	assert.NotContains(t, text, "actornode() {", "this one is on the PATH")
	s.env = append(s.env, "ACTORNODE_COOKIE="+cookie[1])

	tries := 0
	for line := range strings.Lines(text) {
		command, isTry := strings.CutPrefix(line, "    actornode ")
		if !isTry || strings.HasPrefix(command, "top") || strings.HasPrefix(command, "trace") {
			continue // these go on until Ctrl-C; they have tests of their own
		}
		tries++
		assert.NotContains(t, s.shell(t, "actornode "+command), "[exit", command)
	}
	assert.Equal(t, 8, tries, text)
	assert.Equal(t, "5\n", s.shell(t, `actornode call -n three "{counter, 'two@127.0.0.1'}" '{add, 5}'`))
	for _, name := range []string{"one", "two", "three"} {
		s.connected(t, name, 2)
	}
	if _, err := exec.LookPath("erl"); err == nil {
		assert.Contains(t, text, "erl -name me@127.0.0.1 -setcookie "+cookie[1])
		if erltest.Has() {
			s.shellOfErlang(t, cookie[1])
		}
	} else {
		assert.NotContains(t, text, "Erlang shell")
	}

	was, ok := s.status(t, "one") // this is the port mapper, too
	require.True(t, ok)
	const kill = `kill -9 $(actornode status -n two --json | sed 's/.*"pid":\([0-9]*\).*/\1/')`
	require.Contains(t, text, "\n    "+kill+"  #")
	if testkit.At() >= testkit.Merge {
		s.shell(t, strings.ReplaceAll(kill, "-n two", "-n one"))
	} else {
		require.NoError(t, syscall.Kill(was.PID, syscall.SIGKILL))
	}
	out.Await(t, "one@127.0.0.1 ended (signal: killed) and will be restarted")
	eventually(t, "one is back", func() bool {
		now, ok := s.status(t, "one")
		return ok && now.Ready && now.Creation != was.Creation
	})
	for _, name := range []string{"one", "two", "three"} {
		s.connected(t, name, 2)
	}
	assert.Equal(t, "0\n", s.shell(t, "actornode call -n one counter get"), "a new life")

	var pids []int
	for _, name := range []string{"one", "two", "three"} {
		now, ok := s.status(t, name)
		require.True(t, ok)
		pids = append(pids, now.PID)
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, cmd.Wait(), out.String()) // exit status 0
	assert.Contains(t, out.String(), "all nodes have ended")
	for _, pid := range pids {
		assert.True(t, ended(pid), "nothing is left")
	}
}

// shellOfErlang runs in an Erlang node the example that the cluster prints for it.
func (s *cliTest) shellOfErlang(t *testing.T, cookie string) {
	cmd := s.command(t, "erl", "-noinput", "-name", "me@127.0.0.1", "-setcookie", cookie, "-eval", `
		R = gen_server:call({counter, 'two@127.0.0.1'}, {add, 5}, infinity), [_, _] = supervisor:which_children({demo, 'one@127.0.0.1'}),
		io:format("~p ~p~n", [R, lists:sort(nodes(hidden))]), halt().`)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Equal(t, "10 ['one@127.0.0.1','two@127.0.0.1']\n", string(out))
}

// When the program that started the daemons dies, they end, too.
func TestClusterKilled(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	cmd, _ := s.whole(t, "--names", "a,b", "--cookie", "secret")
	sum, ok := s.status(t, "b")
	require.True(t, ok)
	require.NoError(t, cmd.Process.Kill())
	cmd.Wait()
	eventually(t, "its daemons have ended", func() bool { return ended(sum.PID) })
}

// ended reports whether there is no process of the operating system with that number any more.
func ended(pid int) bool {
	p, err := os.FindProcess(pid)
	return err != nil || errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// A cluster that cannot start reports what prevents it.
func TestClusterRefused(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	assert.Equal(t, "Error: --names: want at least two names\n[exit 2]\n", s.shell(t, "actornode cluster --names a"))
	assert.Contains(t, s.shell(t, "actornode cluster --names a,a"), "different names, without a host\n[exit 2]")
	assert.Contains(t, s.shell(t, "actornode cluster --names a@h,b"), "different names, without a host")
	assert.Contains(t, s.shell(t, "actornode cluster --log-level loud"), "[exit 2]")
	assert.Contains(t, s.shell(t, "actornode cluster --cookie 'caf\u00e9'"), "want 1 to 255 printable ASCII characters\n[exit 2]")
	s.daemon(t, "--name", "two@127.0.0.1")
	assert.Equal(t, "Error: a node named two already runs on this host: stop it (actornode stop --node two), or choose other "+
		"names: --names a,b,c\n[exit 1]\n",
		s.shell(t, "actornode cluster"))
	assert.Contains(t, s.shell(t, "ACTORNODE_HTTP_LISTEN=127.0.0.1:1x actornode cluster --names x,y"),
		"x@127.0.0.1 did not start (exit status 1): see its log above\n[exit 1]")
}

// TestNativeStatus: commands use the native protocol with an actornode, Erlang's protocol with one that has no other,
// and with OTP.
func TestNativeStatus(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	for protocol, args := range map[string][]string{"native": {"--name", "go@127.0.0.1"},
		"erlang": {"--name", "old@127.0.0.1", "--protocols", "erlang"}} {
		log := s.daemon(t, append(args, "--demo", "--log-level", "debug")...).Stderr.(*logtest.Text)
		s.shell(t, "actornode info counter -n "+args[1])
		log.Await(t, "client connected")
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, "client connected") {
				assert.Contains(t, line, "protocol="+protocol)
			}
		}
	}
	assert.Contains(t, s.shell(t, "actornode status -n go"), "native://127.0.0.1:")
	assert.NotContains(t, s.shell(t, "actornode status -n old"), "native")
	s.shell(t, "actornode connect -n go old@127.0.0.1")
	assert.Regexp(t, `old@127.0.0.1 \(hidden\) +up +erlang `, s.shell(t, "actornode nodes -n go"))
}
