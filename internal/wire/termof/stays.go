package termof

import (
	"reflect"
	"strings"
)

// Stays reports whether a field of a struct stays on its node, whichever way its values go: it is tagged `etf:"-"`, or
// `msgpack:"-"`. Either counts for all encodings: a password that is marked for one of them is meant for all.
func Stays(f reflect.StructField) bool {
	name, _, _ := strings.Cut(f.Tag.Get("msgpack"), ",")
	return name == "-" || f.Tag.Get("etf") == "-"
}
