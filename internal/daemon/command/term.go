package command

import (
	"errors"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/actornode/actornode/wire"
)

// parseTerm parses a term of the command line. Its error marks the position of the fault.
func parseTerm(text string) (any, error) {
	t, err := wire.Parse(text)
	if err == nil {
		return t, nil
	}
	var at *wire.SyntaxError
	if !errors.As(err, &at) {
		return nil, fail(exitUsage, err, "")
	}
	lines := strings.Split(text, "\n")
	line := lines[min(at.Line, len(lines))-1]
	before := []rune(line)[:at.Column-1]
	where := strings.Repeat(" ", lipgloss.Width(string(before)))
	msg := at.Msg
	if len(lines) > 1 {
		_, msg, _ = strings.Cut(at.Error(), ": ")
	}
	return nil, fail(exitUsage, nil, "not a term in Erlang's syntax: %s\n  %s\n  %s^", msg, line, where)
}

// parseArgument parses a term, or a PID as printed by ps, which is not a term in Erlang's syntax; at is the default node of
// a PID.
func parseArgument(text string, at wire.Atom) (any, error) {
	full := text
	if !strings.Contains(text, ":") {
		full = string(at) + ":" + text
	}
	var pid wire.PID
	if strings.Contains(full, "@") && pid.UnmarshalText([]byte(full)) == nil {
		return pid, nil
	}
	return parseTerm(text)
}

// parseArguments parses several.
func parseArguments(texts []string, at wire.Atom) ([]any, error) {
	all := make([]any, len(texts))
	for i, text := range texts {
		t, err := parseArgument(text, at)
		if err != nil {
			return nil, err
		}
		all[i] = t
	}
	return all, nil
}

// parseAtom parses a name: an atom in Erlang's syntax, or, to avoid quotes in a shell, the text of a quoted atom without
// its quotes.
func parseAtom(text string) (wire.Atom, error) {
	if t, err := wire.Parse(text); err == nil {
		if a, ok := t.(wire.Atom); ok {
			return a, nil
		}
	}
	if text == "" || strings.ContainsAny(text, " \t\n'\"\\{}[]()<>#|,;") {
		return "", fail(exitUsage, nil, "%q is not a name: want an atom, in single quotes where Erlang needs them", text)
	}
	return wire.Atom(text), nil
}
