//go:build unix

package contest

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/bench/internal/contract"
)

// peer writes a peer with a run of this shell script into dir.
func peer(t *testing.T, dir, name, script string) {
	t.Helper()
	folder := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(folder, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "run"), []byte("#!/bin/sh\n"+script), 0o755))
}

// result is a peer's line for $1; a script puts it into double quotes.
const result = `{\"system\":\"fake\",\"version\":\"1\",\"bench\":\"$1\",\"params\":{\"n\":5},\"seconds\":0.1,` +
	`\"ops\":5,\"ops_per_sec\":50,\"ns_per_op\":20.5,\"peak_rss_mib\":3,\"extra\":{}}`

const goodPeer = `
case $1 in
build) ;;
list) printf 'latency  n=5  a ball\n\nfib\n' ;;
*) echo "` + result + `" ;;
esac
`

func TestPeersAreFoldersWithAnExecutableRun(t *testing.T) {
	dir := t.TempDir()
	peer(t, dir, "b", "")
	peer(t, dir, "a", "")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "empty"), 0o755))
	peer(t, dir, "plain", "")
	require.NoError(t, os.Chmod(filepath.Join(dir, "plain", "run"), 0o644))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "folder", "run"), 0o755))
	names, err := peers(dir)
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b"}, names)
}

func TestPeerRuns(t *testing.T) {
	dir := t.TempDir()
	peer(t, dir, "fake", goodPeer)
	e := enter(t.Context(), dir, "fake")
	require.NoError(t, e.err)
	assert.Equal(t, []string{"latency", "fib"}, e.benches)
	assert.True(t, e.has("fib"))
	assert.False(t, e.has("n=5"))
	r, err := e.run(t.Context(), Case{Bench: "fib", Params: []string{"n=5"}}, time.Minute)
	require.NoError(t, err)
	assert.Equal(t, 20.5, r.NsPerOp)
}

func TestPeerThatIsNotThere(t *testing.T) {
	dir := t.TempDir()
	peer(t, dir, "absent", "echo 'no tool on the PATH' >&2; exit 3")
	peer(t, dir, "broken", "echo 'syntax error' >&2; echo more >&2; exit 1")
	peer(t, dir, "shy", "[ $1 = build ]")
	absent := enter(t.Context(), dir, "absent")
	assert.True(t, absent.absent)
	assert.EqualError(t, absent.err, "build: exit status 3: no tool on the PATH")
	broken := enter(t.Context(), dir, "broken")
	assert.False(t, broken.absent)
	assert.EqualError(t, broken.err, "build: exit status 1: syntax error")
	assert.EqualError(t, enter(t.Context(), dir, "shy").err, "list: exit status 1: nothing on stderr")
	assert.ErrorContains(t, enter(t.Context(), dir, "nobody").err, "no such file")
}

func TestRunThatFails(t *testing.T) {
	dir := t.TempDir()
	peer(t, dir, "fake", "echo 'fib: check failed' >&2; exit 1")
	peer(t, dir, "chatty", `echo hello; echo "`+result+`"`)
	run := func(name string) error {
		e := Entrant{command: []string{filepath.Join(dir, name, "run")}}
		_, err := e.run(t.Context(), Case{Bench: "fib"}, time.Minute)
		return err
	}
	assert.EqualError(t, run("fake"), "exit status 1: fib: check failed")
	assert.ErrorContains(t, run("chatty"), "more than one line")
}

// The peer and its child hold the write end of a pipe: reading it to its end
// takes until both are dead.
func TestWhoIsKilledIsKilledWithItsChildren(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	peer(t, dir, "slow", `exec 3>"$2"; sleep 1000 & echo up >&3; wait`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { // ends with the command, which the test waits for
		_, err := execute(ctx, time.Hour, []string{filepath.Join(dir, "slow", "run"), "fib", pipe})
		ended <- err
	}()
	reader, err := os.Open(pipe)
	require.NoError(t, err)
	defer reader.Close()
	lines := bufio.NewReader(reader)
	up, err := lines.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "up\n", up)
	cancel()
	_, err = io.ReadAll(lines)
	require.NoError(t, err)
	assert.ErrorContains(t, <-ended, "signal: killed")
}

func TestFirstLine(t *testing.T) {
	assert.Equal(t, "a", firstLine("\n a\nb"))
	assert.Equal(t, strings.Repeat("é", longestLine)+"…", firstLine(strings.Repeat("é", longestLine+1)))
	assert.Equal(t, strings.Repeat("é", longestLine), firstLine(strings.Repeat("é", longestLine)))
}

func TestARunHasItsTime(t *testing.T) {
	dir := t.TempDir()
	peer(t, dir, "slow", "exec sleep 1000")
	_, err := execute(t.Context(), time.Millisecond, []string{filepath.Join(dir, "slow", "run")})
	assert.EqualError(t, err, "not done after 1ms")
}

func TestOursIsOneEntrantAStyle(t *testing.T) {
	s := contract.System{Name: "actornode", Benches: []contract.Bench{
		{Name: "fib", Params: []contract.Param{contract.Style()}}, {Name: "coop"},
	}}
	entrants, err := ours(s, []string{contract.Actor, contract.Process})
	require.NoError(t, err)
	require.Len(t, entrants, 2)
	assert.Equal(t, "actornode actor", entrants[0].Name)
	assert.Equal(t, []string{"fib", "coop"}, entrants[0].benches)
	assert.Equal(t, "actornode process", entrants[1].Name)
	assert.Equal(t, []string{"fib"}, entrants[1].benches)
	c := Case{Bench: "fib", Params: []string{"n=3"}}
	assert.Equal(t, []string{"fib", "n=3"}, entrants[0].arguments(c)[1:])
	assert.Equal(t, []string{"fib", "n=3", "style=process"}, entrants[1].arguments(c)[1:])
}

func TestStylesOfACase(t *testing.T) {
	all, some := Case{Bench: "a"}, Case{Bench: "a", Styles: []string{contract.Active}}
	actor := Entrant{style: contract.Actor, benches: []string{"a"}}
	object := Entrant{style: contract.Active, benches: []string{"a"}}
	assert.True(t, actor.takesPart(all))
	assert.False(t, actor.takesPart(some))
	assert.True(t, object.takesPart(some))
	assert.True(t, Entrant{benches: []string{"a"}}.takesPart(some), "a peer")
	assert.False(t, Entrant{style: contract.Active}.takesPart(some), "it does not have the bench")
}
