package pickle_test

import (
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
	"github.com/actornode/actornode/wire/pickle"
)

// shape is a circle or a square.
type shape interface{ area() float64 }

type circle struct{ radius float64 }

type square struct{ side float64 }

func (c circle) area() float64 { return 3 * c.radius * c.radius }

func (s square) area() float64 { return s.side * s.side }

// id is written as a text.
type id int

type drawing struct {
	number id
	title  string
	kind   wire.Atom
	shown  bool
	data   []byte
	shapes []shape
	next   *int
}

var (
	ids = pickle.Wrap(pickle.Basic[string](), func(s string) (id, error) {
		n, err := strconv.Atoi(s)
		return id(n), err
	}, func(n id) string { return strconv.Itoa(int(n)) })

	shapes = pickle.OneOf(
		pickle.Case[shape]("circle", pickle.Tuple("",
			pickle.Part(func(c *circle) *float64 { return &c.radius }, pickle.Basic[float64]()))),
		pickle.Case[shape]("square", pickle.Wrap(pickle.Basic[float64](),
			func(side float64) (square, error) { return square{side}, nil }, func(s square) float64 { return s.side })),
	)

	drawings = pickle.Tuple("drawing",
		pickle.Part(func(d *drawing) *id { return &d.number }, ids),
		pickle.Part(func(d *drawing) *string { return &d.title }, pickle.Basic[string]()),
		pickle.Part(func(d *drawing) *wire.Atom { return &d.kind }, pickle.Basic[wire.Atom]()),
		pickle.Part(func(d *drawing) *bool { return &d.shown }, pickle.Basic[bool]()),
		pickle.Part(func(d *drawing) *[]byte { return &d.data }, pickle.Basic[[]byte]()),
		pickle.Part(func(d *drawing) *[]shape { return &d.shapes }, pickle.List(shapes)),
		pickle.Part(func(d *drawing) *(*int) { return &d.next }, pickle.Option(pickle.Basic[int]())),
	)
)

// A value comes back as it was, from its term and from the term's bytes.
func TestRoundTrip(t *testing.T) {
	r := testkit.Rand(t)
	for range 2000 {
		d := drawing{number: id(r.IntN(1000)), title: fmt.Sprint("no ", r.IntN(100)), kind: wire.Atom(fmt.Sprint("k", r.IntN(5))),
			shown: r.IntN(2) == 0, data: []byte{byte(r.IntN(256)), 0, 255}}
		for range r.IntN(4) {
			if r.IntN(2) == 0 {
				d.shapes = append(d.shapes, circle{float64(r.IntN(9))})
			} else {
				d.shapes = append(d.shapes, square{float64(r.IntN(9)) / 2})
			}
		}
		if n := r.IntN(10); n < 5 {
			d.next = &n
		}
		term := drawings.Term(d)
		var here, there drawing
		require.NoError(t, drawings.Set(term, &here))
		require.Equal(t, d, here)
		b, err := etf.Append(nil, term)
		require.NoError(t, err)
		term, _, err = etf.Decode(b)
		require.NoError(t, err)
		require.NoError(t, drawings.Set(term, &there))
		require.Equal(t, d, there)
	}
}

// A term that does not fit is refused, with the place and the expected type, and changes nothing.
func TestMismatch(t *testing.T) {
	good := drawings.Term(drawing{shapes: []shape{circle{1}}}).(wire.Tuple)
	with := func(i int, x any) wire.Tuple {
		bad := append(wire.Tuple(nil), good...)
		bad[i] = x
		return bad
	}
	for _, c := range []struct {
		term any
		text string
	}{
		{nil, "want a tuple with 8 elements, the first drawing"},
		{wire.Tuple{}, "got {}"},
		{with(0, wire.Atom("other")), "got {other,"},
		{with(2, 5), "part 2 of pickle_test.drawing: pickle: the term does not fit: got 5, want a term for string"},
		{with(3, "text"), "want a term for wire.Atom"},
		{with(4, wire.Atom("maybe")), "want a term for bool"},
		{with(5, wire.Atom("x")), "want a term for []uint8"},
		{with(6, 1), "part 6 of pickle_test.drawing: pickle: the term does not fit: got 1, want a list"},
		{with(6, wire.List{wire.Tuple{wire.Atom("circle"), wire.Tuple{wire.Atom("x")}}}), "element 0: part 1 of pickle_test.circle: "},
		{with(6, wire.List{wire.Tuple{wire.Atom("line"), 1}}), "want {Tag, Term} with the tag of a choice"},
		{with(6, wire.List{wire.Atom("circle")}), "with the tag of a choice"},
		{with(7, "x"), "part 7 of pickle_test.drawing: "},
	} {
		d := drawing{title: "as it was"}
		err := drawings.Set(c.term, &d)
		require.ErrorIs(t, err, pickle.ErrMismatch, "%v", c.term)
		require.ErrorContains(t, err, c.text)
		require.Equal(t, drawing{title: "as it was"}, d)
	}
	var d drawing
	err := drawings.Set(with(1, "no number"), &d)
	require.ErrorIs(t, err, strconv.ErrSyntax, "the error of Wrap")
	require.Panics(t, func() { shapes.Term(nil) })
	require.Panics(t, func() { pickle.Case[shape]("number", pickle.Basic[int]()) })
}

// Terms of other types are accepted for basic values if nothing is lost.
func TestBasic(t *testing.T) {
	var f float64
	require.NoError(t, pickle.Basic[float64]().Set(3, &f))
	require.Equal(t, 3.0, f)
	var s string
	require.NoError(t, pickle.Basic[string]().Set(wire.Charlist("tea"), &s))
	require.Equal(t, "tea", s)
	var b bool
	require.NoError(t, pickle.Basic[bool]().Set(wire.AtomTrue, &b))
	require.True(t, b)
	var i int
	require.NoError(t, pickle.Basic[int]().Set(int64(7), &i))
	require.Equal(t, 7, i)
	require.True(t, errors.Is(pickle.Basic[int]().Set(1.5, &i), pickle.ErrMismatch))
	require.Error(t, pickle.Basic[wire.PID]().Set(wire.Ref{}, new(wire.PID)))
}
