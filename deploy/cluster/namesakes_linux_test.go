package cluster_test

import (
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// namesake starts another node under the victim's name, on the victim's host.
func (f *fault) namesake() {
	id := f.s.clone(f.t, f.victim, f.s.image("node"), []string{"--network", "container:" + f.victim.id},
		"ACTORNODE_NAME="+f.victim.name, "ACTORNODE_LISTEN_ERLANG=:0", "ACTORNODE_LISTEN_NATIVE=:0", "ACTORNODE_HTTP_LISTEN=off")
	until(f.t, func() string {
		return f.s.stillRuns(id)
	})
	out := f.s.logs(&container{id: id})
	assert.NotEqual(f.t, "0", f.s.run("inspect", "-f", "{{.State.ExitCode}}", id))
	assert.Contains(f.t, out, "the name is already registered")
	f.hold(5 * time.Second)
}

// namesakeElsewhere starts another node under the victim's name, on a host of its own.
func (f *fault) namesakeElsewhere() {
	began := time.Now().Format(time.RFC3339Nano)
	id := f.s.clone(f.t, f.victim, f.s.image("node"), []string{"--network", f.s.network()}, "ACTORNODE_NAME="+f.victim.name)
	f.hold(20 * time.Second)
	f.s.run("rm", "-f", id)
	f.s.ready()
	log, err := f.s.command(f.s.docker, "logs", "--since", began, f.victim.id).CombinedOutput()
	require.NoError(f.t, err)
	ups := strings.Count(string(log), `"msg":"node up"`)
	f.t.Logf("the first node was connected again %d times", ups)
	assert.Positive(f.t, ups)
	assert.Less(f.t, ups, 20*len(f.s.nodes), "the two nodes try again less and less often")
}
