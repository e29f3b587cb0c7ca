package genserver_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// The compiler's message about a type that is no request says what to embed, and its message about a string as a
// destination says what to pass instead.
func TestCompilerMessages(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-e", "-o", os.DevNull, "./testdata/mistakes").CombinedOutput()
	require.Error(t, err)
	for _, want := range []string{
		`type plain\) does not satisfy genserver\.Returning\[.*\(missing method embedReturns\)`,
		`type returning\) does not satisfy .*\(missing method embedTo\)`,
		`string does not implement .*Dest \(missing method destIsPIDAtomRefOrAt\)`,
	} {
		require.Regexp(t, want, string(out))
	}
}
