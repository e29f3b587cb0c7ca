package erltest

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

//go:embed erltest.erl
var own []byte // the module erltest

// Modules holds compiled Erlang modules: code by file name, such as "far.beam".
type Modules map[string][]byte

// builds caches results of Build, as functions that return them, by arguments.
var builds sync.Map

// Build compiles the module erltest and args, options and files for erlc. It caches the result per arguments for the
// process. Below make merge it fails: see Need.
func Build(args ...string) (Modules, error) {
	f, _ := builds.LoadOrStore(strings.Join(args, "\x00"), sync.OnceValues(func() (Modules, error) { return build(args) }))
	return f.(func() (Modules, error))()
}

func build(args []string) (Modules, error) {
	if !allowed() {
		return nil, errors.New("erlc is left to make merge")
	}
	dir, err := os.MkdirTemp("", "erltest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	source := filepath.Join(dir, "erltest.erl")
	if err := os.WriteFile(source, own, 0o600); err != nil {
		return nil, err
	}
	out, err := exec.Command("erlc", slices.Concat([]string{"-o", dir}, args, []string{source})...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("erlc: %w: %s", err, out)
	}
	files, err := filepath.Glob(dir + "/*.beam")
	m := make(Modules)
	for _, f := range files {
		if err == nil {
			m[filepath.Base(f)], err = os.ReadFile(f)
		}
	}
	return m, err
}

// Write writes the modules into dir.
func (m Modules) Write(t testing.TB, dir string) {
	t.Helper()
	for name, b := range m {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
}

// Compile compiles sources, which must not cause warnings, and returns a directory with them and the module erltest, which
// exists until the test ends.
func Compile(t testing.TB, sources ...string) (dir string) {
	t.Helper()
	Need(t)
	m, err := Build(append([]string{"-Werror"}, sources...)...)
	require.NoError(t, err)
	dir = t.TempDir()
	m.Write(t, dir)
	return dir
}
