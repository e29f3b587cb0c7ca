// Package fault makes the errors of codecs: the sentinel of a package, the position in a term, and a text.
package fault

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/actornode/actornode/wire"
)

// Package is the name of the package that returns the errors. Their texts begin with it.
type Package string

// Fault is such an error. Unwrap returns Kind.
type Fault struct {
	Kind error // a sentinel of the package, or an error of a caller's hook
	pkg  Package
	path string // "" if the text has the position
	text string
}

// Error returns "package: at path: text".
func (f *Fault) Error() string {
	if f.path != "" {
		return string(f.pkg) + ": at " + f.path + ": " + f.text
	}
	return string(f.pkg) + ": " + f.text
}

// Unwrap returns the kind of f.
func (f *Fault) Unwrap() error { return f.Kind }

// New returns a fault with a kind.
func (r Package) New(kind error, format string, args ...any) error {
	return &Fault{Kind: kind, pkg: r, text: fmt.Sprintf(format, args...)}
}

// Owns reports whether err is a fault of package r.
func (r Package) Owns(err error) bool {
	var f *Fault
	return errors.As(err, &f) && f.pkg == r
}

// maxPath is the approximate maximum length of a path in an error, in bytes.
const maxPath = 600

// Within returns err with path prepended to its own path. An error of a caller's hook becomes the kind of a fault.
func (r Package) Within(path string, err error) error {
	f, ok := err.(*Fault)
	if !ok || f.pkg != r {
		f = &Fault{Kind: err, pkg: r, text: err.Error()}
	}
	path += f.path
	if len(path) > maxPath { // the middle of a long path matters least
		path = strings.ToValidUTF8(path[:maxPath/3]+"…"+path[len(path)-maxPath/2:], "")
	}
	return &Fault{f.Kind, r, path, f.text}
}

// Below returns err relative to the first step of its path, if that is step.
func Below(err error, step string) error {
	f, ok := err.(*Fault)
	if !ok || step == "" || !strings.HasPrefix(f.path, step) {
		return err
	}
	path := f.path[len(step):]
	if name, rest, ok := strings.Cut(path, ")"); ok && strings.HasPrefix(name, "(") { // a type at the beginning has none
		path = name[1:] + rest
	}
	if path == "" && f.Kind.Error() == f.text {
		return f.Kind
	}
	return &Fault{f.Kind, f.pkg, path, f.text}
}

// Limits for a displayed path: steps at each end of a long one, characters of a key.
const (
	maxSteps = 8
	maxKey   = 40
)

// Path returns the path to the current part of each open level; step appends the step of one level.
func Path[L any](levels []L, step func(path []byte, level *L) []byte) string {
	var path []byte
	for i := range levels {
		if i >= maxSteps && len(levels)-i > maxSteps {
			if i == maxSteps {
				path = append(path, "…"...)
			}
			continue
		}
		path = step(path, &levels[i])
	}
	return string(path)
}

// Index appends a step to a numbered part, such as {3}: open, the number, closed.
func Index(path []byte, open string, i int, closed string) []byte {
	return append(strconv.AppendInt(append(path, open...), int64(i), 10), closed...)
}

// Pair appends a step to a map's value for a key, or to the key itself.
func Pair(path []byte, key any, itself bool) []byte {
	text := []rune(wire.Formatter{Max: utf8.UTFMax * (maxKey + 1)}.Format(key))
	if len(text) > maxKey {
		text = append(text[:maxKey], '…')
	}
	path = append(append(path, "#{"...), string(text)...)
	if itself {
		path = append(path, " as key"...)
	}
	return append(path, '}')
}
