package config

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// differ gives all fields in v other values.
func differ(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(v.Uint() + 1)
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Slice:
		e := reflect.New(v.Type().Elem()).Elem()
		differ(e)
		v.Set(reflect.Append(v, e))
	case reflect.Map:
		k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		differ(k)
		differ(e)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(k, e)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				differ(v.Field(i))
			}
		}
	}
}

// A running daemon takes over the settings that it reports, and no others.
func TestWith(t *testing.T) {
	was, now := Default(), Default()
	differ(reflect.ValueOf(now).Elem())
	changed := was.Differences(now)
	for _, s := range was.Settings() {
		require.Contains(t, changed, s.Key)
	}
	left := was.With(now).Differences(now)
	for _, key := range changed {
		assert.Equal(t, !IsChangeable(key), slices.Contains(left, key), key)
	}
}
