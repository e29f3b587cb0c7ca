package tree

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/actornode/actornode/wire"
)

// Bounds of a file.
const (
	maxBytes  = 1 << 20
	maxDepth  = 64      // of values within values, followed aliases included
	maxValues = 100_000 // that are looked at: an alias counts with all that is in it
	maxErrors = 100
	maxDigits = 1000 // of an integer
	maxPath   = 200  // of the name of a field in an error
)

// at is a value of the file and where it is. A followed alias is where the alias
// is, its contents are where they are.
type at struct {
	*yaml.Node
	line, column int
	path         string
	depth        int
}

// reader walks a file and collects what is wrong. Invariants: every value that
// it looks at has gone through enter, so there are at most maxValues of them,
// maxDepth deep; nothing is read twice, except by aliases.
type reader struct {
	file   string
	known  Known
	errs   Errors
	values int
	full   bool             // a bound has been passed: what is found from now on follows from that
	names  map[wire.Atom]at // that processes are registered under, and where
}

func (r *reader) fail(v at, format string, args ...any) {
	if len(r.errs) < maxErrors && !r.full {
		path := v.path
		if path == "" {
			path = "yaml" // the whole of it
		}
		if len(path) > maxPath {
			path = "…" + strings.ToValidUTF8(path[len(path)-maxPath:], "")
		}
		r.errs = append(r.errs, &Error{r.file, v.line, v.column, path, fmt.Sprintf(format, args...)})
	}
}

// enter goes to a value within v, or reports false: there must be no end to it.
func (r *reader) enter(v at, n *yaml.Node, path string) (at, bool) {
	w := at{n, n.Line, n.Column, path, v.depth + 1}
	for w.Kind == yaml.AliasNode && w.Alias != nil {
		w.Node = w.Alias
	}
	r.values++
	switch {
	case r.values > maxValues:
		r.fail(w, "too much: the file has more than %d values, those that aliases stand for included", maxValues)
		r.full = true
	case w.depth > maxDepth:
		r.fail(w, "too deep: values are nested more than %d deep, those that aliases stand for included", maxDepth)
		r.full = true
	}
	return w, !r.full
}

// field is one that an object may have.
type field struct {
	name     string
	required bool
	read     func(at)
}

// object reads a mapping with fixed fields, and returns those that are there.
func (r *reader) object(v at, fields ...field) map[string]at {
	if v.Kind != yaml.MappingNode {
		r.fail(v, "want a mapping with the fields %s", strings.Join(fieldNames(fields), ", "))
		return nil
	}
	got := make(map[string]at)
	for i := 0; i+1 < len(v.Content); i += 2 {
		key, value := v.Content[i], v.Content[i+1]
		w, ok := r.enter(v, value, join(v.path, cut(key.Value)))
		if !ok {
			return got
		}
		here := at{Node: key, line: key.Line, column: key.Column, path: w.path}
		k := slices.IndexFunc(fields, func(f field) bool { return f.name == key.Value })
		first, twice := got[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode:
			here.path = v.path
			r.fail(here, "a field's name must be a plain word; %s", allowed("", fieldNames(fields)))
		case key.ShortTag() == "!!merge":
			r.fail(here, "merge keys are not supported: write the fields out")
		case k < 0:
			r.fail(here, "unknown field; %s", allowed(key.Value, fieldNames(fields)))
		case twice:
			r.fail(here, "given twice, first in line %d", first.line)
		default:
			got[key.Value] = w
			if f := fields[k]; f.read != nil {
				f.read(w)
			}
		}
	}
	for _, f := range fields {
		if _, there := got[f.name]; f.required && !there {
			v := v
			v.path = join(v.path, f.name)
			r.fail(v, "missing")
		}
	}
	return got
}

func fieldNames(fields []field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}

func join(path, name string) string {
	if !plainName(name) {
		name = strconv.Quote(name)
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// plainName reports whether a field's name can be shown as it is.
func plainName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '-'
	})
}

// list reads a sequence. An empty value is an empty list.
func (r *reader) list(v at, read func(i int, v at)) {
	switch {
	case v.Kind == yaml.SequenceNode && v.ShortTag() == "!!seq":
	case isNull(v):
		return
	default:
		r.fail(v, "want a list")
		return
	}
	for i, n := range v.Content {
		w, ok := r.enter(v, n, fmt.Sprintf("%s[%d]", v.path, i))
		if !ok {
			return
		}
		read(i, w)
	}
}

func isNull(v at) bool { return v.Kind == yaml.ScalarNode && v.ShortTag() == "!!null" }

// text reads a text, quoted or not: 1.10 is one too.
func (r *reader) text(v at, what string) (string, bool) {
	if v.Kind == yaml.ScalarNode {
		switch v.ShortTag() {
		case "!!str", "!!int", "!!float", "!!timestamp":
			return v.Value, true
		}
	}
	r.fail(v, "want %s", what)
	return "", false
}

// atom reads a name.
func (r *reader) atom(v at, what string) (wire.Atom, bool) {
	if v.Kind != yaml.ScalarNode || v.ShortTag() != "!!str" && v.ShortTag() != "!atom" {
		r.fail(v, "want %s, a name", what)
		return "", false
	}
	return r.atomText(v)
}

func (r *reader) atomText(v at) (wire.Atom, bool) {
	if n := utf8.RuneCountInString(v.Value); n > wire.MaxAtomRunes {
		r.fail(v, "an atom of %d characters; at most %d are allowed", n, wire.MaxAtomRunes)
		return "", false
	}
	return wire.Atom(v.Value), true
}

// name reads a name that a process is to be registered under.
func (r *reader) name(v at) (wire.Atom, bool) {
	name, ok := r.atom(v, "the name to be registered under")
	if !ok {
		return "", false
	}
	if name == "" || name == wire.Undefined {
		r.fail(v, "%s cannot be registered; want any other name", wire.Format(name))
		return "", false
	}
	if first, twice := r.names[name]; twice {
		r.fail(v, "%s is registered twice, first in line %d as %s", wire.Format(name), first.line, first.path)
		return name, false
	}
	r.names[name] = v
	return name, true
}

// choice reads one of several words, and returns which.
func (r *reader) choice(v at, words ...string) (int, bool) {
	if v.Kind == yaml.ScalarNode {
		if i := slices.Index(words, v.Value); i >= 0 {
			return i, true
		}
		r.fail(v, "%q is none of them; %s", cut(v.Value), allowed(v.Value, words))
	} else {
		r.fail(v, "want a word; %s", allowed("", words))
	}
	return 0, false
}

func (r *reader) flag(v at) bool {
	i, _ := r.choice(v, "false", "true")
	return i == 1
}

func (r *reader) integer(v at, least int) (int, bool) {
	if v.Kind == yaml.ScalarNode && v.ShortTag() == "!!int" {
		if n, ok := parseInteger(v.Value); ok {
			if i, ok := wire.Int(n); ok && i >= int64(least) && i <= math.MaxInt32 {
				return int(i), true
			}
		}
	}
	r.fail(v, "want an integer from %d to %d", least, math.MaxInt32)
	return 0, false
}

func (r *reader) float(v at, least, most float64) float64 {
	if v.Kind == yaml.ScalarNode && (v.ShortTag() == "!!int" || v.ShortTag() == "!!float") {
		if f, err := strconv.ParseFloat(v.Value, 64); err == nil && f >= least && f <= most {
			return f
		}
	}
	if most == math.MaxFloat64 {
		r.fail(v, "want a number, %v at least", least)
	} else {
		r.fail(v, "want a number from %v to %v", least, most)
	}
	return least
}

// duration reads a time with its unit, above 0, or one of the words, which it
// returns as -1, -2, ….
func (r *reader) duration(v at, words ...string) (time.Duration, bool) {
	if v.Kind == yaml.ScalarNode {
		if i := slices.Index(words, v.Value); i >= 0 {
			return time.Duration(-1 - i), true
		}
		if d, err := time.ParseDuration(v.Value); err == nil && d > 0 {
			return d, true
		}
	}
	or := ""
	if len(words) > 0 {
		or = ", or " + strings.Join(words, ", or ")
	}
	r.fail(v, "want a time above 0 with its unit, such as 500ms, 5s, 1m30s%s", or)
	return 0, false
}

// cut makes a word of the file short enough for an error.
func cut(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}
