package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/vet"
)

// vet runs go vet with this program as its tool: on a module small enough for make test, and on this one.
func TestVet(t *testing.T) {
	if testkit.Race {
		return // the tool is this program, and starts for each imported package: it would take minutes
	}
	type line struct {
		args   string
		status int
		says   string
	}
	vet := func(t *testing.T, lines ...line) {
		for _, c := range lines {
			env, _, errs := newEnvironment(t, nil)
			assert.Equal(t, c.status, run(t.Context(), append([]string{"vet"}, strings.Fields(c.args)...), env), c.args)
			assert.Contains(t, errs.String(), c.says, c.args)
			assert.NotContains(t, errs.String(), "exit status", c.args)
		}
	}
	t.Run("small", func(t *testing.T) {
		t.Chdir("../../vet/testdata/small")
		t.Setenv("GOWORK", "off") // a module of its own
		vet(t,
			line{"./node", exitOK, ""},
			line{"./...", exitFailed, "contextescape.go:"},
			line{"-lostfuture ./...", exitOK, ""},
			line{"./nothing", exitFailed, "nothing"},
			line{"help nothing", exitUsage, `there is no analyzer "nothing"`})
	})
	t.Run("whole", func(t *testing.T) {
		testkit.From(t, testkit.Merge, "go vet of all that package node imports")
		vet(t,
			line{"-pgo=off ../../vet", exitOK, ""},
			line{"-pgo=off ../../vet/testdata/lostfuture", exitFailed, "the future is dropped"},
			line{"-pgo=off -contextescape ../../vet/testdata/lostfuture", exitOK, ""})
	})
}

func TestVetHelp(t *testing.T) {
	for _, a := range vet.Analyzers() {
		env, out, _ := newEnvironment(t, nil)
		assert.Equal(t, exitOK, run(t.Context(), []string{"vet", "--help"}, env))
		assert.Contains(t, out.String(), "  "+a.Name+" ")
		env, out, _ = newEnvironment(t, nil)
		assert.Equal(t, exitOK, run(t.Context(), []string{"vet", "help", a.Name}, env))
		assert.Equal(t, a.Name+": "+a.Doc+"\n\n", out.String())
	}
}

// Without Go, the command says what it needs.
func TestVetWithoutGo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	env, _, errs := newEnvironment(t, nil)
	assert.Equal(t, exitFailed, run(t.Context(), []string{"vet", "./..."}, env))
	assert.Contains(t, errs.String(), "there is no go command on the PATH")
}
