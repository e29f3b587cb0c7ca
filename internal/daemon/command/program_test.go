package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/supervisor/application"
	"github.com/actornode/actornode/wire"
)

// shop is a section of a program.
type shop struct {
	Rate   int           `yaml:"rate,required"`
	Small  uint8         `yaml:"small"`
	Wait   time.Duration `yaml:"wait"`
	Name   string
	Open   bool
	Share  float64
	Days   []string
	Prices map[string]int

	Skipped chan int `yaml:"-"`

	Till struct {
		Port int `yaml:"port"`
	}
}

// Check implements config.Checker.
func (s *shop) Check() error {
	if s.Share > 1 {
		return errors.New("share: want at most 1")
	}
	return nil
}

// greeter is a behaviour of a program.
type greeter struct{ text string }

func (g greeter) Receive(c *node.Context, msg any) error {
	if r, ok := msg.(node.Request[wire.Atom]); ok {
		r.Reply(g.text)
		return nil
	}
	return node.ErrUnhandled
}

// shopProgram is a program with actors of its own, as a user writes it.
func shopProgram(section *shop) Program {
	return Program{
		Name: "shop", About: "A shop", Version: "v1.2.3",
		Sections: map[string]any{"shop": section},
		Export: func(n *node.Node) error {
			return rpc.ExportBehaviour(n, wire.Export{Module: "shop", Function: "greeter"},
				func([]any) (node.Actor, error) { return greeter{fmt.Sprint("rate ", section.Rate)}, nil })
		},
		Applications: []application.Spec{{Name: "base", Top: &supervisor.Spec{Children: []supervisor.Child{{
			ID: "base", Named: supervisor.Named{Module: "shop", Function: "greeter"}, Options: node.Options{Name: "base"},
		}}}}},
		Started: func(_ context.Context, n *node.Node) error {
			fmt.Printf("%s has started, wait %v\n", n.Name(), section.Wait)
			return nil
		},
	}
}

const shopFile = `
shop: {rate: 5, wait: 2s, name: corner, open: true, share: 0.5, days: [mo, tu], prices: {tea: 3}, till: {port: 80}, small: 255}
applications:
  - name: front
    depends: [base]
    supervisor: {children: [{name: greeter, start: "shop:greeter"}]}
`

// A program has its own sections, behaviours and applications, in a process of its own; a signal makes it read its file
// again.
func TestProgram(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	file, log := filepath.Join(p.home, "shop.yaml"), filepath.Join(p.home, "shop.log")
	write := func(level, more string) {
		text := fmt.Sprintf("name: go@127.0.0.1\nlisten: {erlang: \"127.0.0.1:%s\"}\n"+
			"log: {format: json, file: shop.log, level: %s}\n%s%s", p.port, level, shopFile, more)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	write("info", "allow: [\"demo:*\"]\n")
	p.start(p.home, file, asProgram+"=1", "ACTORNODE_DISCOVERY_PEERS=go@127.0.0.1=127.0.0.1:"+p.port)
	require.Equal(t, "go@127.0.0.1 has started, wait 2s", p.line())
	p.up()
	assert.Contains(t, page(t, p.http, "/metrics"), `version="v1.2.3"`, "the program's version, not that of the module")

	logged := func(words ...string) {
		t.Helper()
		eventually(t, fmt.Sprint(words), func() bool {
			text, _ := os.ReadFile(log)
			for _, w := range words {
				if !strings.Contains(string(text), w) {
					return false
				}
			}
			return true
		})
	}
	hangUp := func() { p.signal(syscall.SIGHUP) }

	// Rotated: new lines go to the new file, and the daemon stays up.
	require.NoError(t, os.Rename(log, log+".1"))
	write("debug", "allow: [\"shop:*\"]\nshutdown: 1\n") // unknown field
	hangUp()
	logged("the configuration has errors: the old one stays as it is", "shutdown: unknown field")
	write("debug", "allow: [\"shop:*\"]\nconnect_timeout: 33s\ndrain_timeout: 32s\n")
	hangUp()
	logged(`"changed":"allow log.level drain_timeout"`, `"settings":"connect_timeout"`)
	write("debug", "operators: off\n")
	hangUp()
	logged(`"changed":"drain_timeout"`, `"settings":"operators allow"`)
	write("debug", "operators: off\nconnect_timeout: 33s\n")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), "wait: 2s, ", "", 1)), 0o600))
	hangUp()
	logged(`"settings":"operators allow connect_timeout shop"`) // back to its default
	p.signal(syscall.SIGTERM)
	require.Equal(t, exitOK, p.end(), p.log.String())
	logged("drained")
}

// asProgram is the variable that makes the test binary the program of shopProgram.
const asProgram = "ACTORNODE_TEST_PROGRAM"

func TestSections(t *testing.T) {
	for _, c := range []struct{ file, says string }{
		{"shop: {rate: 1}", ""},
		{"shop: {}", "shop.yaml:1:7: shop.rate: missing"},
		{"log: {}", ""},
		{"shop: {rate: x}", "shop.yaml:1:14: shop.rate: want a whole number from -9223372036854775808 to 9223372036854775807"},
		{"shop: {rate: 1, small: 256}", "shop.yaml:1:24: shop.small: want a whole number from 0 to 255"},
		{"shop: {rate: 1, price: {}}", "shop.yaml:1:17: shop.price: unknown field; did you mean prices?"},
		{"shop: {rate: 1, wait: long}", "shop.yaml:1:23: shop.wait:"},
		{"shop: {rate: 1, days: [1, {}]}", "shop.yaml:1:27: shop.days[1]:"},
		{"shop: {rate: 1, prices: {tea: much}}", "shop.yaml:1:31: shop.prices.tea: want a whole number"},
		{"shop: {rate: 1, till: {prot: 1}}", "shop.yaml:1:24: shop.till.prot: unknown field; did you mean port?"},
		{"shop: {rate: 1, share: 2}", "shop.yaml:1:7: shop: share: want at most 1"},
		{"shop: {rate: 1, share: null}", "shop.yaml:1:24: shop.share: want a number"},
		{"shop: {rate: 1, share: .nan}", "shop.yaml:1:24: shop.share: want a number"},
		{"shop: {rate: 1, wait: 0}", ""},
		{"shop: {rate: 1, skipped: 1}", "shop.yaml:1:17: shop.skipped: unknown field"},
		{"shoq: {rate: 1}", "shop.yaml:1:1: shoq: unknown field; did you mean shop?"},
	} {
		env, out, errs := newEnvironment(t, nil)
		env.program = shopProgram(new(shop))
		dir := t.TempDir()
		t.Chdir(dir)
		require.NoError(t, os.WriteFile("shop.yaml", []byte(c.file+"\n"), 0o600))
		status := run(t.Context(), []string{"check", "shop.yaml", "--elsewhere"}, env)
		if c.says == "" {
			assert.Equal(t, exitOK, status, "%s: %s", c.file, errs)
			assert.Equal(t, "shop.yaml: ok\n", out.String())
			continue
		}
		assert.Equal(t, exitFailed, status, c.file)
		assert.Contains(t, errs.String(), c.says)
	}
}

// Sections that cannot be read are an error in the program, and reported before anything else.
func TestBadSections(t *testing.T) {
	for says, sections := range map[string]map[string]any{
		`section "log": the daemon has settings of that name`:        {"log": new(shop)},
		`section "supervisor": the daemon has settings of that name`: {"supervisor": new(shop)},
		`section "a b": want a name without dots, colons and spaces`: {"a b": new(shop)},
		`section "x": want a pointer to a struct, not command.shop`:  {"x": shop{}},
		`section "x": want a pointer to a struct, not <nil>`:         {"x": nil},
		`section x.f: a setting cannot be of type func()`:            {"x": &struct{ F func() }{}},
		`section x.m: a setting cannot be of type map[int]int`:       {"x": &struct{ M map[int]int }{}},
		`section x: two fields are called rate`: {"x": &struct {
			Rate int
			Also int `yaml:"rate"`
		}{}},
		`section "x": its defaults cannot be copied`:                      {"x": &struct{ f func() }{func() {}}},
		`section x.list[]: a setting cannot be of type chan int; allowed`: {"x": &struct{ List []chan int }{}},
	} {
		env, _, errs := newEnvironment(t, nil)
		env.program.Sections = sections
		assert.Equal(t, exitFailed, run(t.Context(), []string{"version"}, env))
		assert.Contains(t, errs.String(), says)
	}
}

func TestVersion(t *testing.T) {
	env, out, _ := newEnvironment(t, nil)
	env.program = shopProgram(new(shop))
	require.Equal(t, exitOK, run(t.Context(), []string{"--version"}, env))
	assert.Equal(t, "shop version v1.2.3\n", out.String())
	env, out, _ = newEnvironment(t, nil)
	env.program = shopProgram(new(shop))
	require.Equal(t, exitOK, run(t.Context(), []string{"version"}, env))
	assert.Contains(t, out.String(), "with Erlang/OTP 25, 27, 29")
	env, out, _ = newEnvironment(t, nil)
	env.program = shopProgram(new(shop))
	require.Equal(t, exitOK, run(t.Context(), []string{"version", "--json"}, env))
	assert.Contains(t, out.String(), `"program":"shop","version":"v1.2.3"`)
	env, out, _ = newEnvironment(t, nil)
	env.program = shopProgram(new(shop))
	require.Equal(t, exitOK, run(t.Context(), []string{"help", "call"}, env))
	assert.NotContains(t, out.String(), "actornode call")
	assert.Contains(t, out.String(), "shop call counter")
}
