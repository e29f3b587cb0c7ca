package growth_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/growth"
)

// The bytes that an operation allocates do not grow with the number of other entries.
func TestBytes(t *testing.T) {
	if testkit.Race {
		t.Skip("the race detector allocates memory itself")
	}
	growth.Test(t)
}

// counted lists the packages whose steps count.
var counted = []string{"slices", "container/list", "internal/mailbox/inbox", "internal/mailbox/ring", "internal/wire/pack", "internal/wire/pack",
	"internal/wire/etfcodec", "internal/sched/executor", "node/...", "wire/...", "supervisor/...", "internal/testkit/growth/steps"}

// The number of its steps does not grow either.
func TestSteps(t *testing.T) {
	if testkit.Race {
		t.Skip("the program has no race detector")
	}
	tool := testkit.Program(t, testkit.Night, "go")
	program := filepath.Join(t.TempDir(), "steps")
	packages := make([]string, len(counted))
	for i, p := range counted {
		if packages[i] = p; strings.Contains(p, "/") && !strings.HasPrefix(p, "container/") {
			packages[i] = "github.com/actornode/actornode/" + p
		}
	}
	build := exec.Command(tool, "build", "-cover", "-covermode=atomic", "-coverpkg="+strings.Join(packages, ","), "-o", program, "./steps")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	run := exec.Command(program, "-test.v")
	run.Env = append(os.Environ(), "GOCOVERDIR="+t.TempDir())
	out, err = run.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotContains(t, string(out), "steps: 0 with", "they are counted")
	require.Contains(t, string(out), "steps: ")
}
