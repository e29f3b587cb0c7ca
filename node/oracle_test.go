package node_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFailureOTP plays the scripts of TestFailure on a real Erlang node: what
// they expect must be what Erlang does.
func TestFailureOTP(t *testing.T) {
	for _, tool := range []string{"erl", "erlc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not on the PATH: the expectations of testdata/failure are not compared with OTP", tool)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dir := t.TempDir()
	out, err := exec.CommandContext(ctx, "erlc", "-Werror", "-o", dir, "testdata/failure.erl").CombinedOutput()
	require.NoError(t, err, string(out))

	files := scriptFiles(t)
	args := []string{"+S", "1:1", "+pc", "unicode", "-kernel", "logger_level", "none", "-noinput", "-pa", dir,
		"-eval", "failure:main(init:get_plain_arguments())", "-extra"}
	out, err = exec.CommandContext(ctx, "erl", append(args, files...)...).CombinedOutput()
	require.NoError(t, err, string(out))

	got := make(map[string]string)
	for _, part := range strings.Split("\n"+string(out), "\n== ")[1:] {
		title, result, _ := strings.Cut(part, "\n")
		got[title] = strings.TrimSpace(result)
	}
	for _, file := range files {
		all, _ := scripts(t, file)
		for _, s := range all {
			title := strings.TrimSuffix(filepath.Base(file), ".txt") + ": " + s.title
			assert.Equal(t, got[title], s.want, title)
			delete(got, title)
		}
	}
	assert.Empty(t, got, "Erlang printed more than there are scripts")
}
