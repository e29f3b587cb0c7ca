package main

import (
	"bytes"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/actornode/actornode/bench/internal/contract"
)

func TestAFarEndThatEndsAtOnce(t *testing.T) {
	t.Setenv(asProgram, "mute")
	var out, errs bytes.Buffer
	assert.Equal(t, contract.Failed, system().Main([]string{"remote_latency", "roundtrips=1"}, &out, &errs))
	assert.Empty(t, out.String())
	assert.Contains(t, errs.String(), "the far end has not dialled")
	assert.Contains(t, errs.String(), "exit status 1")
}

// withFar runs the bench with another far end, in this process, and returns what it prints on stderr.
func withFar(t *testing.T, near func(contract.Params, *contract.Meter, net.Conn) error, b contract.Bench,
	far func(net.Conn), args ...string) string {
	t.Helper()
	b.Run = func(p contract.Params, m *contract.Meter) error {
		here, there := net.Pipe()
		over := make(chan struct{})
		go func() { // ends with the connection; waited for below
			defer close(over)
			defer there.Close()
			far(there)
		}()
		err := near(p, m, here)
		here.Close()
		<-over
		return err
	}
	var out, errs bytes.Buffer
	s := contract.System{Name: "tcp", Version: "test", Benches: []contract.Bench{b}}
	assert.Equal(t, contract.Failed, s.Main(append([]string{b.Name}, args...), &out, &errs))
	assert.Empty(t, out.String())
	return errs.String()
}
