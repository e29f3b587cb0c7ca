package mailbox

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPolicyString(t *testing.T) {
	for p, want := range map[Policy]string{
		Refuse: "refuse", Block: "block", DropNewest: "drop newest", DropOldest: "drop oldest", 4: "invalid",
	} {
		assert.Equal(t, want, p.String())
	}
}
