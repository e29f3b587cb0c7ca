package contract

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ErrUsage is wrapped by every error about a command line.
var ErrUsage = errors.New("usage")

// The styles of an actor, see [Style].
const (
	Actor   = "actor"   // event-driven: a value whose Receive handles one message at a time
	Process = "process" // blocking: a function with its own goroutine

	Coroutine = "coroutine" // blocking: a function resumed like an event-driven actor

	Active = "active" // an active object: a value whose methods can be suspended
)

// Param declares a key=value argument of a command line. It is made by [Int], [Word], [Style] or [Text].
type Param struct {
	Key string

	kind     kind
	number   int
	min, max int
	words    []string // of a word: the allowed ones
	text     string   // of a word or a text: the default
}

type kind int

const (
	number kind = iota
	word
	text
)

// Int declares a whole number of at least 1; see [Param.Range] for other
// bounds.
func Int(key string, value int) Param {
	return Param{Key: key, kind: number, number: value, min: 1, max: math.MaxInt}
}

// Range returns p, a number, with other bounds, both included.
func (p Param) Range(least, most int) Param {
	p.min, p.max = least, most
	return p
}

// Word declares one of several words, the first of which is the default.
func Word(key string, words ...string) Param {
	return Param{Key: key, kind: word, words: words, text: words[0]}
}

// Style declares the common parameter style, for a bench that supports event-driven and blocking actors. A bench with only
// one style declares Word("style", Process), or no style, which means [Actor].
func Style() Param { return Word("style", Actor, Process, Coroutine) }

// Text declares any text.
func Text(key, value string) Param { return Param{Key: key, kind: text, text: value} }

// String formats the parameter with its default, or with all allowed words: "n=503", "style=actor|process|coroutine".
func (p Param) String() string {
	if p.kind == word {
		return p.Key + "=" + strings.Join(p.words, "|")
	}
	return p.Key + "=" + fmt.Sprint(p.standard())
}

// Describe returns params on one line.
func Describe(params []Param) string {
	if len(params) == 0 {
		return "no parameters"
	}
	texts := make([]string, len(params))
	for i, p := range params {
		texts[i] = p.String()
	}
	return strings.Join(texts, " ")
}

func (p Param) standard() any {
	if p.kind == number {
		return p.number
	}
	return p.text
}

// parse parses a value of a command line.
func (p Param) parse(value string) (any, error) {
	switch p.kind {
	case number:
		n, err := strconv.Atoi(value)
		if err != nil || n < p.min || n > p.max {
			return nil, fmt.Errorf("%s wants %s, not %q", p.Key, p.bounds(), value)
		}
		return n, nil
	case word:
		if !slices.Contains(p.words, value) {
			return nil, fmt.Errorf("%s wants %s, not %q", p.Key, strings.Join(p.words, " or "), value)
		}
	}
	return value, nil
}

func (p Param) bounds() string {
	if p.max == math.MaxInt {
		return fmt.Sprintf("a whole number of at least %d", p.min)
	}
	return fmt.Sprintf("a whole number from %d to %d", p.min, p.max)
}

// Params holds the values of one run, in the order of their declaration.
type Params struct{ fields Fields }

// Parse applies args, each key=value, to the defaults of params; the last value of a repeated key wins. The error wraps
// [ErrUsage] and says what is allowed.
func Parse(params []Param, args []string) (Params, error) {
	fields := make(Fields, len(params))
	for i, p := range params {
		fields[i] = Field{p.Key, p.standard()}
	}
	for _, arg := range args {
		if err := set(fields, params, arg); err != nil {
			return Params{}, fmt.Errorf("%w: %w (allowed: %s)", ErrUsage, err, Describe(params))
		}
	}
	return Params{fields}, nil
}

func set(fields Fields, params []Param, arg string) error {
	key, value, ok := strings.Cut(arg, "=")
	if !ok {
		return fmt.Errorf("%q is not key=value", arg)
	}
	i := slices.IndexFunc(params, func(p Param) bool { return p.Key == key })
	if i < 0 {
		return fmt.Errorf("unknown parameter %q", key)
	}
	v, err := params[i].parse(value)
	fields[i].Value = v
	return err
}

// Args returns the command line that [Parse] parses as p.
func (p Params) Args() []string {
	args := make([]string, len(p.fields))
	for i, field := range p.fields {
		args[i] = fmt.Sprintf("%s=%v", field.Key, field.Value)
	}
	return args
}

// Int returns the number key. It panics if no such number was declared.
func (p Params) Int(key string) int { return value[int](p, key) }

// Word returns the word or text key. It panics if none was declared.
func (p Params) Word(key string) string { return value[string](p, key) }

// Style returns the requested style, or [Actor] if the bench declares none.
func (p Params) Style() string {
	style, _ := p.fields.get("style").(string)
	return cmp.Or(style, Actor)
}

// Blocking reports whether the requested style is a blocking one.
func (p Params) Blocking() bool { return p.Style() != Actor }

func value[T any](p Params, key string) T {
	v, ok := p.fields.get(key).(T)
	if !ok {
		panic(fmt.Sprintf("contract: no parameter %q of type %T is declared", key, v))
	}
	return v
}
