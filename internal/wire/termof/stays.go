package termof

import (
	"reflect"
	"strings"
)

// Stays reports whether a field of a struct is never sent, in any encoding: it is tagged `etf:"-"` or `msgpack:"-"`. Either
// tag applies to all encodings, because a password that is excluded from one must not be in others.
func Stays(f reflect.StructField) bool {
	name, _, _ := strings.Cut(f.Tag.Get("msgpack"), ",")
	return name == "-" || f.Tag.Get("etf") == "-"
}
