package cluster_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

// limited gives the victim less memory, and the victim knows that when it starts.
func (f *fault) limited() *container {
	restart := func(limit, swap string) error {
		f.s.run("update", "--memory", limit, "--memory-swap", swap, f.victim.id)
		f.s.run("restart", f.victim.id)
		return f.victim.find("go")
	}
	require.NoError(f.t, restart("192m", "192m"))
	f.t.Cleanup(func() { assert.NoError(f.t, restart("4g", "8g")) })
	f.s.ready()
	return f.s.startLoad(f.t)
}

// hoard makes a process of the victim keep messages of 1 MiB, until full returns true. stop ends the process.
func (f *fault) hoard(full func() bool) (stop func()) {
	n := f.s.steer(f.t)
	at := wire.Atom(f.victim.name)
	pid, err := rpc.Spawn(testkit.Context(f.t), n, at, "demo", "echo")
	require.NoError(f.t, err)
	require.NoError(f.t, sys.Suspend(testkit.Context(f.t), n, pid))
	self := nodetest.NewProbe(f.t, n)
	until(f.t, func() string {
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

// short makes live objects take all the memory that the victim may use.
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
	until(f.t, func() string {
		if err := ready(); err != nil {
			return err.Error()
		}
		return ""
	})
	assert.Equal(f.t, "0", f.s.run("inspect", "-f", "{{.RestartCount}}", f.victim.id), "the kernel has not ended it")
}

// beyond takes away memory that the victim believes it has.
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
	until(f.t, func() string { // Docker does not change a container that it is about to restart
		if _, err := f.s.try("update", "--memory", "4g", "--memory-swap", "8g", f.victim.id); err != nil {
			return err.Error()
		}
		return ""
	})
	f.again()
}
