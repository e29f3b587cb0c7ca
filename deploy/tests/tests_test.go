package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// events is the output of go test -json for four packages.
const events = `
{"Action":"start","Package":"github.com/actornode/actornode/a"}
{"Action":"output","Package":"github.com/actornode/actornode/a","Test":"TestOne","Output":"=== RUN   TestOne\n"}
{"Action":"pass","Package":"github.com/actornode/actornode/a","Test":"TestOne/sub","Elapsed":1}
{"Action":"pass","Package":"github.com/actornode/actornode/a","Test":"TestOne","Elapsed":1}
{"Action":"output","Package":"github.com/actornode/actornode/a","Test":"TestTwo","Output":"    kit.go:7: left to make merge: real OTP\n"}
{"Action":"skip","Package":"github.com/actornode/actornode/a","Test":"TestTwo","Elapsed":0}
{"Action":"output","Package":"github.com/actornode/actornode/a","Test":"TestThree","Output":"    kit.go:9: not installed: erl\n"}
{"Action":"skip","Package":"github.com/actornode/actornode/a","Test":"TestThree","Elapsed":0}
{"Action":"pass","Package":"github.com/actornode/actornode/a","Elapsed":1.5}
{"Action":"output","Package":"github.com/actornode/actornode/b","Test":"TestFails","Output":"    b_test.go:3: 1 is not 2\n"}
{"Action":"fail","Package":"github.com/actornode/actornode/b","Test":"TestFails","Elapsed":0.1}
{"Action":"fail","Package":"github.com/actornode/actornode/b","Elapsed":0.2}
{"ImportPath":"github.com/actornode/actornode/c","Action":"build-output","Output":"c.go:1: no such thing\n"}
{"Action":"fail","Package":"github.com/actornode/actornode/c","Elapsed":0,"FailedBuild":"github.com/actornode/actornode/c"}
{"Action":"output","Package":"github.com/actornode/actornode/d","Test":"TestHangs","Output":"goroutine 7 waits\n"}
{"Action":"output","Package":"github.com/actornode/actornode/d","Output":"panic: test timed out\n"}
{"Action":"fail","Package":"github.com/actornode/actornode/d","Elapsed":3}
no event
`

func TestCollector(t *testing.T) {
	r := newRun(t.TempDir(), "test")
	log, err := os.Create(filepath.Join(r.root, "log"))
	require.NoError(t, err)
	defer log.Close()
	r.log = log
	var out bytes.Buffer
	r.out = &out
	c := &collector{run: r, output: map[string]*strings.Builder{}}
	require.NoError(t, c.read(strings.NewReader(events)))
	assert.Equal(t, tally{passed: 1, failed: 3, skipped: 2}, r.tests, "subtests are not counted; packages that do not compile or hang are")
	assert.Equal(t, []string{"github.com/actornode/actornode/b TestFails", "github.com/actornode/actornode/c", "github.com/actornode/actornode/d"}, c.names)
	require.Len(t, c.failures, 3)
	assert.Contains(t, c.failures[0], "1 is not 2")
	assert.Contains(t, c.failures[1], "no such thing")
	assert.Contains(t, c.failures[2], "test timed out")
	assert.Contains(t, c.failures[2], "goroutine 7 waits", "what a test that has not ended printed")
	assert.Contains(t, c.other.String(), "no event")
	assert.Equal(t, "Left out: left to make merge: real OTP (1); not installed (make tools): erl (1).", r.leftOut())
	r.report()
	assert.Contains(t, out.String(), "     3.0  d\n     1.5  a\n     0.2  b\n")
	assert.True(t, strings.HasSuffix(out.String(), "\n1 passed, 3 failed, 2 skipped\n"), out.String())
}

func TestParts(t *testing.T) {
	_, err := choose("noon", nil)
	require.ErrorContains(t, err, `no tier "noon"`)
	_, err = choose("merge", []string{"storm"})
	require.ErrorContains(t, err, `no part "storm" in merge`)
	chosen, err := choose("night", []string{"storm", "fuzz"})
	require.NoError(t, err)
	assert.Equal(t, []string{"storm", "fuzz"}, []string{chosen[0].name, chosen[1].name})
	for _, tier := range tiers {
		seen := map[string]bool{}
		for _, p := range tier.parts {
			assert.False(t, seen[p.name], p.name)
			assert.NotEmpty(t, p.what)
			seen[p.name] = true
		}
	}
}

// The next part runs even if one fails, and a part whose program is missing is left out.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	r := newRun(t.TempDir(), "test")
	r.out = &out
	err := r.all(t.Context(), []part{
		{name: "bad", do: func(r *run) error { return r.command(".", nil, "go", "nonsense") }},
		{name: "absent", needs: []string{"no-such-program"}, do: func(*run) error { panic("it is left out") }},
		{name: "good", do: func(r *run) error { return r.command(".", nil, "go", "version") }},
	})
	require.ErrorIs(t, err, errParts)
	t.Cleanup(func() { os.RemoveAll(r.logs) })
	assert.Contains(t, out.String(), "go nonsense: unknown command")
	assert.Regexp(t, `(?m)^bad .* FAILED$`, out.String())
	assert.Regexp(t, `(?m)^absent .* left out: no-such-program is not installed$`, out.String())
	assert.Regexp(t, `(?m)^good .* passed$`, out.String())
	assert.Contains(t, out.String(), "not installed (make tools): no-such-program (1)")
}

func TestFormatted(t *testing.T) {
	r := newRun(t.TempDir(), "test")
	require.NoError(t, os.WriteFile(filepath.Join(r.root, "good.go"), []byte("package a\n"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(r.root, ".hidden"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(r.root, ".hidden", "bad.go"), []byte("package  a\n"), 0o600))
	require.NoError(t, formatted(r))
	require.NoError(t, os.WriteFile(filepath.Join(r.root, "bad.go"), []byte("package  a\n"), 0o600))
	require.EqualError(t, formatted(r), "not as gofmt writes it: bad.go")
}

// The types of a program and its tests are checked for the processor and the tag that are asked for, and so are shifts.
func TestTypes(t *testing.T) {
	write := func(files map[string]string) *run {
		r := newRun(t.TempDir(), "test")
		r.ctx = t.Context()
		log, err := os.Create(filepath.Join(r.root, "log"))
		require.NoError(t, err)
		t.Cleanup(func() { log.Close() })
		r.log = log
		files["go.mod"] = "module example.org/m\n\ngo 1.26\n"
		for name, text := range files {
			require.NoError(t, os.WriteFile(filepath.Join(r.root, name), []byte(text), 0o600))
		}
		return r
	}
	const has32, has64 = "GOARCH=386", "GOARCH=amd64"
	r := write(map[string]string{"m.go": "package m\n\nvar A = 1\n", "m_test.go": "package m\n\nvar b = 1 << 40\n",
		"x_test.go": "package m_test\n\nvar c int = 1 << 50\n"})
	require.NoError(t, typesFor(has64, "", "./...")(r))
	err := typesFor(has32, "", "./...")(r)
	require.ErrorContains(t, err, "m_test.go:3:9: ")
	require.ErrorContains(t, err, "x_test.go:3:13: ")
	require.ErrorContains(t, err, "overflows")
	require.Equal(t, 2, strings.Count(err.Error(), "overflows"), "each once")

	r = write(map[string]string{"m.go": "package m\n\nfunc F(n int) int { return n >> 40 }\n"})
	require.NoError(t, typesFor(has64, "", "./...")(r))
	require.ErrorContains(t, typesFor(has32, "", "./...")(r), "m.go:3:28: n (32 bits) too small for shift of 40")

	r = write(map[string]string{"m.go": "//go:build !odd\n\npackage m\n",
		"odd.go": "//go:build odd\n\npackage m\n\nvar a int = nil\n"})
	require.NoError(t, typesFor("", "", "./...")(r))
	require.ErrorContains(t, typesFor("", "-tags=odd", "./...")(r), "odd.go:5:13: ")
	require.Error(t, typesFor("", "", "./none")(r))

	r = write(map[string]string{"m.go": "package m\n", "odd.go": "//go:build odd\n\npackage m\n\nimport \"sync\"\n\n" +
		"func F(m sync.Mutex) {}\n"})
	require.NoError(t, typesFor("", "", "./...")(r))
	require.ErrorContains(t, typesFor("", "-tags=odd", "./...")(r), "odd.go:7:10: F passes lock by value")
}
