package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"unicode/utf8"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/printable"
	"github.com/actornode/actornode/wire"
)

const jsonHelp = `
With --json the output is one JSON value, or one per line for a command that keeps
printing. A term appears twice: exactly, in Erlang's syntax, and as JSON. In JSON numbers
are numbers, true and false are booleans, other atoms and UTF-8 binaries are strings,
lists and tuples are arrays, maps are objects whose keys are strings, PIDs are strings as
this program reads them, and everything else is a string in Erlang's syntax. Durations
are in nanoseconds.`

// jsonTerm converts a term to types that encoding/json supports.
func jsonTerm(t any) any {
	switch v := t.(type) {
	case wire.Atom:
		switch v {
		case "true", "false":
			return v == "true"
		}
		return string(v)
	case int, *big.Int:
		return v
	case float64:
		return json.RawMessage(wire.Format(v)) // keeps 1.0 a float
	case []byte:
		if utf8.Valid(v) {
			return string(v)
		}
	case wire.PID:
		text, _ := v.MarshalText()
		return string(text)
	case wire.Tuple:
		return jsonTerms(v)
	case wire.List:
		return jsonTerms(v)
	case wire.Map:
		return jsonMap(v)
	case nil:
		return []any{}
	}
	return wire.Format(t)
}

func jsonTerms(terms []any) []any {
	all := make([]any, len(terms))
	for i, t := range terms {
		all[i] = jsonTerm(t)
	}
	return all
}

// jsonMap makes every key a string. If two keys would be the same, one is in Erlang's syntax.
func jsonMap(m wire.Map) map[string]any {
	out := make(map[string]any, m.Len())
	for key, value := range m.All() {
		name, ok := jsonTerm(key).(string)
		if _, taken := out[name]; !ok || taken {
			name = wire.Format(key)
		}
		out[name] = jsonTerm(value)
	}
	return out
}

// termJSON is a term in JSON output.
type termJSON struct {
	Term string `json:"term"` // in Erlang's syntax
	JSON any    `json:"json"`
}

func bothOf(t any) termJSON { return termJSON{wire.Format(t), jsonTerm(t)} }

// escaped is a value whose texts are escaped for HTML, whatever the encoder's setting.
type escaped struct{ v any }

// MarshalJSON is part of json.Marshaler.
func (e escaped) MarshalJSON() ([]byte, error) { return json.Marshal(e.v) }

// viewOf replaces the terms in v by text in Erlang's syntax, if v is of a type of package admin that has terms.
func viewOf(v any) any {
	switch v := v.(type) {
	case admin.Detail:
		return escaped{struct {
			admin.Detail
			Messages []string `json:"messages"`
			Ancestry []string `json:"ancestry"`
		}{v, texts(v.Messages), texts(v.Ancestry)}}
	case admin.Event:
		return escaped{struct {
			admin.Event
			Message string `json:"message"`
		}{v, wire.Format(v.Message)}}
	case admin.Letter:
		return escaped{struct {
			admin.Letter
			Message string `json:"message"`
		}{v, wire.Format(v.Message)}}
	}
	return v
}

func texts(terms []any) []string {
	l := make([]string, len(terms))
	for i, t := range terms {
		l[i] = wire.Format(t)
	}
	return l
}

// writeJSON prints v on one line.
func (s *session) writeJSON(v any) error {
	return encodeJSON(s.env, viewOf(v))
}

// encodeJSON prints v on one line, without control characters.
func encodeJSON(env environment, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := env.stdout.Write(printable.Escape(nil, b.Bytes()))
	return err
}

// say prints v for programs, or text and a newline for people.
func (s *session) say(v any, format string, args ...any) error {
	if s.json {
		return s.writeJSON(v)
	}
	_, err := fmt.Fprintf(s.env.stdout, format+"\n", args...)
	return err
}
