package strict

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// Limits of a file.
const (
	MaxBytes  = 1 << 20
	MaxDepth  = 64      // nesting depth of values, including followed aliases
	MaxValues = 100_000 // examined values: an alias counts with all of its contents
	MaxErrors = 100
	maxPath   = 200 // of the name of a field in an error
)

// Value is a value of the file with its position. A followed alias has the position of the alias, its contents have their
// own.
type Value struct {
	*yaml.Node
	Line, Column int    // from 1
	Path         string // of the field: limits.peers[0].name; "" for the whole file
	depth        int
}

// Reader walks a file and collects errors. Invariants: every examined value has gone through Enter, so there are at most
// MaxValues of them, MaxDepth deep; nothing is read twice, except by aliases.
type Reader struct {
	file   string
	errs   Errors
	values int
	full   bool // a limit was exceeded: later errors would be consequences
}

// Fail records an error about v: what is wrong, and what is allowed. After [MaxErrors], or when a limit of the file was
// exceeded, it does nothing.
func (r *Reader) Fail(v Value, format string, args ...any) {
	if len(r.errs) < MaxErrors && !r.full {
		path := v.Path
		if path == "" {
			path = whole
		}
		if len(path) > maxPath {
			path = "…" + strings.ToValidUTF8(path[len(path)-maxPath:], "")
		}
		r.errs = append(r.errs, &Error{r.file, v.Line, v.Column, path, fmt.Sprintf(format, args...)})
	}
}

// Enter returns the value of n within v, or false if a limit is exceeded.
func (r *Reader) Enter(v Value, n *yaml.Node, path string) (Value, bool) {
	w := Value{n, n.Line, n.Column, path, v.depth + 1}
	for w.Kind == yaml.AliasNode && w.Alias != nil {
		w.Node = w.Alias
	}
	r.values++
	switch {
	case r.values > MaxValues:
		r.Fail(w, "too many values: the file has more than %d, counting each use of an alias", MaxValues)
		r.full = true
	case w.depth > MaxDepth:
		r.Fail(w, "nested too deeply: more than %d levels, counting the contents of aliases", MaxDepth)
		r.full = true
	}
	return w, !r.full
}

// Field is an allowed field of an object.
type Field struct {
	Name     string
	Required bool
	Read     func(Value) // may be nil: then the caller of Object reads it from the result
}

// Object reads a mapping with fixed fields, and returns those that are present.
func (r *Reader) Object(v Value, fields ...Field) map[string]Value {
	if v.Kind != yaml.MappingNode {
		r.Fail(v, "want a mapping with the fields %s", strings.Join(fieldNames(fields), ", "))
		return nil
	}
	got := make(map[string]Value)
	for i := 0; i+1 < len(v.Content); i += 2 {
		key, value := v.Content[i], v.Content[i+1]
		w, ok := r.Enter(v, value, Join(v.Path, Cut(key.Value)))
		if !ok {
			return got
		}
		here := Value{Node: key, Line: key.Line, Column: key.Column, Path: w.Path}
		k := slices.IndexFunc(fields, func(f Field) bool { return f.Name == key.Value })
		first, twice := got[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode:
			here.Path = v.Path
			r.Fail(here, "a field's name must be a plain word; %s", Allowed("", fieldNames(fields)))
		case key.ShortTag() == "!!merge":
			r.Fail(here, "merge keys are not supported: write the fields out")
		case k < 0:
			r.Fail(here, "unknown field; %s", Allowed(key.Value, fieldNames(fields)))
		case twice:
			r.Fail(here, "given twice, first in line %d", first.Line)
		default:
			got[key.Value] = w
			if f := fields[k]; f.Read != nil {
				f.Read(w)
			}
		}
	}
	for _, f := range fields {
		if _, there := got[f.Name]; f.Required && !there {
			v := v
			v.Path = Join(v.Path, f.Name)
			r.Fail(v, "missing")
		}
	}
	return got
}

func fieldNames(fields []Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// Join returns the path of a field of the value at path.
func Join(path, name string) string {
	if !plainName(name) {
		name = strconv.Quote(name)
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// plainName reports whether a field's name can be displayed unchanged.
func plainName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '-'
	})
}

// List reads a sequence. An empty value is an empty list.
func (r *Reader) List(v Value, read func(i int, v Value)) {
	switch {
	case v.Kind == yaml.SequenceNode && v.ShortTag() == "!!seq":
	case IsNull(v):
		return
	default:
		r.Fail(v, "want a list")
		return
	}
	for i, n := range v.Content {
		w, ok := r.Enter(v, n, fmt.Sprintf("%s[%d]", v.Path, i))
		if !ok {
			return
		}
		read(i, w)
	}
}

// Map reads a mapping with arbitrary keys; it calls read once for each key. An empty value is an empty mapping.
func (r *Reader) Map(v Value, read func(key string, v Value)) {
	if IsNull(v) {
		return
	}
	if v.Kind != yaml.MappingNode {
		r.Fail(v, "want a mapping")
		return
	}
	first := make(map[string]int)
	for i := 0; i+1 < len(v.Content); i += 2 {
		key := v.Content[i]
		w, ok := r.Enter(v, v.Content[i+1], Join(v.Path, Cut(key.Value)))
		if !ok {
			return
		}
		here := Value{Node: key, Line: key.Line, Column: key.Column, Path: w.Path}
		line, twice := first[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode:
			here.Path = v.Path
			r.Fail(here, "a key must be a plain word")
		case key.ShortTag() == "!!merge":
			r.Fail(here, "merge keys are not supported: write the pairs out")
		case twice:
			r.Fail(here, "given twice, first in line %d", line)
		default:
			first[key.Value] = w.Line
			read(key.Value, w)
		}
	}
}

// IsList reports whether v is a list.
func IsList(v Value) bool { return v.Kind == yaml.SequenceNode }

// IsMap reports whether v is a mapping.
func IsMap(v Value) bool { return v.Kind == yaml.MappingNode }

// IsNull reports whether v is empty: a: or a: null.
func IsNull(v Value) bool { return v.Kind == yaml.ScalarNode && v.ShortTag() == "!!null" }

// Text reads a text, quoted or not; 1.10 is a text, too.
func (r *Reader) Text(v Value, what string) (string, bool) {
	if v.Kind == yaml.ScalarNode {
		switch v.ShortTag() {
		case "!!str", "!!int", "!!float", "!!timestamp":
			return v.Value, true
		}
	}
	r.Fail(v, "want %s", what)
	return "", false
}

// Choice reads one of several words, and returns its index.
func (r *Reader) Choice(v Value, words ...string) (int, bool) {
	if v.Kind == yaml.ScalarNode {
		if i := slices.Index(words, v.Value); i >= 0 {
			return i, true
		}
		r.Fail(v, "unknown value %q; %s", Cut(v.Value), Allowed(v.Value, words))
	} else {
		r.Fail(v, "want a word; %s", Allowed("", words))
	}
	return 0, false
}

// Flag reads true or false.
func (r *Reader) Flag(v Value) bool {
	i, _ := r.Choice(v, "false", "true")
	return i == 1
}

// Integer reads an integer from least to 2,147,483,647, in any of YAML's notations: 42, 1_000, 0x2a, 0o52, 052, 0b101010.
func (r *Reader) Integer(v Value, least int) (int, bool) {
	if v.Kind == yaml.ScalarNode && v.ShortTag() == "!!int" {
		n, err := strconv.ParseInt(strings.ReplaceAll(v.Value, "_", ""), 0, 64)
		if err == nil && n >= int64(least) && n <= math.MaxInt32 {
			return int(n), true
		}
	}
	r.Fail(v, "want an integer from %d to %d", least, math.MaxInt32)
	return 0, false
}

// Float reads a number from least to most, inclusive; after an error it returns least.
func (r *Reader) Float(v Value, least, most float64) float64 {
	if v.Kind == yaml.ScalarNode && (v.ShortTag() == "!!int" || v.ShortTag() == "!!float") {
		if f, err := strconv.ParseFloat(v.Value, 64); err == nil && f >= least && f <= most {
			return f
		}
	}
	if most == math.MaxFloat64 {
		r.Fail(v, "want a number, at least %v", least)
	} else {
		r.Fail(v, "want a number from %v to %v", least, most)
	}
	return least
}

// Duration reads a time with its unit, above 0, or one of the words, which it
// returns as -1, -2, ….
func (r *Reader) Duration(v Value, words ...string) (time.Duration, bool) {
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
	r.Fail(v, "want a time above 0 with its unit, such as 500ms, 5s, 1m30s%s", or)
	return 0, false
}

// Cut truncates a word of the file for an error.
func Cut(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}
