package contract

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func sampleParams() []Param {
	return []Param{Int("n", 503), Int("depth", 0).Range(0, 9), Word("proto", "native", "erlang"), Style(), Text("to", "")}
}

func TestParse(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "n=503 depth=0 proto=native style=actor to="},
		{[]string{"n=7", "proto=erlang"}, "n=7 depth=0 proto=erlang style=actor to="},
		{[]string{"style=process", "depth=9"}, "n=503 depth=9 proto=native style=process to="},
		{[]string{"n=1", "n=2"}, "n=2 depth=0 proto=native style=actor to="},
		{[]string{"to=a=b,c"}, "n=503 depth=0 proto=native style=actor to=a=b,c"},
	} {
		p, err := Parse(sampleParams(), test.args)
		require.NoError(t, err, test.args)
		assert.Equal(t, test.want, p.fields.String(), test.args)
	}
}

func TestParseErrorsSayWhatIsAllowed(t *testing.T) {
	for arg, want := range map[string]string{
		"n":           `"n" is not key=value`,
		"hops=1":      `unknown parameter "hops"`,
		"=1":          `unknown parameter ""`,
		"n=":          `n wants a whole number of at least 1, not ""`,
		"n=0":         `n wants a whole number of at least 1, not "0"`,
		"n=1.5":       `n wants a whole number of at least 1, not "1.5"`,
		"n=1e6":       `n wants a whole number of at least 1, not "1e6"`,
		"n=" + huge:   `n wants a whole number of at least 1, not "` + huge + `"`,
		"depth=10":    `depth wants a whole number from 0 to 9, not "10"`,
		"depth=-1":    `depth wants a whole number from 0 to 9, not "-1"`,
		"style=both":  `style wants actor or process or coroutine, not "both"`,
		"proto=":      `proto wants native or erlang, not ""`,
		"Style=actor": `unknown parameter "Style"`,
	} {
		_, err := Parse(sampleParams(), []string{arg})
		require.ErrorIs(t, err, ErrUsage, arg)
		assert.EqualError(t, err, "usage: "+want+
			" (allowed: n=503 depth=0 proto=native|erlang style=actor|process|coroutine to=)", arg)
	}
	_, err := Parse(nil, []string{"n=1"})
	assert.EqualError(t, err, `usage: unknown parameter "n" (allowed: no parameters)`)
}

const huge = "99999999999999999999"

func TestParamsAreReadByKind(t *testing.T) {
	p, err := Parse(sampleParams(), []string{"style=process", "to=x"})
	require.NoError(t, err)
	assert.Equal(t, 503, p.Int("n"))
	assert.Equal(t, "native", p.Word("proto"))
	assert.Equal(t, "x", p.Word("to"))
	assert.Equal(t, Process, p.Style())
	assert.PanicsWithValue(t, `contract: no parameter "hops" of type int is declared`, func() { p.Int("hops") })
	assert.Panics(t, func() { p.Int("proto") })
	assert.Panics(t, func() { p.Word("n") })
}

func TestStyleIsActorWhereNoneIsDeclared(t *testing.T) {
	p, err := Parse([]Param{Int("n", 1)}, nil)
	require.NoError(t, err)
	assert.Equal(t, Actor, p.Style())
}

func TestArgsAreReadAsTheSame(t *testing.T) {
	p, err := Parse(sampleParams(), []string{"n=7", "style=process", "to=a=b c"})
	require.NoError(t, err)
	again, err := Parse(sampleParams(), p.Args())
	require.NoError(t, err)
	assert.Equal(t, p, again)
}
