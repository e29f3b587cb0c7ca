package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/actornode/actornode/internal/strict"
	"github.com/actornode/actornode/node/isolation"
	"github.com/actornode/actornode/supervisor/tree"
)

// Checker is implemented by a section whose values must be checked together.
type Checker interface{ Check() error }

// found is a section of the program which the file has.
type found struct {
	where string
	wrong bool // a field of it is invalid
}

// sections returns the fields of the program's own sections: the structs that Source.Sections points to.
func (l *loader) sections(r *strict.Reader) (fields []strict.Field) {
	for _, name := range slices.Sorted(maps.Keys(l.s.Sections)) {
		to := reflect.ValueOf(l.s.Sections[name]).Elem()
		fields = append(fields, strict.Field{Name: name, Read: func(v strict.Value) {
			before := r.Failures()
			if !strict.IsNull(v) {
				readStruct(r, v, to)
			}
			l.found[name] = found{fmt.Sprintf("%s:%d:%d: %s", l.s.File, v.Line, v.Column, v.Path), r.Failures() > before}
		}})
	}
	return fields
}

// checkSections runs the Check of each section, whether the file has it or not, unless a field of it is wrong.
func (l *loader) checkSections() {
	for _, name := range slices.Sorted(maps.Keys(l.s.Sections)) {
		c, ok := l.s.Sections[name].(Checker)
		if !ok || l.found[name].wrong {
			continue
		}
		if err := c.Check(); err != nil {
			l.fail("%s: %w", cmp.Or(l.found[name].where, name), err)
		}
	}
}

// CheckSections checks the names of a program's sections and the types of their fields.
func CheckSections(sections map[string]any) error {
	var errs []error
	taken := make(map[string]bool)
	for _, s := range Default().Settings() {
		first, _, _ := strings.Cut(s.Key, ".")
		taken[first] = true
	}
	for _, x := range new(tree.File).Fields(nil, tree.Known{}) {
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
			} else if _, err := isolation.Copy(sections[name]); err != nil {
				errs = append(errs, fmt.Errorf("section %q: its defaults cannot be copied: %w", name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// readable returns an error for a field whose type cannot be read from text.
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
		taken := make(map[string]bool)
		for _, f := range settingsOf(t) {
			if taken[f.name] {
				return fmt.Errorf("section %s: two fields are called %s", path, f.name)
			}
			taken[f.name] = true
			if err := readable(t.Field(f.index).Type, path+"."+f.name, within); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("section %s: a setting cannot be of type %v; allowed: string, bool, numbers, time.Duration, structs, slices, "+
		"and maps by string", path, t)
}

// setting is a struct field that the file may have.
type setting struct {
	name     string // its yaml tag, or else its name in lower case
	index    int
	required bool
}

// settingsOf lists the struct fields that the file may have: exported ones without the tag "-".
func settingsOf(t reflect.Type) (all []setting) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if f.IsExported() && (tag != "-" || options != "") {
			all = append(all, setting{cmp.Or(tag, strings.ToLower(f.Name)), i, slices.Contains(strings.Split(options, ","), "required")})
		}
	}
	return all
}

// readStruct reads an object into a struct. A field that the object lacks keeps its value.
func readStruct(r *strict.Reader, v strict.Value, to reflect.Value) {
	var fields []strict.Field
	for _, f := range settingsOf(to.Type()) {
		fields = append(fields, strict.Field{Name: f.name, Required: f.required,
			Read: func(v strict.Value) { readInto(r, v, to.Field(f.index)) }})
	}
	r.Object(v, fields...)
}

// readInto reads one value of a type that readable accepts.
func readInto(r *strict.Reader, v strict.Value, to reflect.Value) {
	if to.Type() == reflect.TypeFor[time.Duration]() {
		if v.Kind == yaml.ScalarNode && v.Value == "0" {
			to.SetInt(0)
		} else if d, ok := r.Duration(v); ok {
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
		most := math.MaxFloat64
		if to.Kind() == reflect.Float32 {
			most = math.MaxFloat32
		}
		before := r.Failures()
		if x := r.Float(v, -most, most); r.Failures() == before {
			to.SetFloat(x)
		}
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

// bounds returns the least and the greatest number of an integer type.
func bounds(t reflect.Type) (least, most string) {
	bits := t.Bits()
	if k := t.Kind(); k >= reflect.Uint && k <= reflect.Uint64 {
		return "0", fmt.Sprint(^uint64(0) >> (64 - bits))
	}
	return fmt.Sprint(int64(-1) << (bits - 1)), fmt.Sprint(int64(^uint64(0) >> (65 - bits)))
}
