package testkit

import (
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// failing is a test that fails, and what it logs.
type failing struct {
	testing.TB
	cleanups []func()
	log      string
}

func (f *failing) Cleanup(c func())                { f.cleanups = append(f.cleanups, c) }
func (f *failing) Failed() bool                    { return true }
func (f *failing) Logf(format string, args ...any) { f.log += fmt.Sprintf(format, args...) }

func TestRepeats(t *testing.T) {
	was := flag.Lookup("seed").Value.String()
	t.Cleanup(func() { require.NoError(t, flag.Set("seed", was)) })
	require.NoError(t, flag.Set("seed", "0"))
	assert.False(t, SeedChosen())
	f := &failing{TB: t}
	first := Rand(f).Uint64()
	f.cleanups[0]()
	var seed uint64
	_, err := fmt.Sscanf(f.log, "repeat with -seed=%d", &seed)
	require.NoError(t, err, f.log)
	assert.NotEqual(t, first, Rand(t).Uint64(), "another seed each time")
	require.NoError(t, flag.Set("seed", fmt.Sprint(seed)))
	assert.True(t, SeedChosen())
	assert.Equal(t, seed, Seed(t))
	assert.Equal(t, first, Rand(t).Uint64())
}
