package links_test

import (
	"testing"

	"github.com/actornode/actornode/internal/wire/links"
	"github.com/stretchr/testify/assert"
)

// testBudget is a budget of left bytes.
type testBudget struct{ left int }

func (p *testBudget) Take(n int) bool {
	if n > p.left {
		return false
	}
	p.left -= n
	return true
}

func (p *testBudget) Give(n int) { p.left += n }

func TestAccount(t *testing.T) {
	p := &testBudget{10}
	a, b := links.NewAccount(p), links.NewAccount(p)
	assert.True(t, a.Take(6))
	assert.False(t, b.Take(5), "4 are left")
	assert.True(t, b.Take(4))
	a.Give(2)
	a.Close()
	a.Close()
	assert.Equal(t, 6, p.left)
	assert.False(t, a.Take(1), "it is closed")
	a.Give(1)
	assert.Equal(t, 6, p.left)
	b.Close()
	assert.Equal(t, 10, p.left)

	none := links.NewAccount(nil)
	assert.True(t, none.Take(1<<30))
	none.Give(1)
	none.Close()
}
