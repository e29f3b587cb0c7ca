package deploy_test

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/markdown"
)

// served is the version of the module that the tests offer in a proxy of their own.
var served = module.Version{Path: "github.com/actornode/actornode", Version: "v0.1.0"}

// proxy writes what a module proxy serves of the last commit into a folder, and returns the folder.
func proxy(t *testing.T) string {
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	dir := t.TempDir()
	versions := filepath.Join(dir, served.Path, "@v")
	require.NoError(t, os.MkdirAll(versions, 0o755))
	archive, err := os.Create(filepath.Join(versions, served.Version+".zip"))
	require.NoError(t, err)
	require.NoError(t, modzip.CreateFromVCS(archive, served, root, "HEAD", ""), "the module as a proxy has it")
	require.NoError(t, archive.Close())
	mod, err := exec.CommandContext(t.Context(), "git", "-C", root, "show", "HEAD:go.mod").Output()
	require.NoError(t, err)
	info, err := json.Marshal(map[string]string{"Version": served.Version, "Time": "2026-11-29T00:00:00Z"})
	require.NoError(t, err)
	for name, data := range map[string][]byte{"list": []byte(served.Version + "\n"), served.Version + ".mod": mod,
		served.Version + ".info": info} {
		require.NoError(t, os.WriteFile(filepath.Join(versions, name), data, 0o644))
	}
	return dir
}

// consumer is somebody else's module, which gets actornode from a proxy. Nothing comes from the network: the other
// modules are those that have built the tests.
type consumer struct {
	t   *testing.T
	dir string
	env []string
}

func newConsumer(t *testing.T, proxy string) consumer {
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	require.NoError(t, err)
	downloads := filepath.Join(strings.TrimSpace(string(out)), "cache", "download")
	dir := t.TempDir()
	return consumer{t, dir, append(os.Environ(),
		"GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(downloads)+",off", "GOWORK=off", "GOSUMDB=off",
		"GOPRIVATE=", "GONOPROXY=", "GOMODCACHE="+t.TempDir(), "GOBIN="+filepath.Join(dir, "bin"), "GOTOOLCHAIN=local",
		"GOFLAGS=-mod=mod -modcacherw -trimpath -buildvcs=false -pgo=off")}
}

// run runs a program in the module and returns what it prints.
func (c consumer) run(name string, args ...string) string {
	cmd := exec.CommandContext(testkit.Context(c.t), name, args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.CombinedOutput()
	require.NoError(c.t, err, "%s %v: %s", name, args, out)
	return string(out)
}

// A module outside gets the library by go get, and builds the first program of the README with it; go install builds
// the daemon.
func TestModuleIsServed(t *testing.T) {
	testkit.Program(t, testkit.Merge, "git")
	from := proxy(t)
	checkZip(t, filepath.Join(from, served.Path, "@v", served.Version+".zip"))

	blocks := markdown.Parse("README.md", text(t, "../README.md")).Blocks
	first := slices.IndexFunc(blocks, func(b markdown.Block) bool { return b.Lang == "go" })
	require.GreaterOrEqual(t, first, 0, "the README has a program")
	c := newConsumer(t, from)
	c.run("go", "mod", "init", "example.com/first")
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, "main.go"), []byte(blocks[first].Text), 0o644))
	c.run("go", "get", served.Path+"@"+served.Version)
	mod := text(t, filepath.Join(c.dir, "go.mod"))
	assert.Contains(t, mod, served.Path+" "+served.Version)
	c.run("go", "vet", ".")
	assert.Equal(t, blocks[first+1].Text, c.run("go", "run", "."))
	assert.Contains(t, c.run("go", "list", "-m", "-versions", served.Path), served.Version)

	c.run("go", "install", served.Path+"/cmd/actornode@"+served.Version)
	said := c.run(filepath.Join(c.dir, "bin", "actornode"), "version")
	assert.Contains(t, said, fmt.Sprintf("actornode version %s\n", served.Version))
}

// checkZip checks which files of the repository are in the module.
func checkZip(t *testing.T, path string) {
	z, err := zip.OpenReader(path)
	require.NoError(t, err)
	defer z.Close()
	there := make(map[string]bool)
	for _, f := range z.File {
		name := strings.TrimPrefix(f.Name, served.String()+"/")
		there[name] = true
		folder, _, _ := strings.Cut(name, "/")
		assert.NotContains(t, []string{"bench", "deploy", "examples"}, folder, "%s is of another module", name)
	}
	for _, name := range []string{"LICENSE", "README.md", "go.mod", "node/node.go", "cmd/actornode/main.go"} {
		assert.True(t, there[name], "the module has no %s", name)
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	t.Logf("the module has %d files in %d KiB", len(there), info.Size()>>10)
}
