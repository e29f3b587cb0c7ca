package strict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is one error in a file.
type Error struct {
	File         string
	Line, Column int    // from 1; Column is 1 if the YAML itself is invalid
	Field        string // limits.peers[0].name; "yaml" if the YAML itself is invalid
	Problem      string // what is wrong, and what is allowed
}

// Error returns file:line:column: field: problem.
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s: %s", e.File, e.Line, e.Column, e.Field, e.Problem)
}

// Errors are the errors of a file, sorted by line and column, at most [MaxErrors].
type Errors []*Error

// Error returns one line for each error.
func (l Errors) Error() string {
	return Lines(l)
}

// Unwrap returns the individual errors.
func (l Errors) Unwrap() []error {
	return Each(l)
}

// Lines returns the texts of errors, one line each.
func Lines[E error](l []E) string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Each returns the errors of l, for Unwrap.
func Each[E error](l []E) []error {
	all := make([]error, len(l))
	for i, e := range l {
		all[i] = e
	}
	return all
}

func (l Errors) sort() {
	slices.SortStableFunc(l, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// few is the maximum number of allowed words in an error.
const few = 20

// Allowed lists the allowed words instead of word: the nearest one first, then all, or the first twenty.
func Allowed(word string, words []string) string {
	s := ""
	if near := Nearest(word, words); near != "" {
		s = "did you mean " + near + "? "
	}
	more := ""
	if len(words) > few {
		words, more = words[:few], ", …"
	}
	return s + "allowed: " + strings.Join(words, ", ") + more
}

// Nearest returns the word that word is most likely a typo of, or "".
func Nearest(word string, words []string) (best string) {
	least := max(1, min(len(word), 30)/3) + 1
	for _, w := range words {
		if d := distance(word, w, least); d < least {
			best, least = w, d
		}
	}
	return best
}

// distance returns the number of insertions, deletions, replacements and swaps of adjacent letters that turn a into b, but
// at most limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row, before, earlier := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		earlier, before, row = before, row, earlier
		row[0] = i + 1
		for j := range len(b) {
			d := before[j]
			if a[i] != b[j] {
				d = 1 + min(before[j], before[j+1], row[j])
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, 1+earlier[j-1])
			}
			row[j+1] = d
		}
	}
	return min(row[len(b)], limit)
}
