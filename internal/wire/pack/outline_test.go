package pack

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
)

// TestOtherType: a field that both types of a name have must be of one kind; fields may be added and missing.
func TestOtherType(t *testing.T) {
	type Order struct {
		ID    string
		Items []struct{ SKU int }
	}
	type Older struct {
		ID   int64
		More bool
		Tree Tree
	}
	ours, theirs, older := exactTypes(t), &Types{}, &Types{}
	require.NoError(t, Register[Order](theirs, "shop.Order"))
	require.NoError(t, Register[Older](older, "shop.Order"))
	for _, v := range []any{order, &order, wire.Tuple{1, order}, []any{order}} {
		b, err := (&Encoder{Types: ours}).Append(nil, v)
		require.NoError(t, err)
		_, _, err = (&Decoder{Types: theirs, Strict: true}).Term(b)
		require.ErrorIs(t, err, ErrShape, "%T", v)
		require.ErrorContains(t, err, "what came as shop.Order does not fit the type of that name here, at shop.Order.ID, which is "+
			"of type string: here {ID string, Items []{SKU int}}, what came is {")
		require.ErrorContains(t, err, "ID int")
		_, _, err = (&Decoder{Types: older, Strict: true}).Term(b)
		require.NoError(t, err, "fields are missing and added")
	}
}

func TestOutline(t *testing.T) {
	types := exactTypes(t)
	require.NoError(t, Register[Forms](types, "forms"))
	text := func(name wire.Atom) string { return outlineOf(types.named(name).plan) }
	require.Equal(t, "{Left …, Right …}", text("shop.Tree"))
	require.Equal(t, "{Any any, By map[string]any, From pid, In {X any}, Many []any}", text("shop.Envelope"))
	require.LessOrEqual(t, len([]rune(text("forms"))), maxOutlineText+1)
}
