package cluster_test

import (
	"cmp"
	"flag"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mixed starts a node of an old version beside those of this version.
func (f *fault) mixed() *container {
	revision, image := f.s.oldImage(f.t)
	f.t.Logf("the old version is %s", revision)
	const host = "old.example"
	id := f.s.clone(f.t, f.s.nodes[0], image, []string{"--network", f.s.network(), "--network-alias", host},
		"ACTORNODE_NAME=go@"+host)
	old := &container{s: f.s, id: id, host: host}
	require.NoError(f.t, old.find("go"), f.s.logs(old))
	f.s.nodes = append(slices.Clone(f.s.nodes), old)
	f.victim = old
	f.s.ready()
	for _, c := range f.s.nodes {
		if c != old {
			_, err := c.cli("connect", old.name)
			require.NoError(f.t, err)
		}
	}
	return f.s.startLoad(f.t)
}

var oldVersion = flag.String("cluster.old", "", "revision of the old version; empty: the last tag, or 200 commits ago")

// lastVersion returns the last tag of a version before this commit, or "".
func lastVersion() string {
	tag, _ := git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD~1")
	return tag
}

func git(args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", "../.."}, args...)...).Output()
	return strings.TrimSpace(string(out)), err
}

// oldImage makes an image of an old version of this repository.
func (s *stack) oldImage(t testing.TB) (revision, image string) {
	revision = cmp.Or(*oldVersion, lastVersion(), "HEAD~200")
	revision, err := git("rev-parse", "--short", revision+"^{commit}")
	if err != nil {
		t.Skipf("NO OLD VERSION: the repository has no history here: %v", err)
	}
	dir := t.TempDir()
	tree := exec.Command("git", "-C", "../..", "archive", revision)
	unpack := exec.Command("tar", "-x", "-C", dir)
	unpack.Stdin, err = tree.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, tree.Start())
	require.NoError(t, unpack.Run())
	require.NoError(t, tree.Wait())
	out := t.TempDir()
	goBuild(t, dir, out+"/actornode", "./cmd/actornode")
	require.NoError(t, os.WriteFile(out+"/Dockerfile", []byte("FROM "+s.image("node")+
		"\nCOPY actornode /usr/local/bin/actornode\n"), 0o644))
	return revision, s.in(t).build("old", out)
}

// mix makes calls between the versions, in both directions.
func (f *fault) mix() {
	for _, c := range f.s.nodes[:len(f.s.nodes)-1] {
		for _, x := range [][2]*container{{c, f.victim}, {f.victim, c}} {
			args := []string{"rpc", "--node", x[1].name, "demo", "add", "20", "22"}
			if x[0] == f.victim { // its command may not know cookie_file yet
				args = append(args, "--cookie", f.s.cookie)
			}
			out, err := x[0].cli(args...)
			assert.NoError(f.t, err)
			assert.Equal(f.t, "42\n", out)
		}
	}
	f.hold(20 * time.Second)
}
