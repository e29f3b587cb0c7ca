package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/actornode/actornode/internal/strict"
	"github.com/actornode/actornode/internal/treefields"
	"github.com/actornode/actornode/supervisor/tree"
)

// Checker is what a section may be: Check says what is wrong with its values together.
type Checker interface{ Check() error }

// sections makes the fields of the program's own sections: structs that pointers in Source.Sections lead to.
func (l *loader) sections(r *strict.Reader) (fields []strict.Field) {
	for _, name := range slices.Sorted(maps.Keys(l.s.Sections)) {
		to := reflect.ValueOf(l.s.Sections[name]).Elem()
		fields = append(fields, strict.Field{Name: name, Read: func(v strict.Value) {
			if !strict.IsNull(v) {
				readStruct(r, v, to)
			}
			l.places[name] = fmt.Sprintf("%s:%d:%d: %s", l.s.File, v.Line, v.Column, v.Path)
		}})
	}
	return fields
}

// checkSections lets each section say what is wrong with it, be it in the file or not.
func (l *loader) checkSections() {
	for _, name := range slices.Sorted(maps.Keys(l.s.Sections)) {
		c, ok := l.s.Sections[name].(Checker)
		if !ok {
			continue
		}
		if err := c.Check(); err != nil {
			l.fail("%s: %w", cmp.Or(l.places[name], name), err)
		}
	}
}

// CheckSections says what is wrong with the sections of a program themselves: their names, and the types of
// their fields.
func CheckSections(sections map[string]any) error {
	var errs []error
	taken := make(map[string]bool)
	for _, s := range Default().Settings() {
		first, _, _ := strings.Cut(s.Key, ".")
		taken[first] = true
	}
	for _, x := range treefields.Of(new(tree.File), tree.Known{}, nil) {
		taken[x.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		t := reflect.TypeOf(sections[name])
		switch {
		case name == "" || strings.ContainsAny(name, ". :"):
			errs = append(errs, fmt.Errorf("section %q: want a name without dots, colons and spaces", name))
		case taken[name]:
			errs = append(errs, fmt.Errorf("section %q: the daemon has settings of that name", name))
		case t == nil || t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct || reflect.ValueOf(sections[name]).IsNil():
			errs = append(errs, fmt.Errorf("section %q: want a pointer to a struct, not %v", name, t))
		default:
			if err := readable(t.Elem(), name, nil); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// readable says which field of a section has a type that no text is read into.
func readable(t reflect.Type, path string, within []reflect.Type) error {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return nil
	case slices.Contains(within, t):
		return fmt.Errorf("section %s: type %v contains itself", path, t)
	}
	within = append(within, t)
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return nil
	case reflect.Slice:
		return readable(t.Elem(), path+"[]", within)
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return readable(t.Elem(), path+"{}", within)
		}
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() {
				if err := readable(f.Type, path+"."+fieldName(f), within); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return fmt.Errorf("section %s: a setting cannot be of type %v; allowed: string, bool, numbers, time.Duration, structs, slices, "+
		"and maps by string", path, t)
}

// fieldName is what the file calls a field: its tag yaml, else its name in small letters.
func fieldName(f reflect.StructField) string {
	tag, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return cmp.Or(tag, strings.ToLower(f.Name))
}

// readStruct reads an object into a struct. A field that is missing there keeps its value.
func readStruct(r *strict.Reader, v strict.Value, to reflect.Value) {
	var fields []strict.Field
	t := to.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		_, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		fields = append(fields, strict.Field{Name: fieldName(f), Required: options == "required",
			Read: func(v strict.Value) { readInto(r, v, to.Field(i)) }})
	}
	r.Object(v, fields...)
}

// readInto reads one value of a type that is readable.
func readInto(r *strict.Reader, v strict.Value, to reflect.Value) {
	if to.Type() == reflect.TypeFor[time.Duration]() {
		if d, ok := r.Duration(v); ok {
			to.SetInt(int64(d))
		}
		return
	}
	switch to.Kind() {
	case reflect.String:
		if s, ok := r.Text(v, "a text"); ok {
			to.SetString(s)
		}
	case reflect.Bool:
		to.SetBool(r.Flag(v))
	case reflect.Float32, reflect.Float64:
		var x float64
		if err := v.Decode(&x); err != nil {
			r.Fail(v, "want a number")
			return
		}
		to.SetFloat(x)
	case reflect.Slice:
		all := reflect.MakeSlice(to.Type(), 0, 0)
		r.List(v, func(_ int, v strict.Value) {
			x := reflect.New(to.Type().Elem()).Elem()
			readInto(r, v, x)
			all = reflect.Append(all, x)
		})
		to.Set(all)
	case reflect.Map:
		all := reflect.MakeMap(to.Type())
		r.Map(v, func(key string, v strict.Value) {
			x := reflect.New(to.Type().Elem()).Elem()
			readInto(r, v, x)
			all.SetMapIndex(reflect.ValueOf(key).Convert(to.Type().Key()), x)
		})
		to.Set(all)
	case reflect.Struct:
		readStruct(r, v, to)
	default:
		x := reflect.New(to.Type())
		if err := v.Decode(x.Interface()); err != nil || strict.IsNull(v) {
			least, most := bounds(to.Type())
			r.Fail(v, "want a whole number from %s to %s", least, most)
			return
		}
		to.Set(x.Elem())
	}
}

// bounds are the least and the greatest number of an integer type.
func bounds(t reflect.Type) (least, most string) {
	bits := t.Bits()
	if k := t.Kind(); k >= reflect.Uint && k <= reflect.Uint64 {
		return "0", fmt.Sprint(^uint64(0) >> (64 - bits))
	}
	return fmt.Sprint(int64(-1) << (bits - 1)), fmt.Sprint(int64(^uint64(0) >> (65 - bits)))
}
