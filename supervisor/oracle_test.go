package supervisor_test

import (
	"testing"

	"github.com/actornode/actornode/internal/testkit/erltest"
)

// TestScriptsOTP plays the scripts of TestScripts on OTP's supervisors: the answers in the files must be OTP's.
func TestScriptsOTP(t *testing.T) {
	erltest.Judge(t, "testdata/supervision.erl", "testdata/supervision/*.txt")
}
