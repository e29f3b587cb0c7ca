package cluster_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testProject runs a project that actornode new has written: the image of its Dockerfile, by its compose file, as a
// cluster of two nodes. Its program is compiled here, see daemonImage.
func (s *stack) testProject(t *testing.T) {
	x, dir := s.in(t), t.TempDir()
	openFolders(t, dir)
	project, image := dir+"/shop", dir+"/image"
	do := func(in, name string, args ...string) {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = in
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s %v: %s", name, args, out)
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	sums, err := os.ReadFile(root + "/go.sum")
	require.NoError(t, err)
	goBuild(t, root, dir+"/actornode", "./cmd/actornode")
	do(dir, dir+"/actornode", "new", "shop", "--replace", root, "--tidy=false")
	require.NoError(t, os.WriteFile(project+"/go.sum", sums, 0o644)) // in place of go mod tidy, which needs the network
	require.NoError(t, os.MkdirAll(image+"/out/home", 0o700))
	require.NoError(t, os.Chmod(image, 0o755))
	goBuild(t, project, image+"/out/shop", ".", "-mod=mod")

	text, err := os.ReadFile(project + "/Dockerfile")
	require.NoError(t, err)
	configure := regexp.MustCompile(`(?m)^RUN .* && (sed .*) >/out/shop\.yaml$`).FindSubmatch(text)
	require.NotNil(t, configure, string(text))
	do(project, "sh", "-c", string(configure[1])+" >"+image+"/out/shop.yaml")

	name := x.lastStage("project", string(text), image)
	x.tag += "-project"
	x.files = []string{project + "/compose.yaml"}
	x.vars = []string{"COMPOSE_PROJECT_NAME=" + x.tag, "NODE_IMAGE=" + name, "COOKIE_FILE=" + s.dir + "/cookie",
		"NODE_USER=65532:65532"}
	t.Cleanup(func() {
		if t.Failed() {
			x.tellLogs()
		}
		x.compose("down", "-v", "-t", "1")
	})
	_, err = x.compose("up", "-d", "--no-build", "--scale", "shop=2")
	require.NoError(t, err)
	x.nodes = nil
	for id := range strings.FieldsSeq(x.run("ps", "-q", "--no-trunc", "--filter", "label=com.docker.compose.project="+x.tag)) {
		x.nodes = append(x.nodes, x.look(id, "shop"))
	}
	require.Len(t, x.nodes, 2)
	x.ready()
	a, b := x.nodes[0], x.nodes[1]
	assert.Equal(t, "5", x.run("exec", a.id, "/usr/local/bin/shop", "call", "counter", "{add,5}"))
	assert.Equal(t, "7", x.run("exec", b.id, "/usr/local/bin/shop", "call", "--node", a.name, "counter", "{add,2}"))
	assert.Contains(t, x.run("exec", a.id, "/usr/local/bin/shop", "nodes"), b.name)
}
