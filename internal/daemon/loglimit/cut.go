package loglimit

import (
	"encoding"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/actornode/actornode/internal/printable"
	"github.com/actornode/actornode/wire"
)

// The maximum size of the parts of a line, in bytes, in either format.
const (
	lineCost   = 80 // {"time":"…","level":"ERROR+10","msg":""} and the line's end
	attrCost   = 8  // ,"":"" or the like
	groupCost  = 8
	numberCost = 40 // and everything else of fixed size
	markCost   = 40 // … (18446744073709551615 bytes left out)
	countCost  = 40 // not_logged=18446744073709551615
)

// cut shortens r to fit into a line. left is how many lines before it were left out.
func (h *Handler) cut(r slog.Record, left uint64) slog.Record {
	space := h.cfg.Bytes
	if r.Level >= slog.LevelError {
		space *= errorFactor
	}
	space -= lineCost + h.taken
	if left > 0 {
		space -= countCost + h.prefix
	}
	message := cutText(r.Message, h.cfg.Bytes/4)
	space -= textCost(message, h.cfg.Bytes)
	attrs := make([]slog.Attr, 0, r.NumAttrs()+1)
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, a)
		return true
	})
	attrs, _ = cutAttrs(attrs, max(0, space), h.prefix)
	if left > 0 {
		attrs = append(attrs, slog.Uint64("not_logged", left))
	}
	c := slog.NewRecord(r.Time, r.Level, message, r.PC)
	c.AddAttrs(attrs...)
	return c
}

// cutAttrs shortens attrs to at most space bytes, and returns their size. prefix is the number of bytes that enclosing
// groups add to each key. The long values are cut to the same length.
func cutAttrs(attrs []slog.Attr, space, prefix int) (kept []slog.Attr, size int) {
	kept = make([]slog.Attr, len(attrs))
	costs := make([]int, len(attrs)) // of values
	rest := space
	for i, a := range attrs {
		if rest <= 0 {
			return leaveOut(kept[:i], costs[:i], space, prefix, len(attrs)-i)
		}
		kept[i] = slog.Attr{Key: cutText(a.Key, maxKey), Value: plain(a.Value, space, prefix+len(a.Key))}
		costs[i] = valueCost(kept[i].Value, space, prefix+len(a.Key)+1)
		rest -= attrCost + prefix + textCost(kept[i].Key, maxKeyCost)
	}
	if rest < 0 || rest < markCost*len(attrs) && sum(costs) > rest {
		return leaveOut(kept, costs, space, prefix, 0)
	}
	most := share(costs, rest)
	size = space - rest
	for i := range kept {
		if costs[i] > most {
			kept[i].Value = cutValue(kept[i].Value, most, prefix+len(kept[i].Key)+1)
			costs[i] = min(most, valueCost(kept[i].Value, space, prefix+len(kept[i].Key)+1))
		}
		size += costs[i]
	}
	return kept, size
}

// leaveOut is cutAttrs for more attributes than fit: it keeps the first ones. more is how many follow attrs.
func leaveOut(attrs []slog.Attr, costs []int, space, prefix, more int) (kept []slog.Attr, size int) {
	size = countCost + prefix
	for i, a := range attrs {
		cost := attrCost + prefix + textCost(a.Key, maxKeyCost) + min(costs[i], 2*markCost)
		if size+cost > space {
			more += len(attrs) - i
			break
		}
		if costs[i] > 2*markCost {
			a.Value = cutValue(a.Value, 2*markCost, prefix+len(a.Key)+1)
		}
		kept = append(kept, a)
		size += cost
	}
	if more > 0 && size <= space {
		kept = append(kept, slog.Int("attrs_left_out", more))
	}
	return kept, size
}

// maxKey is the maximum size of a key.
const (
	maxKey     = 128
	maxKeyCost = 10 * maxKey
)

func sum(costs []int) (n int) {
	for _, c := range costs {
		n += c
	}
	return n
}

// share returns the cap for each of costs that keeps their sum within space.
func share(costs []int, space int) int {
	if sum(costs) <= space {
		return space
	}
	sorted := slices.Sorted(slices.Values(costs))
	for i, c := range sorted {
		most := space / (len(sorted) - i)
		if c > most {
			return most
		}
		space -= c
	}
	return space
}

// plain formats v as text, unless the formats of slog handle it and its cost is at most most.
func plain(v slog.Value, most, prefix int) slog.Value {
	v = v.Resolve()
	switch v.Kind() {
	case slog.KindGroup:
		kept, _ := cutAttrs(v.Group(), max(0, most-groupCost), prefix)
		return slog.GroupValue(kept...)
	case slog.KindAny:
		return plainAny(v, most)
	}
	return v
}

// plainAny formats v as text if package slog would print it field by field. Values that marshal themselves stay, and so do
// lists and maps of text or of values with a fixed size.
func plainAny(v slog.Value, most int) slog.Value {
	switch x := v.Any().(type) {
	case nil, *slog.Source:
		return v
	case error:
		return slog.StringValue(said(x, x.Error))
	case json.Marshaler, encoding.TextMarshaler:
		return v
	case fmt.Stringer:
		return slog.StringValue(said(x, x.String))
	}
	switch r := reflect.ValueOf(v.Any()); r.Kind() {
	case reflect.String:
		return slog.StringValue(r.String())
	case reflect.Slice, reflect.Array, reflect.Map:
		if isScalar(r.Type().Elem().Kind()) && r.Len() <= most {
			return v
		}
	default:
		if isScalar(r.Kind()) {
			return v
		}
	}
	return slog.StringValue(wire.DescribeAll(v.Any(), most))
}

func isScalar(k reflect.Kind) bool {
	return reflect.Bool <= k && k <= reflect.Float64 || k == reflect.String
}

// said returns the result of f. A panic in f must not end the program that logs.
func said(v any, f func() string) (s string) {
	defer func() {
		if cause := recover(); cause != nil {
			s = fmt.Sprintf("%T: panic", v)
		}
	}()
	return f()
}

// valueCost returns the maximum size of v, or any number above most if it exceeds most. prefix is the number of bytes
// before the keys of a group.
func valueCost(v slog.Value, most, prefix int) int {
	switch v.Kind() {
	case slog.KindString:
		return textCost(v.String(), most)
	case slog.KindGroup:
		n := groupCost
		for _, a := range v.Group() {
			n += attrCost + prefix + textCost(a.Key, maxKeyCost) + valueCost(a.Value, most, prefix+len(a.Key)+1)
		}
		return n
	case slog.KindAny:
		return anyCost(v.Any(), most)
	case slog.KindTime:
		return max(numberCost, len(v.Time().Format(time.RFC3339Nano)))
	}
	return numberCost
}

// anyCost is valueCost for a value that plainAny has left unchanged.
func anyCost(v any, most int) int {
	defer func() { recover() }() // slog recovers from it as well, and the line stays short
	b, err := json.Marshal(v)
	if err != nil {
		b = []byte(err.Error())
	}
	text := fmt.Sprintf("%+v", v)
	if m, ok := v.(encoding.TextMarshaler); ok {
		if b, err := m.MarshalText(); err == nil {
			text = string(b)
		}
	}
	return max(len(b), textCost(text, most)) + numberCost
}

// cutValue shortens v to at most most bytes.
func cutValue(v slog.Value, most, prefix int) slog.Value {
	switch v.Kind() {
	case slog.KindString:
		return slog.StringValue(cutText(v.String(), most))
	case slog.KindGroup:
		kept, _ := cutAttrs(v.Group(), max(0, most-groupCost), prefix)
		return slog.GroupValue(kept...)
	case slog.KindAny:
		return slog.StringValue(cutText(wire.DescribeAll(v.Any(), most), most))
	}
	return v
}

// cutText shortens s to at most most bytes in a line, and appends how many bytes were left out, if any.
func cutText(s string, most int) string {
	if textCost(s, most) <= most {
		return s
	}
	keep, cost := 0, markCost
	for keep < len(s) {
		r, n := utf8.DecodeRuneInString(s[keep:])
		if cost += runeCost(r, n); cost > most {
			break
		}
		keep += n
	}
	return s[:keep] + "… (" + strconv.Itoa(len(s)-keep) + " bytes left out)"
}

// textCost returns the maximum size of s as JSON or as a quoted Go string, or any number above most if it exceeds most.
func textCost(s string, most int) (n int) {
	for i := 0; i < len(s) && n <= most; {
		if c := s[i]; ' ' <= c && c <= '~' && c != '"' && c != '\\' {
			n, i = n+1, i+1
			continue
		}
		r, k := utf8.DecodeRuneInString(s[i:])
		n += runeCost(r, k)
		i += k
	}
	return n
}

// runeCost is the maximum size of a rune of n bytes.
func runeCost(r rune, n int) int {
	const escaped, long = 6, 12 // \u0000, \ud800\udc00
	switch {
	case r == utf8.RuneError && n == 1:
		return escaped
	case r == '"', r == '\\', r == '\n', r == '\r', r == '\t':
		return 2
	case r < utf8.RuneSelf:
		if unicode.IsPrint(r) {
			return n
		}
		return escaped
	case printable.Shows(r) && unicode.IsPrint(r):
		return n
	}
	return long
}
