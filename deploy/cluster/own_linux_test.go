package cluster_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// clone starts a node with the variables of another, except those in vars. args are options of docker run.
func (s *stack) clone(t testing.TB, of *container, image string, args []string, vars ...string) (id string) {
	all := []string{"run", "-d", "--user", "65532:65532", "--read-only", "--cap-drop", "ALL", "-v",
		s.dir + "/cookie:/run/secrets/cookie:ro"}
	env := strings.Split(s.run("inspect", "-f", "{{range .Config.Env}}{{println .}}{{end}}", of.id), "\n")
	for _, v := range append(env, vars...) { // the last one of a name counts
		if strings.HasPrefix(v, "ACTORNODE_") {
			all = append(all, "-e", v)
		}
	}
	id = s.run(append(append(all, args...), image)...)
	t.Cleanup(func() { s.try("rm", "-f", id) })
	return id
}

// stillRuns returns an error text if a container runs; "": it has ended.
func (s *stack) stillRuns(id string) string {
	state, err := s.try("inspect", "-f", "{{.State.Status}}", id)
	if err != nil {
		return err.Error()
	} else if state != "exited" {
		return "the container is " + state
	}
	return ""
}

// others makes a stack of n nodes beside that of the other rows, and returns a load for it. It ends with the row.
func (f *fault) others(n int, tick time.Duration, override string) (load *container) {
	e := *f.s.engine
	e.t, e.tag = f.t, e.tag+"-own"
	x := e.newStack("ACTORNODE_IMAGE="+f.s.image("node"), "ACTORNODE_TICK_TIME="+tick.String(), "ACTORNODE_USER=65532:65532")
	if override != "" {
		require.NoError(f.t, os.WriteFile(x.dir+"/override.yaml", []byte(override), 0o644))
		x.files = append(x.files, x.dir+"/override.yaml")
	}
	x.up("node", n)
	x.ready()
	x.load = f.s.load
	f.s, f.victim = x, x.nodes[0]
	return x.startLoad(f.t, "-e", "LOAD_TICK_TIME="+tick.String())
}

// quick starts nodes that notice soon that a peer is gone.
func (f *fault) quick() *container { return f.others(3, fastTick, "") }

// started starts only the row's load.
func (f *fault) started() *container { return f.s.startLoad(f.t) }
