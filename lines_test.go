package actornode_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// longestLine is the maximum number of characters in a line of code. Tests are not checked: the rows of their tables
// may be longer. Nor is generated code.
const longestLine = 130

// generated matches the line that marks generated code: see go help generate.
var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// Code can be read without scrolling to the right.
func TestLinesAreShort(t *testing.T) {
	for path, text := range repository(t, "*.go") {
		if strings.HasSuffix(path, "_test.go") || generated.MatchString(text) {
			continue
		}
		for i, line := range strings.Split(text, "\n") {
			if n := utf8.RuneCountInString(line); n > longestLine {
				t.Errorf("%s:%d: %d characters, and there must be at most %d", path, i+1, n, longestLine)
			}
		}
	}
}
