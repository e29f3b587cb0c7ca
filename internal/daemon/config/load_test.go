package config_test

import (
	"errors"
	"flag"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/dns"
	"github.com/actornode/actornode/supervisor/tree"
	"github.com/actornode/actornode/wire"
)

var update = flag.Bool("update", false, "write the golden files anew")

var known = tree.Known{Behaviours: []wire.Export{{Module: "demo", Function: "counter"}, {Module: "demo", Function: "echo"}}}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "run the test with -update if this is what it should be")
}

func lookup(vars map[string]string) func(string) (string, bool) {
	return func(k string) (string, bool) { v, ok := vars[k]; return v, ok }
}

// For every bad file the error is that of its golden file.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			c, err := config.Load(config.Source{File: filepath.Base(file), Text: text, Known: known, Open: os.ReadFile})
			require.Error(t, err)
			require.Nil(t, c)
			require.NotContains(t, err.Error(), "SECRET")
			golden(t, strings.TrimSuffix(file, ".yaml")+".golden", err.Error()+"\n")
		})
	}
}

// The sample has every field, and loads as the expected configuration.
func TestSample(t *testing.T) {
	const file = "../../../deploy/samples/actornode.yaml"
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	c, err := config.Load(config.Source{File: "actornode.yaml", Text: text, Known: known})
	require.NoError(t, err)
	for _, s := range c.Settings() {
		last := s.Key[strings.LastIndexByte(s.Key, '.')+1:]
		assert.Regexp(t, regexp.MustCompile(`(?m)^ *(# )?`+last+`:`), string(text), s.Key)
	}
	want := config.Default()
	assert.Equal(t, "go@127.0.0.1", c.Name)
	assert.Equal(t, "127.0.0.1:9100", c.HTTP.Listen)
	assert.Equal(t, mailbox.Bounds{Messages: 10000, Bytes: 64 << 20}, c.Limits.Mailbox)
	require.Len(t, c.Tree.Applications, 1)
	assert.Equal(t, c.Limits.Mailbox, c.Tree.Applications[0].Top.Children[0].Options.Bounds)
	want.Name, want.HTTP.Listen, want.Limits.Mailbox = c.Name, c.HTTP.Listen, c.Limits.Mailbox // all other settings are defaults
	assert.Equal(t, values(want), values(c))
}

// values returns all settings as text.
func values(c *config.Config) map[string]string {
	m := make(map[string]string)
	for _, s := range c.Settings() {
		m[s.Key] = s.Value.String()
	}
	return m
}

// The documented table matches the fields.
func TestTable(t *testing.T) {
	const head = "# The fields of the configuration\n\nGenerated from `Settings`; see the package's documentation. `go test -update` " +
		"rewrites it.\n\n"
	golden(t, "../../../docs/configuration.md", head+config.Table())
}

func TestPrecedence(t *testing.T) {
	text := []byte("name: file@h.x\nlog: {level: warn, format: json}\ntick_time: 8s\ncookie_file: c\n")
	c, err := config.Load(config.Source{
		File: "dir/a.yaml", Text: text,
		Env: lookup(map[string]string{"ACTORNODE_NAME": "env@h.x", "ACTORNODE_TICK_TIME": "4s", "ACTORNODE_LOG_FORMAT": "",
			"ACTORNODE_COOKIE": "C"}),
		Flags: map[string][]string{"name": {"flag@h.x"}, "peer": {"a@h.x=:1", "b@h.x=g:2"}},
	})
	require.NoError(t, err)
	assert.Equal(t, "flag@h.x", c.Name)
	assert.Equal(t, config.Origin{Rank: config.FromFlag, Where: "--name"}, c.Origin("name"))
	assert.Equal(t, 4*time.Second, c.TickTime)
	assert.Equal(t, config.Origin{Rank: config.FromEnv, Where: "ACTORNODE_TICK_TIME"}, c.Origin("tick_time"))
	assert.Equal(t, slog.LevelWarn, c.Log.Level)
	assert.Equal(t, config.Origin{Rank: config.FromFile, Where: "dir/a.yaml:2:14: log.level"}, c.Origin("log.level"))
	assert.Equal(t, "json", c.Log.Format)
	assert.Equal(t, config.Origin{Where: "http.listen"}, c.Origin("http.listen"))
	assert.Equal(t, map[string][]discovery.Endpoint{"a@h.x": {{Addr: ":1"}}, "b@h.x": {{Addr: "g:2"}}}, c.Discovery.Peers)
	assert.Equal(t, "C", c.Cookie)
	assert.Empty(t, c.CookieFile, "the cookie of the environment counts")

	_, err = config.Load(config.Source{
		Env:   lookup(map[string]string{"ACTORNODE_LOG_LEVEL": "loud", "ACTORNODE_TLS_KEY": "k", "ACTORNODE_COOKIES": "SECRET"}),
		Flags: map[string][]string{"listen": {"nowhere"}, "peer": {"x"}, "cookie": {"SECRET\n"}, "tls-cert": {"c"}},
	})
	require.EqualError(t, err, strings.Join([]string{
		"ACTORNODE_COOKIES: want NAME@HOST=COOKIE, or several separated by commas",
		"ACTORNODE_LOG_LEVEL: loud: want debug, info, warn or error",
		"--cookie: want 1 to 255 printable ASCII characters",
		"--listen nowhere: want HOST:PORT, :PORT or -: address nowhere: missing port in address",
		"--peer x: want NAME@HOST=HOST:PORT, NAME@HOST=:PORT or NAME@HOST=PROTOCOL://HOST:PORT",
		"--tls-cert, ACTORNODE_TLS_KEY: TLS needs --tls-ca (ACTORNODE_TLS_CA, tls.ca) too",
	}, "\n"))
}

// A tree in a file of its own, and the errors in it.
func TestTreeFile(t *testing.T) {
	open := func(path string) ([]byte, error) {
		switch path {
		case "dir/good.yaml":
			return []byte("supervisor: {children: [{name: a, start: demo:echo}]}"), nil
		case "dir/bad.yaml":
			return []byte("supervisor: {children: [{name: a, start: demo:ecko}]}"), nil
		}
		return nil, os.ErrNotExist
	}
	load := func(text string) (*config.Config, error) {
		return config.Load(config.Source{File: "dir/a.yaml", Text: []byte(text), Open: open, Known: known})
	}
	c, err := load("tree: good.yaml")
	require.NoError(t, err)
	assert.Equal(t, wire.Atom("a"), c.Tree.Top.Children[0].ID)
	_, err = load("tree: bad.yaml")
	var one *tree.Error
	require.True(t, errors.As(err, &one))
	assert.Equal(t, "dir/bad.yaml", one.File)
	assert.Contains(t, one.Problem, "did you mean demo:echo/0?")
	_, err = load("tree: none.yaml")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "dir/a.yaml:1:7: tree: ")
}

// Print shows the configuration in effect, without cookies.
func TestPrint(t *testing.T) {
	c, err := config.Load(config.Source{File: "a.yaml", Text: []byte(`
name: go@h
cookie: TOPSECRET
cookies: {a@h: TOPSECRET, b@h: {in: TOPSECRET, out: OTHERSECRET}}
discovery:
  peers: {a@h: ":1", b@h: [":2", "native://g:3"]}
  join: [a@h, b@h]
  mesh: true
  dns: {host: nodes.x, at: [":4370", "native://:1"], services: ["native://_n._tcp.x"]}
  gossip: {bind: ":7946", seeds: [h, "g:1"], old_cookies: [TOPSECRET, OTHERSECRET]}
grace: 10s
compress: 4KiB
limits: {mailbox: {bytes: 3KiB}, queue: 1000000}
`), Flags: map[string][]string{"http": {":0"}}})
	require.NoError(t, err)
	shown := string(c.YAML(false))
	assert.NotContains(t, shown, "SECRET")
	assert.Contains(t, shown, `queue: 1000000 # a.yaml:13:41`)
	assert.Contains(t, shown, "listen: :0 # --http")
	assert.Contains(t, shown, "format: text # default")
	assert.Contains(t, shown, "protocols: [native, erlang] # default")
	again, err := config.Load(config.Source{File: "b.yaml", Text: c.YAML(true)})
	require.NoError(t, err, string(c.YAML(true)))
	assert.Equal(t, values(c), values(again))
	assert.Equal(t, c.Cookies, again.Cookies)
	assert.Equal(t, c.Discovery, again.Discovery)
	assert.Equal(t, []string{"TOPSECRET", "OTHERSECRET"}, again.Discovery.Gossip.OldCookies)
	d, on := again.Discovery.DNS.Config()
	assert.True(t, on)
	assert.Equal(t, dns.Config{Host: "nodes.x", At: []discovery.Endpoint{{Addr: ":4370"}, {Protocol: "native", Addr: ":1"}},
		Network:  "ip4",
		Services: []dns.Service{{Name: "_n._tcp.x", Protocol: "native"}}, Base: "go", TTL: 5 * time.Second, Timeout: 3 * time.Second},
		d)
	_, on = config.Default().Discovery.DNS.Config()
	assert.False(t, on)
	_, on = config.Default().Discovery.Gossip.Config()
	assert.False(t, on)
}

// FuzzLoad: no text makes Load panic, and a configuration that it accepts can be printed and loaded again.
func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	require.NoError(f, err)
	for _, file := range append(files, "../../../deploy/samples/actornode.yaml") {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := config.Load(config.Source{File: "fuzz", Text: text, Known: known})
		if err != nil {
			require.Nil(t, c)
			require.NotEmpty(t, err.Error())
			return
		}
		printed := c.YAML(true)
		again, err := config.Load(config.Source{File: "fuzz", Text: printed})
		require.NoError(t, err, "%s", printed)
		require.Equal(t, values(c), values(again))
		require.Equal(t, c.Cookies, again.Cookies)
	})
}

// limits.memory is 0 or large enough to run in, and may exceed other sizes.
func TestMemory(t *testing.T) {
	load := func(text string) (*config.Config, error) {
		return config.Load(config.Source{Env: func(k string) (string, bool) { return text, k == "ACTORNODE_LIMITS_MEMORY" }})
	}
	for text, want := range map[string]int64{"0": 0, "32MiB": 32 << 20, "1GiB": 1 << 30, "4GiB": 4 << 30, "64GiB": 64 << 30} {
		c, err := load(text)
		if want > math.MaxInt {
			require.Error(t, err, "%s is more than an int holds here", text)
			continue
		}
		require.NoError(t, err, text)
		require.EqualValues(t, want, c.Limits.Memory)
		if want != 0 {
			require.Contains(t, string(c.YAML(false)), "memory: "+text)
		}
	}
	for _, text := range []string{"1", "31MiB", "-1", "much", "99999999GiB"} {
		_, err := load(text)
		require.ErrorContains(t, err, "want 0, or a size such as 512MiB or 4GiB, at least 32MiB", text)
	}
}
