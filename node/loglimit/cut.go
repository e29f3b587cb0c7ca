package loglimit

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/actornode/actornode/wire"
)

// What parts of a line take at most, in bytes, in either format.
const (
	lineCost   = 80 // {"time":"…","level":"ERROR+10","msg":""} and the line's end
	attrCost   = 8  // ,"":"" or the like
	groupCost  = 8
	numberCost = 40 // and all else of a fixed size
	markCost   = 40 // … (18446744073709551615 bytes left out)
	countCost  = 40 // not_logged=18446744073709551615
)

// cut returns r with what fits into a line. left is how many lines before it were left
// out.
func (h *Handler) cut(r slog.Record, left uint64) slog.Record {
	room := h.cfg.Bytes
	if r.Level >= slog.LevelError {
		room *= errorFactor
	}
	room -= lineCost + h.taken
	if left > 0 {
		room -= countCost + h.prefix
	}
	message := cutText(r.Message, h.cfg.Bytes/4)
	room -= textCost(message)
	attrs := make([]slog.Attr, 0, r.NumAttrs()+1)
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, a)
		return true
	})
	attrs, _ = cutAttrs(attrs, max(0, room), h.prefix)
	if left > 0 {
		attrs = append(attrs, slog.Uint64("not_logged", left))
	}
	c := slog.NewRecord(r.Time, r.Level, message, r.PC)
	c.AddAttrs(attrs...)
	return c
}

// cutAttrs returns what of the attributes takes at most room bytes, and how many it
// takes. prefix is what the groups that they are in add to each key. The long values
// are cut to the same length.
func cutAttrs(attrs []slog.Attr, room, prefix int) (kept []slog.Attr, size int) {
	kept = make([]slog.Attr, len(attrs))
	costs := make([]int, len(attrs)) // of values
	rest := room
	for i, a := range attrs {
		if rest <= 0 {
			return leaveOut(kept[:i], costs[:i], room, prefix, len(attrs)-i)
		}
		kept[i] = slog.Attr{Key: cutText(a.Key, maxKey), Value: plain(a.Value, room, prefix+len(a.Key))}
		costs[i] = valueCost(kept[i].Value, prefix+len(a.Key)+1)
		rest -= attrCost + prefix + textCost(kept[i].Key)
	}
	if rest < 0 || rest < markCost*len(attrs) && sum(costs) > rest {
		return leaveOut(kept, costs, room, prefix, 0)
	}
	most := share(costs, rest)
	size = room - rest
	for i := range kept {
		if costs[i] > most {
			kept[i].Value = cutValue(kept[i].Value, most, prefix+len(kept[i].Key)+1)
			costs[i] = min(most, valueCost(kept[i].Value, prefix+len(kept[i].Key)+1))
		}
		size += costs[i]
	}
	return kept, size
}

// leaveOut is cutAttrs for more attributes than there is room for: the first stay.
// more is how many there are behind them.
func leaveOut(attrs []slog.Attr, costs []int, room, prefix, more int) (kept []slog.Attr, size int) {
	size = countCost + prefix
	for i, a := range attrs {
		cost := attrCost + prefix + textCost(a.Key) + min(costs[i], 2*markCost)
		if size+cost > room {
			more += len(attrs) - i
			break
		}
		if costs[i] > 2*markCost {
			a.Value = cutValue(a.Value, 2*markCost, prefix+len(a.Key)+1)
		}
		kept = append(kept, a)
		size += cost
	}
	if more > 0 && size <= room {
		kept = append(kept, slog.Int("attrs_left_out", more))
	}
	return kept, size
}

// maxKey is how long a key may be, in bytes.
const maxKey = 128

func sum(costs []int) (n int) {
	for _, c := range costs {
		n += c
	}
	return n
}

// share is what each of the costs may be at most, so that all together are no more
// than room.
func share(costs []int, room int) int {
	if sum(costs) <= room {
		return room
	}
	sorted := slices.Sorted(slices.Values(costs))
	for i, c := range sorted {
		most := room / (len(sorted) - i)
		if c > most {
			return most
		}
		room -= c
	}
	return room
}

// plain is v as text, unless the formats of slog take it as it is and it is no longer
// than most.
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

func plainAny(v slog.Value, most int) slog.Value {
	switch x := v.Any().(type) {
	case nil:
		return v
	case error:
		return slog.StringValue(message(x, x.Error))
	case *slog.Source:
		return v
	case fmt.Stringer:
		if _, own := x.(json.Marshaler); !own {
			return slog.StringValue(message(x, x.String))
		}
	}
	text := wire.FormatGo("%+v", v.Any(), most)
	if len(text) <= most && valueCost(v, 0) <= most {
		return v
	}
	return slog.StringValue(text)
}

// message is what f returns; a panic of it must not end the program that logs.
func message(v any, f func() string) (s string) {
	defer func() {
		if cause := recover(); cause != nil {
			s = fmt.Sprintf("%T: panic", v)
		}
	}()
	return f()
}

// valueCost is what v takes at most. prefix is what is before the keys of a group.
func valueCost(v slog.Value, prefix int) int {
	switch v.Kind() {
	case slog.KindString:
		return textCost(v.String())
	case slog.KindGroup:
		n := groupCost
		for _, a := range v.Group() {
			n += attrCost + prefix + textCost(a.Key) + valueCost(a.Value, prefix+len(a.Key)+1)
		}
		return n
	case slog.KindAny:
		b, err := json.Marshal(v.Any())
		if err != nil {
			b = []byte(err.Error())
		}
		return max(textCost(string(b)), textCost(fmt.Sprintf("%+v", v.Any()))) + numberCost
	case slog.KindTime:
		return max(numberCost, len(v.Time().Format(time.RFC3339Nano)))
	}
	return numberCost
}

// cutValue is v as far as it takes no more than most bytes.
func cutValue(v slog.Value, most, prefix int) slog.Value {
	switch v.Kind() {
	case slog.KindString:
		return slog.StringValue(cutText(v.String(), most))
	case slog.KindGroup:
		kept, _ := cutAttrs(v.Group(), max(0, most-groupCost), prefix)
		return slog.GroupValue(kept...)
	case slog.KindAny:
		return slog.StringValue(cutText(wire.FormatGo("%+v", v.Any(), most), most))
	}
	return v
}

// cutText is the beginning of s that takes at most most bytes in a line, with how many
// bytes were left out, if any.
func cutText(s string, most int) string {
	if textCost(s) <= most {
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

// textCost is what s takes at most: as JSON, or quoted as Go does it.
func textCost(s string) (n int) {
	for i := 0; i < len(s); {
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

// runeCost is what a rune of n bytes takes at most.
func runeCost(r rune, n int) int {
	const escaped, long = 6, 10 // \u0000, \U00000000
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
	case unicode.IsPrint(r):
		return n
	}
	return long
}
