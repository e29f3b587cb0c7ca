package wire

import (
	"fmt"
	"math/big"
	"reflect"
)

// DescribeAll returns what fmt.Sprintf("%+v", v) does, cut after max bytes with … behind. It is for a
// value that was given to be shown, since it reads all that v leads to; [Describe] is for one that was not.
// It takes memory and time for about max bytes, however large v is, if v and what is in it are terms, or
// values of which fmt prints the fields. The methods Error, String and Format of a value print all that
// they want to: only then is it cut. Of a value that is cut, what fmt prints in order of its keys comes in
// any order.
func DescribeAll(v any, max int) string {
	if c, ok := v.(Charlist); ok {
		v = string(c)
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
	m := &measure{left: max}
	if _, own := printer(v); own || m.fits(reflect.ValueOf(v), 0) {
		s := fmt.Sprintf("%+v", v)
		if len(s) > max {
			return cutText(s, max, "")
		}
		return s
	}
	c := &clipping{max: max}
	c.print(reflect.ValueOf(v), 0)
	return cutText(string(c.dst), max, "")
}

// isTerm reports whether v is a term that fmt prints like [Format], in any size.
func isTerm(v any) bool {
	switch v := v.(type) {
	case Tuple, List, ImproperList, Map, Bitstring:
		return true
	case *big.Int:
		return v != nil
	}
	return false
}

// printer returns v if it has a method that prints it.
func printer(v any) (any, bool) {
	switch v.(type) {
	case error, fmt.Stringer, fmt.Formatter:
		return v, true
	}
	return nil, false
}

// The costs of the parts of a value in a measure.
const (
	elementCost = 1
	printerCost = 16
)

// measure determines whether the text that fmt prints for a value fits into about left bytes. It examines no more than
// that.
type measure struct{ left int }

func (m *measure) fits(v reflect.Value, depth int) bool {
	if m.left -= elementCost; m.left < 0 {
		return false
	}
	if v.IsValid() && v.CanInterface() && depth > 0 {
		switch x := v.Interface(); {
		case isTerm(x):
			text, whole := Formatter{}.cutAfter(x, m.left)
			m.left -= len(text)
			return whole && m.left >= 0
		default:
			if _, own := printer(x); own {
				m.left -= printerCost
				return m.left >= 0
			}
		}
	}
	switch v.Kind() {
	case reflect.String:
		m.left -= v.Len()
		return m.left >= 0
	case reflect.Struct:
		for i := range v.NumField() {
			if !m.fits(v.Field(i), depth+1) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if !m.fits(v.Index(i), depth+1) {
				return false
			}
		}
	case reflect.Map:
		if v.Len() > m.left {
			return false
		}
		for it := v.MapRange(); it.Next(); {
			if !m.fits(it.Key(), depth+1) || !m.fits(it.Value(), depth+1) {
				return false
			}
		}
	case reflect.Interface:
		return m.fits(v.Elem(), depth+1)
	case reflect.Pointer:
		return depth > 0 || m.fits(v.Elem(), depth+1) // fmt follows the first only
	}
	return true
}

// clipping prints the beginning of a value that is too large for fmt.
type clipping struct {
	dst []byte
	max int
}

// print prints v as far as space is left. Each level of depth takes a byte, so that a value which contains itself ends,
// too.
func (c *clipping) print(v reflect.Value, depth int) {
	left := c.max - len(c.dst)
	if left < 0 {
		return
	}
	if v.IsValid() && v.CanInterface() && depth > 0 {
		c.value(v.Interface(), v, depth)
		return
	}
	c.parts(v, depth)
}

// value prints x, the value of v.
func (c *clipping) value(x any, v reflect.Value, depth int) {
	left := c.max - len(c.dst)
	if isTerm(x) {
		s, _ := Formatter{}.cutAfter(x, left)
		c.dst = append(c.dst, s...)
	} else if _, own := printer(x); own {
		s := fmt.Sprint(x)
		c.dst = append(c.dst, s[:min(len(s), left+1)]...)
	} else {
		c.parts(v, depth)
	}
}

// parts prints v like fmt prints a value without methods.
func (c *clipping) parts(v reflect.Value, depth int) {
	left := c.max - len(c.dst)
	switch v.Kind() {
	case reflect.Invalid:
		c.dst = append(c.dst, "<nil>"...)
	case reflect.String:
		s := v.String()
		c.dst = append(c.dst, s[:min(len(s), left+1)]...)
	case reflect.Struct:
		c.dst = append(c.dst, '{')
		for i := 0; i < v.NumField() && len(c.dst) <= c.max; i++ {
			c.space(i)
			c.dst = append(append(c.dst, v.Type().Field(i).Name...), ':')
			c.print(v.Field(i), depth+1)
		}
		c.dst = append(c.dst, '}')
	case reflect.Slice, reflect.Array:
		c.dst = append(c.dst, '[')
		for i := 0; i < v.Len() && len(c.dst) <= c.max; i++ {
			c.space(i)
			c.print(v.Index(i), depth+1)
		}
		c.dst = append(c.dst, ']')
	case reflect.Map:
		c.dst = append(c.dst, "map["...)
		it := v.MapRange()
		for i := 0; len(c.dst) <= c.max && it.Next(); i++ {
			c.space(i)
			c.print(it.Key(), depth+1)
			c.dst = append(c.dst, ':')
			c.print(it.Value(), depth+1)
		}
		c.dst = append(c.dst, ']')
	case reflect.Interface:
		c.print(v.Elem(), depth+1)
	case reflect.Pointer:
		if depth > 0 || v.IsNil() { // fmt follows the first only
			c.dst = fmt.Appendf(c.dst, "%#x", v.Pointer())
			return
		}
		c.dst = append(c.dst, '&')
		c.print(v.Elem(), depth+1)
	default:
		c.dst = fmt.Append(c.dst, v)
	}
}

func (c *clipping) space(i int) {
	if i > 0 {
		c.dst = append(c.dst, ' ')
	}
}
