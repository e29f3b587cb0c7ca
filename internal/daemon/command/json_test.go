package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/wire"
)

func TestTermsAsJSON(t *testing.T) {
	for _, c := range [][2]string{
		{`42`, `42`}, {`-123456789012345678901234567890`, `-123456789012345678901234567890`},
		{`1.0`, `1.0`}, {`1.5e300`, `1.5e300`}, {`-0.0`, `-0.0`},
		{`ok`, `"ok"`}, {`true`, `true`}, {`false`, `false`}, {`'a "b"'`, `"a \"b\""`},
		{`<<"text">>`, `"text"`}, {`<<"é"/utf8>>`, `"é"`}, {`<<255>>`, `"<<\"ÿ\">>"`}, {`<<1:3>>`, `"<<1:3>>"`}, {`<<>>`, `""`},
		{`[]`, `[]`}, {`"ab"`, `[97,98]`}, {`[1, [2]]`, `[1,[2]]`}, {`{ok, 1}`, `["ok",1]`}, {`[1|2]`, `"[1|2]"`},
		{`#{}`, `{}`}, {`#{a => 1, <<"b">> => 2, 3 => c}`, `{"3":"c","a":1,"b":2}`}, {`#{a => 1, <<"a">> => 2}`, `{"<<\"a\">>":2,"a":1}`},
		{`#{true => 1, [x] => 2}`, `{"[x]":2,"true":1}`},
		{`fun lists:map/2`, `"fun lists:map/2"`},
	} {
		term, err := wire.Parse(c[0])
		require.NoError(t, err, c[0])
		env, out, _ := newEnvironment(t, nil)
		require.NoError(t, (&session{env: env}).writeJSON(jsonTerm(term)), c[0])
		assert.Equal(t, c[1]+"\n", out.String(), c[0])
	}
	pid := wire.NewOrigin(wire.NodeID{Name: "go@host", Creation: 36}).PID(42)
	assert.Equal(t, "go@host:42.0.10", jsonTerm(pid))
	assert.Equal(t, []any{}, jsonTerm(nil))
	assert.True(t, strings.HasPrefix(jsonTerm(pid.Origin().Ref(1, 2, 3)).(string), "#Ref<"))
}

// Values with terms are written with the terms as Erlang text, beside the other fields.
func TestViewsAsJSON(t *testing.T) {
	message := wire.Tuple{wire.Atom("add"), 5}
	for want, v := range map[string]any{
		`"type":"receive","message":"{add,5}"}`:          admin.Event{Type: "receive", Message: message},
		`"cause":"no_process","message":"{add,5}"}`:      admin.Letter{Cause: "no_process", Message: message},
		`"messages":["{add,5}"],"ancestry":["counter"]}`: admin.Detail{Messages: []any{message}, Ancestry: []any{wire.Atom("counter")}},
		`{"processes":null,"matched":1,"total":2}`:       admin.Listing{Matched: 1, Total: 2},
	} {
		env, out, _ := newEnvironment(t, nil)
		require.NoError(t, (&session{env: env}).writeJSON(v))
		require.Contains(t, out.String(), want)
	}
}
