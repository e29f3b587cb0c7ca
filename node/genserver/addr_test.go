package genserver_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
)

type vault struct{ sum int }

type put struct {
	genserver.To[*vault, int]
	Sum int
}

type empty struct {
	genserver.To[*vault, struct{}]
}

var vaults = genserver.Define(
	genserver.OnCall(func(v *vault, _ *genserver.Context, p put) (int, error) { v.sum += p.Sum; return v.sum, nil }),
	genserver.OnCast(func(v *vault, _ *genserver.Context, _ empty) error { v.sum = 0; return nil }),
)

// An Addr is called and cast like a PID, and the types are inferred.
func TestAddr(t *testing.T) {
	n := nodetest.Start(t, node.Config{Name: "a@127.0.0.1"})
	addr, err := vaults.StartAddr(testkit.Context(t), n, &vault{}, node.Options{Name: "vault"})
	require.NoError(t, err)
	for i, a := range []genserver.Addr[*vault]{addr, genserver.AddrOf[*vault](addr.PID), genserver.AddrOf[*vault](node.Atom("vault")),
		genserver.AddrOf[*vault](node.At{Name: "vault", Node: n.Name()})} {
		sum, err := genserver.CallTo(testkit.Context(t), n, a, put{Sum: 7})
		require.NoError(t, err, "%d", i)
		assert.Equal(t, 7, sum)
		sum, err = node.Await(testkit.Context(t), n, genserver.AsyncTo(n, a, put{Sum: 1}))
		require.NoError(t, err)
		assert.Equal(t, 8, sum)
		h := nodetest.NewProbe(t, n)
		require.NoError(t, genserver.CastTo(h, a, empty{}))
		sum, err = genserver.CallTo(testkit.Context(t), h, a, put{})
		require.NoError(t, err)
		assert.Zero(t, sum)
	}
	assert.Panics(t, func() { genserver.AddrOf[*vault](n.MakeRef()) })
}

// The compiler refuses a request for another server.
func TestAddrRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "main.go")
	for what, c := range map[string]struct{ call, want string }{
		"the right one": {"genserver.CallTo(nil, nil, genserver.Addr[*one]{}, ask{})", ""},
		"the wrong one": {"genserver.CallTo(nil, nil, genserver.Addr[*two]{}, ask{})", "does not"},
		"a plain value": {"genserver.CastTo(nil, genserver.Addr[*two]{}, 5)", "cannot"},
	} {
		t.Run(what, func(t *testing.T) {
			source := "package main\n\nimport \"github.com/actornode/actornode/node/genserver\"\n\ntype one struct{}\ntype two struct{}\n" +
				"type ask struct{ genserver.To[*one, int] }\n\nfunc main() { " + c.call + " }\n"
			require.NoError(t, os.WriteFile(file, []byte(source), 0o600))
			out, err := exec.Command("go", "vet", file).CombinedOutput()
			if c.want == "" {
				require.NoError(t, err, "%s", out)
				return
			}
			require.Error(t, err)
			require.Contains(t, string(out), c.want)
		})
	}
}
