package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

// systemd accepts the unit, which restricts the daemon strongly: an exposure of at most 2 of 10.
func TestSystemdUnit(t *testing.T) {
	testkit.Program(t, testkit.Merge, "systemd-analyze")
	const unit, binary = "systemd/actornode.service", "/usr/bin/actornode"
	file := filepath.Join(t.TempDir(), "actornode.service")
	require.Contains(t, text(t, unit), "ExecStart="+binary+" ")
	here := strings.ReplaceAll(text(t, unit), binary, "/bin/sh") // a program that every machine has
	require.NoError(t, os.WriteFile(file, []byte(here), 0o644))
	out, err := exec.Command("systemd-analyze", "--man=no", "verify", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Empty(t, string(out))
	out, err = exec.Command("systemd-analyze", "security", "--no-pager", "--offline=true", "--threshold=20", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	t.Log(lines[len(lines)-1])
}
