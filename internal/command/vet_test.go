package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/vet"
)

// vet runs go vet with this program as its tool.
func TestVet(t *testing.T) {
	if testkit.Race {
		return // the tool is this program, and starts for each package that is imported: it would take minutes
	}
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"-pgo=off ../../internal/vet", exitOK, ""},
		{"-pgo=off ../../internal/vet/testdata/lostfuture", exitFailed, "the future is dropped"},
		{"-pgo=off -contextescape ../../internal/vet/testdata/lostfuture", exitOK, ""},
		{"-pgo=off ./nothing", exitFailed, "nothing"},
		{"help nothing", exitUsage, `there is no analyzer "nothing"`},
	} {
		env, _, errs := newEnvironment(t, nil)
		assert.Equal(t, c.status, run(t.Context(), append([]string{"vet"}, strings.Fields(c.args)...), env), c.args)
		assert.Contains(t, errs.String(), c.says, c.args)
		assert.NotContains(t, errs.String(), "exit status", c.args)
	}
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

// Where there is no Go the command says what it needs.
func TestVetWithoutGo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	env, _, errs := newEnvironment(t, nil)
	assert.Equal(t, exitFailed, run(t.Context(), []string{"vet", "./..."}, env))
	assert.Contains(t, errs.String(), "there is no go command on the PATH")
}
