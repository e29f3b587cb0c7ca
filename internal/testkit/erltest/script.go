package erltest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the answers in testdata anew: those of OTP")

// Updating reports whether the tests should rewrite the answers in their files.
func Updating() bool { return *update }

// File is a file of scripts.
type File struct {
	Name    string // without directory and .txt
	Scripts []Script

	path, preface string
}

// Script is a list of steps, and the answers to them.
type Script struct {
	Title string // as in the file
	Text  string // the steps, as in the file
	Want  string // the answer, without surrounding white space

	file string
}

// Files reads the files that match a pattern of filepath.Glob. There must be at least one.
func Files(t testing.TB, pattern string) (all []File) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, paths, pattern)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		f := File{Name: strings.TrimSuffix(filepath.Base(path), ".txt"), path: path}
		parts := strings.Split("\n"+string(text), "\n== ")
		f.preface = strings.TrimPrefix(parts[0], "\n")
		for _, part := range parts[1:] {
			title, rest, _ := strings.Cut(part, "\n")
			body, want, ok := strings.Cut(rest, "----\n")
			require.True(t, ok, "%s: %s: no ----", path, title)
			f.Scripts = append(f.Scripts, Script{title, body, strings.TrimSpace(want), f.Name})
		}
		all = append(all, f)
	}
	return all
}

// Key is the title with the file's name before it: "FILE: TITLE".
func (s Script) Key() string { return s.file + ": " + s.Title }

// Lines returns the lines of the steps, without surrounding white space, comments and empty lines.
func (s Script) Lines() (all []string) {
	for line := range strings.Lines(s.Text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			all = append(all, line)
		}
	}
	return all
}

// Play runs a subtest name that compares the answer with that of play, which runs in a bubble of testing/synctest.
func (s Script) Play(t *testing.T, name string, play func(t *testing.T, lines []string) string) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { assert.Equal(t, s.Want, play(t, s.Lines())) })
	})
}

// Judge lets OTP play the scripts of the files that match pattern, and compares the answers with those in the files, or
// rewrites them with -update. The interpreter's main takes the names of the files and prints, for each script, "== FILE:
// TITLE" and the answer, like erltest:play.
func Judge(t *testing.T, interpreter, pattern string) {
	files := Files(t, pattern)
	var paths []string
	for _, f := range files {
		paths = append(paths, f.path)
	}
	got := answers(Main(t, interpreter, paths...))
	for _, f := range files {
		for i, s := range f.Scripts {
			answer, ok := got[s.Key()]
			require.True(t, ok, "%s: OTP says nothing", s.Key())
			delete(got, s.Key())
			if *update {
				f.Scripts[i].Want = answer
			} else {
				assert.Equal(t, answer, s.Want, s.Key())
			}
		}
		if *update {
			require.NoError(t, os.WriteFile(f.path, []byte(f.text()), 0o644))
		}
	}
	assert.Empty(t, got, "Erlang printed more than there are scripts")
}

// answers splits printed by the scripts' keys.
func answers(printed string) map[string]string {
	all := make(map[string]string)
	for _, part := range strings.Split("\n"+printed, "\n== ")[1:] {
		key, answer, _ := strings.Cut(part, "\n")
		all[key] = strings.TrimSpace(answer)
	}
	return all
}

// text returns the content of a file, with an empty line between scripts.
func (f File) text() string {
	text := f.preface
	for _, s := range f.Scripts {
		if text != "" {
			text = strings.TrimRight(text, "\n") + "\n\n"
		}
		text += "== " + s.Title + "\n" + s.Text + "----\n" + s.Want + "\n"
	}
	return text
}
