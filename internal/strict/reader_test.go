package strict_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/strict"
)

// shop is what the tests read.
type shop struct {
	name    string
	port    int
	share   float64
	open    bool
	wait    time.Duration
	kind    int
	list    []string
	stock   map[string]string
	nothing bool
}

func read(text string) (s shop, err error) {
	r, root, ok := strict.Parse("shop.yaml", []byte(text), "name")
	if ok {
		s.stock = make(map[string]string)
		got := r.Object(root,
			strict.Field{Name: "name", Required: true, Read: func(v strict.Value) { s.name, _ = r.Text(v, "a name") }},
			strict.Field{Name: "port", Read: func(v strict.Value) { s.port, _ = r.Integer(v, 1) }},
			strict.Field{Name: "share", Read: func(v strict.Value) { s.share = r.Float(v, 0, 1) }},
			strict.Field{Name: "open", Read: func(v strict.Value) { s.open = r.Flag(v) }},
			strict.Field{Name: "wait", Read: func(v strict.Value) { s.wait, _ = r.Duration(v, "forever") }},
			strict.Field{Name: "kind", Read: func(v strict.Value) { s.kind, _ = r.Choice(v, "small", "large") }},
			strict.Field{Name: "list", Read: func(v strict.Value) {
				r.List(v, func(_ int, v strict.Value) { w, _ := r.Text(v, "a word"); s.list = append(s.list, w) })
			}},
			strict.Field{Name: "stock", Read: func(v strict.Value) {
				r.Map(v, func(k string, v strict.Value) { s.stock[k], _ = r.Text(v, "a text") })
			}},
			strict.Field{Name: "nothing"},
		)
		_, s.nothing = got["nothing"]
	}
	return s, r.Err()
}

func TestReader(t *testing.T) {
	s, err := read(`
name: 1.10
port: 0x10
share: 1
open: true
wait: forever
kind: large
list: [a, "b"]
stock: {apples: many, 7: 8}
nothing:
`)
	require.NoError(t, err)
	assert.Equal(t, shop{"1.10", 16, 1, true, -1, 1, []string{"a", "b"}, map[string]string{"apples": "many", "7": "8"}, true}, s)
	s, err = read("name: a\nlist:\nstock:\n")
	require.NoError(t, err)
	assert.Empty(t, s.list)
	assert.Empty(t, s.stock)
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "1:1: yaml: the file is empty; want name"},
		{"a", "1:1: yaml: want a mapping with the fields name, port, share, open, wait, kind, list, stock, nothing"},
		{"name: a\n---\nname: b\n", "2:1: yaml: the file has a second YAML document; one is allowed"},
		{"name: [", "1:1: yaml: did not find expected node content"},
		{"port: 1", "1:1: name: missing"},
		{"name: a\nport: 0", "2:7: port: want an integer from 1 to 2147483647"},
		{"name: a\nport: a", "2:7: port: want an integer from 1 to 2147483647"},
		{"name: a\nshare: 1.5", "2:8: share: want a number from 0 to 1"},
		{"name: a\nopen: yes", `2:7: open: unknown value "yes"; allowed: false, true`},
		{"name: a\nwait: 5", "2:7: wait: want a time above 0 with its unit, such as 500ms, 5s, 1m30s, or forever"},
		{"name: a\nkind: lrge", `2:7: kind: unknown value "lrge"; did you mean large? allowed: small, large`},
		{"name: a\nlist: b", "2:7: list: want a list"},
		{"name: a\nlist: [[]]", "2:8: list[0]: want a word"},
		{"name: a\nstock: 7", "2:8: stock: want a mapping"},
		{"name: a\nstock: {a: 1, a: 2}", "2:15: stock.a: given twice, first in line 2"},
		{"name: a\nstock: {[a]: 1}", "2:9: stock: a key must be a plain word"},
		{"name: a\nstock: {<<: {a: 1}}", `2:9: stock."<<": merge keys are not supported: write the pairs out`},
		{"name: a\nprt: 7", "2:1: prt: unknown field; did you mean port? allowed: name, port, share, open, wait, kind, list, " +
			"stock, nothing"},
	} {
		_, err := read(c.text)
		assert.EqualError(t, err, "shop.yaml:"+c.want, c.text)
	}
}

// All errors are found, sorted, and their number is bounded.
func TestAll(t *testing.T) {
	_, err := read("kind: x\nport: y\n")
	var all strict.Errors
	require.ErrorAs(t, err, &all)
	require.Len(t, all, 3)
	assert.Equal(t, []int{1, 1, 2}, []int{all[0].Line, all[1].Line, all[2].Line})
	var one *strict.Error
	require.True(t, errors.As(err, &one))

	_, err = read("name: a\n" + strings.Repeat("x: 1\n", 500))
	require.ErrorAs(t, err, &all)
	assert.Len(t, all, strict.MaxErrors)

	_, err = read("name: a\nlist: [" + strings.Repeat("a,", strict.MaxValues) + "]")
	require.ErrorContains(t, err, "too many values: the file has more than 100000")
	_, err = read(strings.Repeat("#", strict.MaxBytes+1))
	require.ErrorContains(t, err, "the most allowed")
}

// The nearest word is one or two slips away, depending on its length; a swap of two letters is one slip.
func TestAllowed(t *testing.T) {
	for _, c := range []struct{ word, near string }{
		{"nmae", "name"}, {"nam", "name"}, {"namee", "name"}, {"mane", ""}, {"x", ""}, {"", ""},
		{"intensty", "intensity"}, {"intnestiy", "intensity"}, {"strategies", ""},
	} {
		got := strict.Allowed(c.word, []string{"name", "intensity"})
		want := "allowed: name, intensity"
		if c.near != "" {
			want = "did you mean " + c.near + "? " + want
		}
		assert.Equal(t, want, got, c.word)
	}
}

func ExampleAllowed() {
	fmt.Println(strict.Allowed("prt", []string{"name", "port"}))
	// Output: did you mean port? allowed: name, port
}
