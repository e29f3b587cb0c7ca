package tree

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/actornode/actornode/internal/strict"
	"github.com/actornode/actornode/wire"
)

const tags = "a value without a tag, or with !atom, !charlist, !term, !tuple, !!str or !!binary"

// term reads a value as a term, according to the table in doc.go.
func (r *reader) term(v at) (any, bool) {
	switch v.Kind {
	case yaml.ScalarNode:
		return r.scalar(v)
	case yaml.SequenceNode:
		return r.sequence(v)
	case yaml.MappingNode:
		if v.ShortTag() == "!!map" {
			return r.mapping(v)
		}
	}
	return nil, r.unknownTag(v)
}

func (r *reader) unknownTag(v at) bool {
	r.Fail(v, "unknown tag %s here; want %s", strict.Cut(v.ShortTag()), tags)
	return false
}

func (r *reader) scalar(v at) (any, bool) {
	switch v.ShortTag() {
	case "!!str", "!!timestamp":
		return []byte(v.Value), true
	case "!!null":
		return wire.AtomUndefined, true
	case "!!bool":
		return wire.Atom(strings.ToLower(v.Value)), true
	case "!!int":
		if n, ok := parseInteger(v.Value); ok {
			return n, true
		}
		r.Fail(v, "want an integer of at most %d digits", maxDigits)
	case "!!float":
		if n, ok := parseInteger(v.Value); ok { // an integer that is too long for the YAML library
			return n, true
		}
		if f, err := strconv.ParseFloat(v.Value, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return f, true
		}
		r.Fail(v, "want a finite number: Erlang has no NaN and no infinities")
	case "!!binary":
		b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(v.Value), ""))
		if err == nil {
			return b, true
		}
		r.Fail(v, "want base64 after !!binary: %v", err)
	case "!atom":
		return r.atomText(v)
	case "!charlist":
		return wire.Charlist(v.Value).List(), true
	case "!term":
		t, err := wire.Parse(v.Value)
		if err == nil {
			return t, true
		}
		r.Fail(v, "want a term in Erlang syntax after !term: %v", err)
	default:
		return nil, r.unknownTag(v)
	}
	return nil, false
}

// parseInteger reads the integers of YAML: 42, -1_000, 0x2a, 0o52, 052, 0b101010.
func parseInteger(text string) (any, bool) {
	if len(text) > maxDigits {
		return nil, false
	}
	n, ok := new(big.Int).SetString(strings.ReplaceAll(text, "_", ""), 0)
	if !ok {
		return nil, false
	}
	return wire.IntegerOf(n), true
}

func (r *reader) sequence(v at) (any, bool) {
	l, ok := make([]any, 0, len(v.Content)), true
	for i, n := range v.Content {
		w, inside := r.Enter(v, n, fmt.Sprintf("%s[%d]", v.Path, i))
		if !inside {
			return nil, false
		}
		t, good := r.term(w)
		l, ok = append(l, t), ok && good
	}
	switch v.ShortTag() {
	case "!!seq":
		return wire.List(l), ok
	case "!tuple":
		return wire.Tuple(l), ok
	}
	return nil, r.unknownTag(v)
}

func (r *reader) mapping(v at) (any, bool) {
	var m wire.Map
	ok := true
	for i := 0; i+1 < len(v.Content); i += 2 {
		k, inside1 := r.Enter(v, v.Content[i], v.Path+"{key}")
		w, inside2 := r.Enter(v, v.Content[i+1], strict.Join(v.Path, strict.Cut(v.Content[i].Value)))
		if !inside1 || !inside2 {
			return nil, false
		}
		if k.ShortTag() == "!!merge" {
			r.Fail(k, "merge keys are not supported: write the pairs out")
			ok = false
			continue
		}
		key, good1 := r.term(k)
		value, good2 := r.term(w)
		if !good1 || !good2 {
			ok = false
			continue
		}
		if _, twice := m.Get(key); twice {
			r.Fail(k, "the key %s is given twice", strict.Cut(wire.Format(key)))
			ok = false
		}
		m.Put(key, value)
	}
	return m, ok
}
