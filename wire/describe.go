package wire

import (
	"fmt"
	"log/slog"
	"reflect"
	"strconv"
)

// Describe returns a text of at most max bytes for a value that must not be inspected, such as an exit reason or the value
// of a panic. Longer text is truncated and ends with "…".
//
// A term is written as a [Formatter] with Max does, a text as it is, and a number as fmt does. A value that has one of
// the methods LogValue, Error, String and Format is what that returns. Of any other value the text is its type,
// with the length of a slice or an array. Describe reads nothing else of a Go value: it follows no pointer and reads no
// map, so other goroutines may write them meanwhile. A method that panics does no harm.
func Describe(v any, max int) string {
	switch t := v.(type) {
	case nil:
		return "<nil>"
	case Charlist:
		v = string(t)
	case []byte:
		return formatMax(v, max)
	}
	if s, ok := v.(string); ok {
		if len(s) > max {
			return cutText(s, max, sizeOf(s))
		}
		return s
	}
	if isTerm(v) {
		return formatMax(v, max)
	}
	text, ok := offered(v, max)
	if !ok {
		text = TypeAndSize(v)
	}
	if len(text) > max {
		return cutText(text, max, "")
	}
	return text
}

// describeForeign returns what [Format] writes for a Go value that is not a term, between #Go< and >.
func describeForeign(v any, max int) string {
	text, ok := offered(v, max)
	if !ok {
		return TypeAndSize(v)
	}
	if len(text) > max {
		text = cutText(text, max, "")
	}
	return fmt.Sprintf("%T %s", v, text)
}

// TypeAndSize returns the type of a value, with the length of a slice, an array or a text: "[]int of 3", "main.Name of 12
// bytes". It does not read the length of a map, which other goroutines may write.
func TypeAndSize(v any) string {
	t := reflect.TypeOf(v)
	if t == nil {
		return "<nil>"
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return t.String() + " of " + strconv.Itoa(reflect.ValueOf(v).Len())
	case reflect.String:
		return t.String() + " of " + strconv.Itoa(reflect.ValueOf(v).Len()) + " bytes"
	}
	return t.String()
}

// offered returns the text that a value offers, by a method, or as a number or a text. It returns false if there is none.
func offered(v any, max int) (text string, ok bool) {
	defer func() {
		if recover() != nil {
			text, ok = fmt.Sprintf("%T: panic", v), true
		}
	}()
	switch v := v.(type) {
	case slog.LogValuer:
		return logText(v.LogValue(), max), true
	case error:
		return v.Error(), true
	case fmt.Formatter:
		return fmt.Sprintf("%v", v), true
	case fmt.Stringer:
		return v.String(), true
	}
	switch k := reflect.ValueOf(v).Kind(); {
	case reflect.Bool <= k && k <= reflect.Complex128, k == reflect.String:
		return fmt.Sprint(v), true
	}
	return "", false
}

// LogText returns the text of a value's method LogValue, or false if it has none.
func LogText(v any, max int) (text string, ok bool) {
	l, ok := v.(slog.LogValuer)
	if !ok {
		return "", false
	}
	defer func() {
		if recover() != nil {
			text = fmt.Sprintf("%T: panic", v)
		}
	}()
	if text = logText(l.LogValue(), max); len(text) > max {
		text = cutText(text, max, "")
	}
	return text, true
}

func logText(v slog.Value, max int) string {
	switch v = v.Resolve(); v.Kind() {
	case slog.KindAny:
		return DescribeAll(v.Any(), max) // given to be shown
	case slog.KindGroup:
		text := "["
		for i, a := range v.Group() {
			if len(text) > max {
				break
			}
			if i > 0 {
				text += " "
			}
			text += a.Key + "=" + logText(a.Value, max-len(text))
		}
		return text + "]"
	}
	return v.String()
}
