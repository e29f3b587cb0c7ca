package attack

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/deploy/attack/internal/raw"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/wire/epmdserver"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// secrets are attacks on values that must not leave a daemon, and on those that must not be guessed.
func secrets() []row {
	file := new(string) // to which a program of the daemon writes its environment
	return []row{
		{name: "secrets: the environment of a program that the daemon runs", needs: []need{linux}, own: &raw.Options{
			Prepare: func(t testing.TB, o *raw.Options) { runsProgram(t, o, file) }},
			attack: func(a *attempt) {
				var text []byte
				a.until(testkit.Limit, func() (ok bool) {
					var err error
					text, err = os.ReadFile(*file)
					return err == nil
				}, "the program has said what its environment is")
				env := strings.Split(strings.TrimSpace(string(text)), "\n")
				require.Contains(a, env, "SEEN_BY_PROGRAMS=yes", "other variables are inherited")
				require.Contains(a, env, "GIVEN=too")
				require.NotContains(a, string(text), a.Cookie)
				require.NotContains(a, string(text), secret)
				for _, v := range env {
					require.NotRegexp(a, "^(ACTORNODE_|CREDENTIALS_DIRECTORY|NOTIFY_SOCKET|WATCHDOG_|LISTEN_)", v)
				}
			}},
		{name: "secrets: fields that stay on their node, by each protocol, and what tools show of a state",
			own: &raw.Options{Prepare: inVault}, attack: attackFields},
		{name: "secrets: passwords in the states and the last messages of what crashes", own: &raw.Options{Prepare: inVault},
			attack: func(a *attempt) {
				e := a.erlang()
				defer func() { _ = e.Close() }()
				e.Patience = testkit.Limit
				ended, err := rpc(e, "vault", "crash")
				require.NoError(a, err)
				n, ok := wire.AsInt(ended)
				require.True(a, ok && n > 200, "%v", wire.Format(ended))
				for _, m := range []any{cast(wire.Tuple{wire.Atom("login"), secret}), wire.NewMap("password", secret), []byte(secret)} {
					require.NoError(a, e.SendReg(e.PID(1), "keeper", m))
				}
				_, err = rpc(e, "erlang", "node")
				require.NoError(a, err)
			}, want: want{log: "the vault is broken", never: secret, logKiB: 8192, panics: true}},
		{name: "references: aliases, and where answers go, are not to be guessed",
			own: &raw.Options{Config: guardedDaemon, Prepare: inVault}, attack: attackReferences},
		{name: "digests: who answers for a node gets none of a command that speaks the native protocol alone", attack: attackDigest},
	}
}

// runsProgram makes a daemon whose own environment has secrets run a program that writes its environment to a file.
func runsProgram(t testing.TB, o *raw.Options, file *string) {
	dir := t.TempDir()
	*file = filepath.Join(dir, "environment")
	tree := filepath.Join(dir, "tree.yaml")
	require.NoError(t, os.WriteFile(tree, fmt.Appendf(nil, "supervisor:\n  name: programs\n  children:\n"+
		"    - name: program\n      start: port:start\n"+
		"      args:\n        - command: sh\n          args: [-c, 'env >%[1]s.part && mv %[1]s.part %[1]s; while read x; do :; done']\n"+
		"          env: {GIVEN: too}\n", *file), 0o600))
	o.Config = "tree: " + tree + "\n"
	o.Env = []string{"SEEN_BY_PROGRAMS=yes", "ACTORNODE_OLD_COOKIES=" + secret, "CREDENTIALS_DIRECTORY=" + dir,
		"NOTIFY_SOCKET=" + dir + "/none"}
}

// attackFields reads values with secret fields by each protocol, as a node of OTP and as one of Go, and the state by
// all tools.
func attackFields(a *attempt) {
	has := func(how string, b []byte) bool {
		require.NotContains(a, string(b), secret, how)
		return strings.Contains(string(b), "alice")
	}
	questions := []wire.Atom{"value", "pointer", "list", "map", "any"}
	for name, peer := range map[string]interface {
		SendReg(from wire.PID, name wire.Atom, message any) error
		Frame() ([]byte, error)
		PID(id uint64) wire.PID
		Ref(words ...uint32) wire.Ref
	}{"erlang": a.erlang(), "erlang, of Go": a.erlangGo(), "native": a.native(), "native, of Go": a.goNode()} {
		for _, q := range questions {
			require.NoError(a, peer.SendReg(peer.PID(1), "keeper", call(peer.PID(1), peer.Ref(1, 2, 3), q)))
			for said := false; !said; {
				b, err := peer.Frame()
				require.NoError(a, err, "%s, %s", name, q)
				said = has(fmt.Sprint(name, ", ", q), b)
			}
		}
	}
	e := a.erlang()
	for _, f := range []wire.Atom{"get_state", "get_status"} {
		v, err := rpc(e, "sys", f, wire.Atom("keeper"))
		require.NoError(a, err)
		require.Contains(a, wire.Format(v), "keeper", "%s", f)
		require.NotContains(a, wire.Format(v), secret, "%s", f)
	}
	for line, has := range map[string]string{"info keeper": "keeper", "info keeper --json": "keeper", "ps --json": "keeper",
		"call keeper value": "alice", "call keeper value --json": "alice", "rpc sys get_state keeper": "keeper"} {
		said := a.onTerminal(line)
		require.Contains(a, said, has, line)
		require.NotContains(a, said, secret, line)
	}
}

// attackReferences makes a peer that may only connect guess references. Those that it knows reveal nothing about the
// others.
func attackReferences(a *attempt) {
	e, err := raw.DialErlang(a.Erlang, raw.Self("full@127.0.0.1", 1), a.Cookie)
	require.NoError(a, err)
	defer func() { _ = e.Close() }()
	e.Patience = testkit.Limit
	all := make(map[string][]wire.Ref)
	note := func(kind string, from any) {
		switch t := from.(type) {
		case wire.Ref:
			all[kind] = append(all[kind], t)
		case wire.ImproperList: // [alias | Ref]
			if r, ok := t.Tail.(wire.Ref); ok {
				all[kind] = append(all[kind], r)
			}
		}
	}
	var victim wire.PID
	require.NoError(a, e.SendReg(e.PID(1), "rex", call(e.PID(1), e.Ref(1, 2, 3), wire.Tuple{wire.Atom("call"), wire.Atom("vault"),
		wire.Atom("references"), wire.List{e.PID(1)}, e.PID(1)})))
	enough := func() bool {
		return !victim.IsZero() && min(len(all["from"]), len(all["call"])) >= eachReference && len(all["alias"]) == 2*eachReference
	}
	for !enough() {
		control, payload, err := e.Signal()
		require.NoError(a, err, "%d of alias, %d of call, %d of from", len(all["alias"]), len(all["call"]), len(all["from"]))
		_ = control
		t, ok := payload.(wire.Tuple)
		if !ok || len(t) < 2 {
			continue
		}
		switch t[0] {
		case wire.Atom("alias"):
			note("alias", t[1])
		case wire.Atom("$gen_call"):
			note("call", t[1].(wire.Tuple)[1])
		case wire.Atom("from"):
			note("from", t[1].(wire.Tuple)[1])
		case wire.Atom("done"):
			victim = t[1].(wire.PID)
		}
	}
	for kind, refs := range all {
		checkRandom(a.T, kind, refs)
	}

	before := a.handled(victim)
	x, n := a.erlang(), a.native()
	origin := all["alias"][0].Origin()
	known := all["alias"][0].Number()
	guess := func(number uint64) {
		for _, ref := range []wire.Ref{origin.RefOf(number), origin.Ref(uint32(number), uint32(number>>32)), origin.Ref(uint32(number))} {
			require.NoError(a, x.Control(wire.Tuple{33, x.PID(1), ref}, wire.Tuple{wire.Atom("forged"), number}))
			require.NoError(a, n.Signal(byte(dist.OpSend), n.PID(1), ref, wire.Tuple{wire.Atom("forged"), number}))
		}
	}
	for i := range uint64(2000) {
		guess(i)
		if i < 500 {
			guess(known + i + 1)
			guess(known - i - 1)
		}
	}
	a.answered(x, n)
	require.Equal(a, before, a.handled(victim), "an alias has been guessed")
	require.NoError(a, x.Control(wire.Tuple{33, x.PID(1), all["alias"][0]}, wire.Atom("known")))
	a.answered(x, n)
	require.NotEqual(a, before, a.handled(victim), "who knows an alias may send to it")
}

// answered waits until the messages of the peers have been handled.
func (a *attempt) answered(all ...sender) {
	for _, s := range all {
		yes, err := s.Call("net_kernel", wire.Tuple{wire.Atom("is_auth"), wire.Atom("x@y")})
		require.NoError(a, err)
		require.Equal(a, wire.Atom("yes"), yes)
	}
}

// checkRandom checks that the random parts of the references of a kind are not near each other: the number of an alias,
// and what follows the third word of the others.
func checkRandom(t *testing.T, kind string, refs []wire.Ref) {
	var numbers []uint64
	bits := 64
	for _, r := range refs {
		switch w := r.AppendWords(nil); len(w) {
		case 5:
			numbers = append(numbers, uint64(w[3])|uint64(w[4])<<32)
		case 4:
			numbers, bits = append(numbers, uint64(w[3])), 32
		default:
			numbers = append(numbers, r.Number())
		}
	}
	slices.Sort(numbers)
	near := 0
	for i := range numbers[1:] { // of 128 random numbers hardly ever two are so near, and never six
		if numbers[i+1]-numbers[i] < 1<<(bits-24) {
			near++
		}
	}
	assert.Less(t, near, 3, "%s: %v", kind, refs)
}

// attackDigest answers for nodes by Erlang's protocol, and asks commands for the proof that they know the cookie. One
// node is announced as speaking the native protocol as well.
func attackDigest(a *attempt) {
	for i, extra := range []string{"", "native"} {
		name := fmt.Sprint("evil", i)
		port, digests := a.answersFor(name + "@127.0.0.1")
		if extra != "" {
			extra = fmt.Sprint(extra, "=", port)
		}
		answer, err := a.epmd().Register(epmdserver.Registration{Name: name, Port: port, Extra: []byte(extra)})
		require.NoError(a, err)
		require.Zero(a, answer.Result)
		for _, line := range []string{"status", "ping", "ps", "call x y", "rpc erlang node", "stop"} {
			line += " --timeout 1s --node " + name + "@127.0.0.1"
			said, err := a.command(line + " --protocols native")
			require.Error(a, err, "%s: %s", line, said)
			said, err = a.commandWith([]string{"ACTORNODE_PROTOCOLS=native"}, line)
			require.Error(a, err, "%s: %s", line, said)
		}
		require.Empty(a, digests, "a digest of the cookie has gone to who answers for %s", name)
		said, err := a.command("status --timeout 1s --node " + name + "@127.0.0.1")
		require.Error(a, err, said)
		if extra == "" {
			require.Len(a, digests, 1, "without that a command speaks Erlang's protocol: %s", said)
		}
	}
}

// answersFor answers for a node by Erlang's protocol, up to the digest, and reports each digest that has arrived.
func (a *attempt) answersFor(name string) (port uint16, digests chan [16]byte) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(a, err)
	a.Cleanup(func() { _ = ln.Close() })
	digests = make(chan [16]byte, 100)
	go func() { // until the listener is closed
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() { // until the command closes
				e := raw.NewErlang(raw.NewConn(c.(*net.TCPConn)), raw.Self(name, 1))
				defer func() { _ = e.Close() }()
				if e.Name() != nil || e.SendStatus("ok") != nil || e.SendChallenge(1) != nil {
					return
				}
				if _, digest, err := e.Reply(); err == nil {
					digests <- digest
				}
			}()
		}
	}()
	return uint16(ln.Addr().(*net.TCPAddr).Port), digests
}

// command runs a command of the program for the daemon, and returns its output.
func (a *attempt) command(line string) (string, error) { return a.commandWith(nil, line) }

// commandWith does what command does, with more variables.
func (a *attempt) commandWith(vars []string, line string) (string, error) {
	cmd := exec.Command(raw.Build(a.T), strings.Fields(line)...)
	cmd.Env = a.commandEnv(vars...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// commandEnv returns the environment of commands for the daemon.
func (a *attempt) commandEnv(more ...string) []string {
	_, port, err := net.SplitHostPort(a.EPMD)
	require.NoError(a, err)
	return append([]string{"HOME=" + a.T.TempDir(), "ACTORNODE_COOKIE=" + a.Cookie, "ERL_EPMD_PORT=" + port, "ERL_EPMD_ADDRESS=127.0.0.1"}, more...)
}
