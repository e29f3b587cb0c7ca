package command

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheck(t *testing.T) {
	env, out, errs := newEnvironment(t, map[string]string{"ACTORNODE_LOG_LEVEL": "debug"})
	file := filepath.Join(t.TempDir(), "a.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	write("name: go@127.0.0.1\ncookie: TOPSECRET\nsupervisor: {children: [{name: a, start: \"demo:echo\"}]}\n")
	require.Equal(t, exitOK, run(t.Context(), []string{"check", file}, env), errs.String())
	assert.Equal(t, file+": ok\n", out.String())
	require.Equal(t, exitOK, run(t.Context(), []string{"check", file, "--print"}, env), errs.String())
	assert.Contains(t, out.String(), "level: debug # ACTORNODE_LOG_LEVEL\n")
	assert.Contains(t, out.String(), "name: go@127.0.0.1 # "+file+":1:7\n")
	assert.Contains(t, out.String(), "# and the tree in "+file)
	assert.NotContains(t, out.String(), "SECRET")
	assert.Empty(t, errs.String())

	write("nmae: go@127.0.0.1\ncookie: \"TOPSECRET\\n\"\nsupervisor: {children: [{name: a, start: \"demo:ecko\"}]}\n")
	require.Equal(t, exitFailed, run(t.Context(), []string{"check", file}, env))
	assert.Equal(t, file+":1:1: nmae: unknown field; did you mean name? allowed: name, cookie, cookie_file, cookies, old_cookies, "+
		"cookie_overlap, hidden, global, listen, tls, protocols, operators, allow, rights, discovery, limits, tick_time, "+
		"connect_timeout, awake, grace, …\n"+
		file+":2:9: cookie: want 1 to 255 printable ASCII characters\n"+
		file+":3:42: supervisor.children[0].start: demo:ecko is not exported; did you mean demo:echo/0? allowed: demo:counter/0, "+
		"demo:echo/0, demo:exit/1, demo:tasks/0\n",
		errs.String())
}

// The sample that the documentation names is one that the program takes.
func TestCheckSample(t *testing.T) {
	env, _, errs := newEnvironment(t, nil)
	for _, file := range []string{"actornode.yaml", "port/actornode.yaml"} {
		assert.Equal(t, exitOK, run(t.Context(), []string{"check", "../../deploy/samples/" + file}, env), errs.String())
	}
}
