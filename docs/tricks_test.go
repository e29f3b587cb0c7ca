package docs_test

import (
	"go/build/constraint"
	"go/version"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// constraints returns the build constraint of each Go and assembler file that has one and is not a test, by its path in
// the repository.
func constraints(t *testing.T) map[string]constraint.Expr {
	found := map[string]constraint.Expr{}
	require.NoError(t, fs.WalkDir(os.DirFS(".."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := d.Name(); d.IsDir() {
			if base != "." && base[0] == '.' || base[0] == '_' || base == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		if ext := path.Ext(name); ext != ".go" && ext != ".s" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				break
			}
			if constraint.IsGoBuild(line) {
				found[name], err = constraint.Parse(line)
				return err
			}
		}
		return nil
	}))
	return found
}

// tagsOf returns the tags that e mentions.
func tagsOf(e constraint.Expr) (tags []string) {
	switch e := e.(type) {
	case *constraint.AndExpr:
		tags = append(tagsOf(e.X), tagsOf(e.Y)...)
	case *constraint.OrExpr:
		tags = append(tagsOf(e.X), tagsOf(e.Y)...)
	case *constraint.NotExpr:
		tags = tagsOf(e.X)
	case *constraint.TagExpr:
		tags = []string{e.Tag}
	}
	return tags
}

// tricks returns the text between two titles of the document that lists the tricks.
func tricks(t *testing.T, title string) string {
	text, err := os.ReadFile("performance-ablation.md")
	require.NoError(t, err)
	_, part, found := strings.Cut("\n"+string(text), "\n"+title+"\n")
	require.True(t, found, title)
	part, _, _ = strings.Cut(part, "\n## ")
	return part
}

var quoted = regexp.MustCompile("`([^`]+)`")

// cells returns what stands in backquotes in the table of a part, a row in each element. Only columns from
// the one to before the other count.
func cells(part string, from, to int) (all []string) {
	for line := range strings.Lines(part) {
		if columns := strings.Split(line, "|"); line[0] == '|' && len(columns) > to {
			for _, m := range quoted.FindAllStringSubmatch(strings.Join(columns[from:to], " "), -1) {
				all = append(all, m[1])
			}
		}
	}
	return all
}

// The race detector runs what is shipped. Whatever differs under it is in a list that says why:
// there is no file that the list has not, and the list has none that does not differ.
func TestUnderTheRaceDetector(t *testing.T) {
	var differ []string
	for name, e := range constraints(t) {
		if slices.Contains(tagsOf(e), "race") {
			differ = append(differ, name)
		}
	}
	assert.ElementsMatch(t, differ, cells(tricks(t, "## Under the race detector"), 1, 3))
}

// What relies on Go's runtime is compiled only with releases that it was tested with, all of it with the same. This fails
// with a newer release: performance-ablation.md says what to do.
func TestTestedRelease(t *testing.T) {
	var gated []string
	untested := map[string]bool{}
	for name, e := range constraints(t) {
		for _, tag := range tagsOf(e) {
			if strings.HasPrefix(tag, "go1.") {
				gated, untested[tag] = append(gated, path.Dir(name)), true
			}
		}
	}
	slices.Sort(gated)
	require.Equal(t, []string{"internal/kernel/deepcopy", "internal/sched/fiber", "internal/wire/box"}, slices.Compact(gated))
	require.Len(t, untested, 1)
	for tag := range untested {
		release := version.Lang(runtime.Version())
		require.Negative(t, version.Compare(release, tag), "%s is new: run all tests with its tricks", release)
		text, err := os.ReadFile("../node/node.go")
		require.NoError(t, err)
		tested := regexp.MustCompile(`testedWith = "(go1\.\d+)"`).FindSubmatch(text)
		require.NotNil(t, tested)
		require.Negative(t, version.Compare(string(tested[1]), tag))
	}
}

// The list of tricks has each tag that leaves one out, and the files that it names are there.
func TestTricks(t *testing.T) {
	list := tricks(t, "# What each trick buys")
	tags := map[string]bool{}
	for _, e := range constraints(t) {
		for _, tag := range tagsOf(e) {
			if strings.HasPrefix(tag, "actornode_no_") {
				tags[tag] = true
			}
		}
	}
	listed := slices.DeleteFunc(cells(list, 2, 3), func(s string) bool { return !tags[s] && !strings.HasPrefix(s, "actornode_no_") })
	for tag := range tags {
		assert.Contains(t, listed, tag)
	}
	assert.Len(t, listed, len(tags))
	files := cells(list, 3, 4)
	assert.Greater(t, len(files), 10)
	for _, pattern := range files {
		there, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(pattern)))
		require.NoError(t, err)
		assert.NotEmpty(t, there, "%s is not there", pattern)
	}
}
