package etf

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
)

type (
	checkBase  struct{ ID int }
	checkOther struct {
		ID int `etf:"id"`
	}
	collides struct{ UserID, UserId int }
	tagTwice struct {
		A int
		B int `etf:"a"`
	}
	hides struct {
		checkBase
		ID string
	}
	embedsTwo struct {
		checkBase
		checkOther
	}
	isMarked struct {
		T string `etf:"$type"`
	}
	badOption struct {
		A int `etf:",large"`
	}
	badShape struct {
		_ struct{} `etf:"x,table"`
	}
	namedMap struct {
		_ struct{} `etf:"x"`
	}
	inTuple struct {
		_ struct{} `etf:"x,tuple"`
		A int      `etf:",omitzero"`
	}
	within struct {
		Loop *within
		In   map[string][]*collides
	}
	inKey   struct{ In map[collides]int }
	ownTerm struct{ UserID, UserId int }
	tuples  struct {
		_              struct{} `etf:"user,tuple"`
		UserID, UserId int
	}
	apart struct {
		checkBase
		checkOther `etf:"other"`
		UserID     int
		UserId     int `etf:"-"`
	}
	noTerm struct{ C chan int }
)

func (ownTerm) Term() any { return wire.AtomOK }

// Check refuses exactly the values that ToTerm and FromTerm refuse.
func TestCheck(t *testing.T) {
	long := reflect.StructOf([]reflect.StructField{{Name: "A", Type: reflect.TypeFor[int](),
		Tag: reflect.StructTag(`etf:"` + strings.Repeat("x", 256) + `"`)}})
	for typ, want := range map[reflect.Type]string{
		reflect.TypeFor[collides]():  "struct etf.collides has two fields of the name user_id: UserID and UserId",
		reflect.TypeFor[tagTwice]():  "struct etf.tagTwice has two fields of the name a: A and B",
		reflect.TypeFor[hides]():     "struct etf.hides has two fields of the name id: checkBase.ID and ID",
		reflect.TypeFor[embedsTwo](): "struct etf.embedsTwo has two fields of the name id: checkBase.ID and checkOther.ID",
		reflect.TypeFor[isMarked]():  "field etf.isMarked.T: the name $type is that of the type's own name",
		reflect.TypeFor[badOption](): `field etf.badOption.A: etf tag ",large": no option "large"`,
		reflect.TypeFor[badShape]():  `struct etf.badShape: etf tag "x,table": the shapes are tuple, record and map`,
		reflect.TypeFor[namedMap]():  `struct etf.namedMap: etf tag "x": a name is for a tuple or record`,
		reflect.TypeFor[inTuple]():   "field etf.inTuple.A: omitzero and required are for maps",
		long:                         "its name is no atom of at most 255 characters",
	} {
		err := Check(typ)
		require.ErrorContains(t, err, want)
		v := reflect.New(typ)
		_, sent := ToTerm(v.Elem().Interface())
		require.ErrorContains(t, sent, want)
		require.ErrorContains(t, FromTerm(wire.NewMap(), v.Interface()), want)
		for _, in := range []reflect.Type{reflect.PointerTo(typ), reflect.SliceOf(typ), reflect.MapOf(reflect.TypeFor[int](), typ)} {
			require.ErrorContains(t, Check(in), want)
		}
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[within](), reflect.TypeFor[inKey]()} {
		require.ErrorContains(t, Check(typ), "etf.collides has two fields of the name user_id")
	}
	for _, v := range []any{ownTerm{}, tuples{}, apart{}, 1, []string{"a"}} {
		require.NoError(t, Check(reflect.TypeOf(v)))
		_, err := ToTerm(v)
		require.NoError(t, err)
	}
	require.NoError(t, Check(reflect.TypeFor[noTerm]()), "it may have a form for other formats")
}
