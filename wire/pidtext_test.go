package wire

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPIDText(t *testing.T) {
	for _, c := range []struct {
		pid  PID
		text string
	}{
		{PID{}, ""},
		{NewOrigin(NodeID{"go@host", 1}).PID(42), "go@host:42.0.1"},
		{NewOrigin(NodeID{"go@host", 1<<32 - 1}).PID(1<<64 - 1), "go@host:4294967295.4294967295.1z141z3"},
		{NewOrigin(NodeID{"go@::1", 35}).PID(1 << 32), "go@::1:0.1.z"},
		{NewOrigin(NodeID{"a.b@x.y", 0}).PID(7), "a.b@x.y:7.0.0"},
	} {
		text, err := c.pid.MarshalText()
		require.NoError(t, err)
		assert.Equal(t, c.text, string(text))
		back := NewOrigin(NodeID{"other@node", 3}).PID(5)
		require.NoError(t, back.UnmarshalText(text))
		assert.Equal(t, c.pid, back, c.text)
	}
}

func TestPIDTextRefusesTheRest(t *testing.T) {
	for _, text := range []string{
		":1.0.1", "1.0.1", "go@host", "go@host:", "go@host:1", "go@host:1.0", "go@host:1.0.1.1", "go@host:4294967296.0.1",
		"go@host:1.0.zzzzzzzz", "go@host:-1.0.1", "go@host:a.0.1", "<go@host.1.0>", "go@host:1.0.!",
	} {
		p := NewOrigin(NodeID{"go@host", 3}).PID(5)
		was := p
		assert.Error(t, p.UnmarshalText([]byte(text)), text)
		assert.Equal(t, was, p, text)
	}
}

func TestIdentifiersAsJSON(t *testing.T) {
	o := NewOrigin(NodeID{"go@host", 36})
	text, err := json.Marshal(map[string]any{"pid": o.PID(1), "ref": o.Ref(1, 2, 3), "none": Ref{}})
	require.NoError(t, err)
	assert.JSONEq(t, `{"pid": "go@host:1.0.10", "ref": "#Ref<go@host.3.2.1>", "none": ""}`, string(text))
}

func FuzzPIDText(f *testing.F) {
	f.Add("go@host:42.0.1z141z3")
	f.Add("go@::1:0.1.z")
	f.Fuzz(func(t *testing.T, text string) {
		var p PID
		if p.UnmarshalText([]byte(text)) != nil {
			return
		}
		again, err := p.MarshalText()
		require.NoError(t, err)
		var q PID
		require.NoError(t, q.UnmarshalText(again))
		require.Equal(t, p, q)
	})
}
