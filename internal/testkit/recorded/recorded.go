// Package recorded compares what the module offers with listings of the last version that was released: exported names,
// commands, fields of the configuration, metrics, JSON.
//
// A listing is a file testdata/VERSION/KIND.txt at the root of the repository. Each line is a name, a colon, and what
// is promised of it. A line that is gone or changed needs its name, or that of what it is part of, in CHANGELOG.md: as
// code under Changed or Removed of Unreleased. New lines need nothing.
//
// A release replaces the listings by those of its version. The folders of earlier versions go: git has them.
//
//	go test . ./internal/daemon/command -run TestRecorded -record v0.2.0
package recorded

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var version = flag.String("record", "", "write testdata/VERSION, the listings of a version that is being released: v0.2.0")

// Check compares the lines of a kind with those of the last version. root is the path of the root of the repository.
func Check(t testing.TB, root, kind string, lines []string) {
	slices.Sort(lines)
	lines = slices.Compact(lines)
	if *version != "" {
		write(t, root, kind, lines)
	}
	dir := folder(t, root)
	then, err := os.ReadFile(filepath.Join(dir, kind+".txt"))
	require.NoError(t, err, "the listing of the last version")
	changelog, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	require.NoError(t, err)
	require.Equal(t, "v"+released(string(changelog)), filepath.Base(dir),
		"the last version of CHANGELOG.md has listings in testdata")
	for _, wrong := range compare(strings.Split(strings.TrimSpace(string(then)), "\n"), lines, announced(string(changelog))) {
		assert.Fail(t, wrong, "%s promises it. If the change is meant, CHANGELOG.md says so under Changed or Removed of Unreleased, "+
			"with this name as code, and what to write instead", filepath.Base(dir))
	}
}

// write replaces the listing of a kind, and removes those of other versions.
func write(t testing.TB, root, kind string, lines []string) {
	require.Regexp(t, `^v\d+\.\d+\.\d+$`, *version, "-record")
	dir := filepath.Join(root, "testdata", *version)
	for _, old := range folders(t, root) {
		if old != dir {
			require.NoError(t, os.RemoveAll(old))
		}
	}
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, kind+".txt"), []byte(strings.Join(lines, "\n")+"\n"), 0o644))
}

func folders(t testing.TB, root string) []string {
	all, err := filepath.Glob(filepath.Join(root, "testdata", "v[0-9]*"))
	require.NoError(t, err)
	return all
}

// folder returns the folder of the last version.
func folder(t testing.TB, root string) string {
	all := folders(t, root)
	require.Len(t, all, 1, "folders of the last version in testdata")
	return all[0]
}

// compare returns what is wrong: each line of then that is not in now, and whose name is not announced.
func compare(then, now []string, announced func(name string) bool) (wrong []string) {
	has := make(map[string]string)
	for _, line := range now {
		name, what := cut(line)
		has[name] = what
	}
	for _, line := range then {
		name, was := cut(line)
		is, there := has[name]
		switch {
		case there && is == was || announced(name):
		case there:
			wrong = append(wrong, fmt.Sprintf("%s has changed\nwas: %s\nis:  %s", name, was, is))
		default:
			wrong = append(wrong, fmt.Sprintf("%s is gone\nwas: %s", name, was))
		}
	}
	return wrong
}

func cut(line string) (name, what string) {
	name, what, _ = strings.Cut(line, ": ")
	return name, what
}

// released returns the last version that a changelog has.
func released(changelog string) string {
	m := regexp.MustCompile(`(?m)^## \[(\d[^\]]*)\]`).FindStringSubmatch(changelog)
	if m == nil {
		return ""
	}
	return m[1]
}

var code = regexp.MustCompile("`([^`\n]+)`")

// announced returns a function that reports whether a changelog announces the change of a name: it has the name, or
// that of what it is part of, as code under Changed or Removed of Unreleased.
func announced(changelog string) func(name string) bool {
	var names []string
	_, unreleased, _ := strings.Cut(changelog, "\n## [Unreleased]\n")
	unreleased, _, _ = strings.Cut(unreleased, "\n## ")
	for _, part := range strings.Split(unreleased, "\n### ") {
		if !strings.HasPrefix(part, "Changed\n") && !strings.HasPrefix(part, "Removed\n") {
			continue
		}
		for _, c := range code.FindAllStringSubmatch(part, -1) {
			names = append(names, c[1])
		}
	}
	return func(name string) bool {
		return slices.ContainsFunc(names, func(n string) bool {
			rest, of := strings.CutPrefix(name, n)
			return of && (rest == "" || strings.ContainsAny(rest[:1], ". ["))
		})
	}
}
