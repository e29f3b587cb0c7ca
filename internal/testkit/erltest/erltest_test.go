package erltest_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/erltest"
)

// scripts writes a file of scripts for the interpreter sum.erl, which adds the
// numbers of a line.
func scripts(t *testing.T, text string) (interpreter, pattern string) {
	dir := t.TempDir()
	interpreter = filepath.Join(dir, "sum.erl")
	require.NoError(t, os.WriteFile(interpreter, []byte(`-module(sum).
-export([main/1]).
main(Files) -> erltest:play(Files, fun(Lines) -> [[line(L), "\n"] || L <- Lines] end).
line("letter") -> [1078];
line(Line) -> integer_to_list(lists:sum([erltest:term(W) || W <- erltest:words(Line)])).
`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sums.txt"), []byte(text), 0o600))
	return interpreter, filepath.Join(dir, "*.txt")
}

const sums = `# What adds up.

== two
# a comment
 1 2

3 4
----
3
7

== nothing
----

== one
5
letter
----
5
ж
`

func TestFiles(t *testing.T) {
	_, pattern := scripts(t, sums)
	files := erltest.Files(t, pattern)
	require.Len(t, files, 1)
	require.Len(t, files[0].Scripts, 3)
	two := files[0].Scripts[0]
	assert.Equal(t, "sums", files[0].Name)
	assert.Equal(t, "two", two.Title)
	assert.Equal(t, "sums: two", two.Key())
	assert.Equal(t, "# a comment\n 1 2\n\n3 4\n", two.Text)
	assert.Equal(t, []string{"1 2", "3 4"}, two.Lines())
	assert.Equal(t, "3\n7", two.Want)
	assert.Empty(t, files[0].Scripts[1].Lines())
	assert.Empty(t, files[0].Scripts[1].Want)
	two.Play(t, "sum", func(_ *testing.T, lines []string) string {
		var all []string
		for _, l := range lines {
			n := 0
			for w := range strings.FieldsSeq(l) {
				k, _ := strconv.Atoi(w)
				n += k
			}
			all = append(all, strconv.Itoa(n))
		}
		return strings.Join(all, "\n")
	})
}

func TestJudge(t *testing.T) {
	interpreter, pattern := scripts(t, sums)
	erltest.Judge(t, interpreter, pattern)
}

func TestRun(t *testing.T) {
	out, err := erltest.Run(t, erltest.Options{Args: []string{"-eval", `io:put_chars(["port ", os:getenv("ERL_EPMD_PORT")]), halt(3).`}})
	require.ErrorContains(t, err, "exit status 3")
	assert.Equal(t, "port 0", out)
	home := t.TempDir()
	o := erltest.MainOptions(filepath.Join(home, "absent.erl"), "a b")
	o.Sources = nil
	out, err = erltest.Run(t, o)
	require.ErrorContains(t, err, "exit status 1")
	assert.Contains(t, out, "undef")
	assert.Contains(t, out, `["a b"]`)
}

func TestBuildFails(t *testing.T) {
	erltest.Need(t)
	_, err := erltest.Build("absent.erl")
	require.ErrorContains(t, err, "absent.erl")
}

func TestNode(t *testing.T) {
	n := erltest.Start(t, erltest.Options{Args: []string{"+S", "2:2"}})
	assert.Equal(t, "2", n.Ask("erlang:system_info(%s)", "schedulers"))
	assert.Equal(t, `"ж"`, n.Ask("[1078]"))
	assert.Equal(t, "{throw,ball}", n.Ask("throw(ball)"))
	assert.Equal(t, "{error,undef}", n.Ask("nobody:knows()"))
	assert.Contains(t, n.Ask("1 +"), "{error,{badmatch,")
	assert.Equal(t, "nonode@nohost", n.Ask("node()"))
	n.Tell(`io:format("so it says~n"), self() ! X = 1`)
	n.Tell("receive 1 -> X = 2 end")
	assert.Equal(t, "1", n.Answer())
	assert.Equal(t, "2", n.Answer())
	n.Log.Await(t, "so it says")
	n.Signal(erltest.Suspend)
	n.Tell("never")
	n.Kill()
	n.Kill()
}
