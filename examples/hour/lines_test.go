package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// lines counts the lines of files that are neither blank nor comments.
func lines(t *testing.T, pattern string) (count int) {
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		for line := range bytes.Lines(text) {
			line = bytes.TrimSpace(line)
			if len(line) > 0 && !bytes.HasPrefix(line, []byte("//")) {
				count++
			}
		}
	}
	require.NotZero(t, count, pattern)
	return count
}

// README.md compares the lines of both programs: they are what it says.
func TestLines(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, part := range []struct{ name, ours, plain string }{
		{"limits, sessions, jobs", "service.go", "plain/[st]*.go"},
		{"HTTP", "http.go", "plain/http.go"},
		{"start and stop", "main.go", "plain/main.go"},
		{"all", "*.go", "plain/*.go"},
	} {
		row := fmt.Sprintf("| %s | %d | %d |", part.name, lines(t, part.ours), lines(t, part.plain))
		require.Contains(t, string(readme), row)
	}
}
