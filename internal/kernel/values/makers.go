package values

import (
	"reflect"

	"github.com/actornode/actornode/internal/wire/pack"
)

// Makers are what is derived from types, by the types and by their names. The zero value is empty.
type Makers[M any] struct {
	byType pack.Map[reflect.Type, M]
	byName pack.Map[string, M]
}

// MadeOf is the maker of a type.
type MadeOf[M any] struct {
	Type  reflect.Type
	Name  string
	Maker M
}

// Add adds makers. Of several for the same type, or name, the first counts.
func (m *Makers[M]) Add(all ...MadeOf[M]) {
	for _, one := range all {
		m.byType.Add(one.Type, one.Maker)
		m.byName.Add(one.Name, one.Maker)
	}
}

// Of returns the maker of a type, and false if there is none.
func (m *Makers[M]) Of(typ reflect.Type) (maker M, ok bool) { return m.byType.Get(typ) }

// Named returns the maker of the type with a name, and false if there is none.
func (m *Makers[M]) Named(name string) (maker M, ok bool) { return m.byName.Get(name) }
