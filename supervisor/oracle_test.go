package supervisor_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestScriptsOTP plays the scripts of TestScripts on OTP's supervisors: the answers
// in the files must be OTP's.
func TestScriptsOTP(t *testing.T) {
	for _, tool := range []string{"erl", "erlc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not on the PATH: the answers in testdata/supervision are not compared with OTP's", tool)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	dir := t.TempDir()
	out, err := exec.CommandContext(ctx, "erlc", "-Werror", "-o", dir, "testdata/supervision.erl").CombinedOutput()
	require.NoError(t, err, string(out))

	files := scriptFiles(t)
	args := []string{"+S", "1:1", "+pc", "unicode", "-kernel", "logger_level", "none", "-noinput", "-pa", dir,
		"-eval", "supervision:main(init:get_plain_arguments())", "-extra"}
	out, err = exec.CommandContext(ctx, "erl", append(args, files...)...).CombinedOutput()
	require.NoError(t, err, string(out))

	got := make(map[string]string)
	for _, part := range strings.Split("\n"+string(out), "\n== ")[1:] {
		title, answer, _ := strings.Cut(part, "\n")
		got[title] = strings.TrimSpace(answer)
	}
	for _, file := range files {
		all, preface := readScripts(t, file)
		if *update {
			rewrite(t, file, preface, all, got)
			continue
		}
		for _, s := range all {
			assert.Equal(t, got[s.title], s.want, s.title)
			delete(got, s.title)
		}
	}
	if !*update {
		assert.Empty(t, got, "Erlang printed more than there are scripts")
	}
}

// rewrite writes a file with new answers.
func rewrite(t *testing.T, file, preface string, all []scripted, answers map[string]string) {
	text := preface
	for i, s := range all {
		require.Contains(t, answers, s.title)
		if i > 0 || preface != "" {
			text = strings.TrimRight(text, "\n") + "\n\n"
		}
		_, title, _ := strings.Cut(s.title, ": ")
		text += "== " + title + "\n" + s.text + "----\n" + answers[s.title] + "\n"
	}
	require.NoError(t, os.WriteFile(filepath.Clean(file), []byte(text), 0o644))
}
