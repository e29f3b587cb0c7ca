package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/erltest"
)

// oracle is a directory with the answers of a real Erlang to the questions of testdata/oracle.erl about some terms and
// texts.
type oracle struct {
	t   *testing.T
	dir string
}

// samples runs a test with fixed terms, whose answers are recorded in testdata/answers, and in make merge with more and
// different ones.
func samples(t *testing.T, f func(t *testing.T, g *gen, n int)) {
	t.Run("recorded", func(t *testing.T) {
		g := newGen(t)
		g.Rand = rand.New(rand.NewPCG(1, 1))
		f(t, g, 200)
	})
	t.Run("random", func(t *testing.T) {
		erltest.Need(t)
		f(t, newGen(t), 2000)
	})
}

// askErlang runs erl once. Recorded questions are asked only in make merge, and with -update to record them anew.
func askErlang(t *testing.T, terms []any, texts []string) oracle {
	o := oracle{t, t.TempDir()}
	var b []byte
	for _, term := range terms {
		e := external([]byte{131}, term)
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(e))), e...)
	}
	o.write("terms", b)
	o.write("texts", []byte(strings.Join(texts, "\n")))
	name, isRecorded := strings.CutSuffix(t.Name(), "/recorded")
	file := "testdata/answers/" + name + ".txt"
	asked := fmt.Sprintf("%x", sha256.Sum256(slices.Concat(b, []byte{0}, []byte(strings.Join(texts, "\n")))))
	if isRecorded && !erltest.Has() {
		o.recorded(file, asked)
		return o
	}
	erltest.Main(t, "testdata/oracle.erl", o.dir)
	if !isRecorded || !erltest.Updating() {
		return o
	}
	var all strings.Builder
	fmt.Fprintf(&all, "What OTP answers in %s to what has this SHA-256: see erlang_test.go.\n%s\n", name, asked)
	for _, of := range answers {
		text, err := os.ReadFile(filepath.Join(o.dir, of))
		require.NoError(t, err)
		fmt.Fprintf(&all, "\f%s\n%s", of, text)
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(all.String()), 0o644))
	return o
}

// answers lists the files that testdata/oracle.erl writes.
var answers = []string{"release", "pretty", "plain", "sorted", "pairs", "keys", "texts.plain"}

// recorded copies recorded answers to the place where Erlang would write them.
func (o oracle) recorded(file, asked string) {
	all, err := os.ReadFile(file)
	require.NoError(o.t, err)
	parts := strings.Split(string(all), "\f")
	require.Contains(o.t, parts[0], asked, "it is asked otherwise now than when the answers were recorded: go test -update")
	for _, p := range parts[1:] {
		name, text, _ := strings.Cut(p, "\n")
		o.write(name, []byte(text))
	}
}

func (o oracle) write(name string, b []byte) {
	require.NoError(o.t, os.WriteFile(filepath.Join(o.dir, name), b, 0o600))
}

// lines returns the answers in the file name.
func (o oracle) lines(name string) []string {
	b, err := os.ReadFile(filepath.Join(o.dir, name))
	require.NoError(o.t, err)
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

// indexes returns the answers in the file name as numbers.
func (o oracle) indexes(name string) []int {
	var l []int
	for _, s := range o.lines(name) {
		n, err := strconv.Atoi(s)
		require.NoError(o.t, err)
		l = append(l, n)
	}
	return l
}

// hasIdentifiers reports whether t prints an identifier, whose node Erlang writes as a number, or a map, which Erlang
// before 26 writes in no known order.
func hasIdentifiers(t any) bool {
	p := plainly(t)
	if strings.Contains(p, "<a@h.") || strings.Contains(p, "<b@h.") || strings.Contains(p, "<go@host.") {
		return true
	}
	large := false
	eachMap(t, func(m Map) { large = large || m.Len() > maxSorted })
	return large
}

func eachMap(t any, f func(Map)) {
	switch t = bare(t); classOf(t) {
	case classTuple, classList:
		c := cellsOf(t)
		for e, ok := c.next(); ok; e, ok = c.next() {
			eachMap(e, f)
		}
		if c.tail() != nil {
			eachMap(c.tail(), f)
		}
	case classMap:
		f(t.(Map))
		for k, v := range t.(Map).Unordered() {
			eachMap(k, f)
			eachMap(v, f)
		}
	}
}

func TestErlangAgreesOnOrder(t *testing.T) { samples(t, agreesOnOrder) }

func agreesOnOrder(t *testing.T, g *gen, n int) {
	g.big, g.apart = true, make(map[hashedRef]Ref)
	var terms []any
	host := g.origin()
	for _, words := range [][]uint32{{0, 1}, {0, 1, 0, 2}, {0, 1, 0, 2, 3}, {0, 1, 0, 3}, {0, 1, 0, 3, 1}, {0, 1, 7, 0, 1}, {0, 1, 7, 1, 0}} {
		terms = append(terms, host.Ref(words...)) // the others are less alike
	}
	for len(terms) < n {
		x := g.term(g.IntN(4))
		terms = append(terms, x)
		if g.IntN(5) == 0 {
			terms = append(terms, g.respell(x))
		}
	}
	o := askErlang(t, terms, nil)

	ours := make([]int, len(terms))
	for i := range ours {
		ours[i] = i
	}
	slices.SortStableFunc(ours, func(i, j int) int { return Compare(terms[i], terms[j]) })
	theirs := o.indexes("sorted")
	requireSameOrder(t, terms, theirs, ours)
	for i, answer := range o.lines("pairs") {
		a, b := terms[theirs[i]], terms[theirs[i+1]]
		require.Equal(t, answer, fmt.Sprintf("%t %t", Equal(a, b), Compare(a, b) == 0),
			"=:= and == of\n%s\n%s", plainly(a), plainly(b))
	}

	slices.Sort(ours)
	slices.SortStableFunc(ours, func(i, j int) int { return compare(terms[i], terms[j], exact) })
	requireSameOrder(t, terms, o.indexes("keys"), ours)
}

func requireSameOrder(t *testing.T, terms []any, theirs, ours []int) {
	t.Helper()
	require.Equal(t, len(ours), len(theirs))
	for i := range ours {
		require.Equal(t, theirs[i], ours[i], "place %d:\nErlang %s\nGo     %s",
			i, plainly(terms[theirs[i]]), plainly(terms[ours[i]]))
	}
}

func TestErlangAgreesOnText(t *testing.T) { samples(t, agreesOnText) }

func agreesOnText(t *testing.T, g *gen, n int) {
	var terms []any
	var texts []string
	for len(terms) < n {
		g.literal = len(terms)%2 == 0
		x := g.term(g.IntN(4))
		terms = append(terms, x)
		if g.literal {
			texts = append(texts, Format(x))
		}
	}
	for range n / 4 {
		terms = append(terms, g.float())
	}
	o := askErlang(t, terms, texts)

	pretty, plain := o.lines("pretty"), o.lines("plain")
	require.Equal(t, len(terms), len(pretty))
	require.Equal(t, len(terms), len(plain))
	for i, x := range terms {
		if hasIdentifiers(x) {
			continue
		}
		require.Equal(t, plain[i], plainly(x))
		require.Equal(t, pretty[i], Format(x), plain[i])
	}
	for i, answer := range o.lines("texts.plain") {
		require.Equal(t, answer, "{term,"+plainly(terms[2*i])+"}", "Erlang read %s", texts[i])
		back, err := Parse(texts[i])
		require.NoError(t, err, texts[i])
		require.True(t, Equal(terms[2*i], back), texts[i])
		back, err = Parse(plain[2*i])
		require.NoError(t, err, plain[2*i])
		require.True(t, Equal(terms[2*i], back), plain[2*i])
	}
}

// TestErlangAgreesOnSyntax asks what each text means, or whether it means nothing.
func TestErlangAgreesOnSyntax(t *testing.T) { samples(t, agreesOnSyntax) }

func agreesOnSyntax(t *testing.T, g *gen, n int) {
	var texts []string
	for _, c := range parseCases {
		texts = append(texts, c.text)
	}
	for _, c := range parseErrors {
		texts = append(texts, c.text)
	}
	if !testkit.SeedChosen() { // the two grammars differ in corners; do not meet a new one by chance
		g.Rand = rand.New(rand.NewPCG(1, 1))
	}
	for range n * 3 / 2 { // and texts with a character or two changed
		s := []rune(texts[g.IntN(len(parseCases))])
		for i := range s {
			if g.IntN(len(s)) == 0 {
				s[i] = pick(g, []rune(`'"\{}[]<>#|,.:/-+$_ 0129axefuntzA%^=`)...)
			}
		}
		texts = append(texts, string(s))
	}
	texts = slices.DeleteFunc(texts, notComparable)
	o := askErlang(t, nil, texts)
	release := o.indexes("release")[0]
	for i, answer := range o.lines("texts.plain") {
		if release >= 27 && strings.Count(texts[i], `"`) > 2 {
			continue // strings in a row need white space, and """ is new
		}
		x, err := Parse(texts[i])
		ours := "no_term"
		if err == nil {
			ours = "{term," + plainly(x) + "}"
		}
		assert.Equal(t, answer, ours, "text %s", texts[i])
	}
}

var (
	hugeSegment    = regexp.MustCompile(`:\s*[0-9_]{5,}`)
	noCharacter    = regexp.MustCompile(`x\{[0-9a-fA-F]*[fF]{3}[eEfF]\}`)
	strangeControl = regexp.MustCompile(`\\\^($|[^@-_a-z])`)
)

// notComparable reports whether the question cannot be put to Erlang, because of the way questions are put or because
// Erlang is known to answer otherwise.
func notComparable(text string) bool {
	text = strings.TrimSpace(text)
	return strings.ContainsAny(text, "\n\ufffe\ufffd") || // one text a line
		strings.HasSuffix(text, ".") || strings.Contains(text, ". ") || strings.Contains(text, ".%") || // no dot of its own
		strings.HasSuffix(text, "$") || strings.HasSuffix(text, "\\") || // would quote the line's end
		strings.Contains(text, "maybe") || // not quoted before OTP 27
		strings.Contains(text, "e300:32") || // infinity, in some releases
		noCharacter.MatchString(text) || // noncharacters are refused
		strangeControl.MatchString(text) || // undocumented
		len(text) > 10_000 || hugeSegment.MatchString(text) // limits of our own
}
