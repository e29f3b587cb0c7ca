package actornode_test

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// longestLine is how many characters a line of code has at most. Tests are not checked: the
// rows of their tables may be longer.
const longestLine = 130

// Code can be read without scrolling to the right.
func TestLinesAreShort(t *testing.T) {
	for path, text := range repository(t, "*.go") {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		for i, line := range strings.Split(text, "\n") {
			if n := utf8.RuneCountInString(line); n > longestLine {
				t.Errorf("%s:%d: %d characters, and there must be at most %d", path, i+1, n, longestLine)
			}
		}
	}
}
