package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/goreleaser/nfpm/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

// manager installs packages below a folder, which has nothing else in it.
type manager struct {
	format  format
	program string
	begin   func(t *testing.T, root string)
	install func(root, file string) []string
	version func(root string) []string // prints the installed version
}

var managers = []manager{
	{
		format: formats[0], program: "dpkg",
		begin: func(t *testing.T, root string) {
			require.NoError(t, os.MkdirAll(filepath.Join(root, "var/lib/dpkg/updates"), 0o755))
			require.NoError(t, os.MkdirAll(filepath.Join(root, "var/lib/dpkg/info"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644))
		},
		install: func(root, file string) []string {
			return []string{"--root=" + root, "--log=" + root + "/log", "--force-depends,not-root,bad-path", "--install", file}
		},
		version: func(root string) []string {
			return []string{"--root=" + root, "--no-pager", "--list", "actornode"}
		},
	},
	{
		format: formats[1], program: "rpm", begin: func(*testing.T, string) {},
		install: func(root, file string) []string {
			return []string{"--root", root, "--dbpath", "/var/lib/rpm", "--nodeps", "-U", file}
		},
		version: func(root string) []string { return []string{"--root", root, "--dbpath", "/var/lib/rpm", "-qa"} },
	},
}

// A package of v0.1.0 replaces one of an earlier version: the program says the new version, the unit is there, and the
// configuration that an operator has changed stays. The scripts of the packages change users and services of the machine,
// so they are left out here: see TestInstall.
func TestUpgrade(t *testing.T) {
	testkit.From(t, testkit.Merge, "a release, which is compiled")
	if runtime.GOOS != "linux" {
		t.Skip("packages are for Linux")
	}
	if os.Getuid() != 0 {
		t.Skip("only root can install files that belong to root")
	}
	before, after := r(t), r(t)
	before.version, after.version = "v0.0.1", "v0.1.0"
	before.time = after.time.AddDate(0, 0, -1)
	for _, m := range managers {
		t.Run(m.format.name, func(t *testing.T) {
			testkit.Program(t, testkit.Merge, m.program)
			m.format.scripts = nfpm.Scripts{}
			root := t.TempDir()
			m.begin(t, root)
			program, yaml := filepath.Join(root, "usr/bin/actornode"), filepath.Join(root, "etc/actornode/actornode.yaml")

			run(t, m.program, m.install(root, packed(t, before, m.format))...)
			assert.Equal(t, "actornode version v0.0.1\n", run(t, program, "--version"))
			assert.Contains(t, run(t, m.program, m.version(root)...), "0.0.1")
			text, err := os.ReadFile(yaml)
			require.NoError(t, err)
			changed := append(text, "\n# changed by the operator\n"...)
			require.NoError(t, os.WriteFile(yaml, changed, 0o644))
			cookie := filepath.Join(root, "etc/actornode/cookie")
			require.NoError(t, os.WriteFile(cookie, []byte("secret\n"), 0o600))

			run(t, m.program, m.install(root, packed(t, after, m.format))...)
			assert.Equal(t, "actornode version v0.1.0\n", run(t, program, "--version"))
			assert.Contains(t, run(t, m.program, m.version(root)...), "0.1.0")
			checkInstalled(t, root)
			kept, err := os.ReadFile(yaml)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(changed, kept), "the configuration is no longer that of the operator:\n%s", kept)
			there, err := filepath.Glob(filepath.Join(root, "etc/actornode/*"))
			require.NoError(t, err)
			assert.Equal(t, []string{yaml, cookie}, there, "no other files beside them")
		})
	}
}
