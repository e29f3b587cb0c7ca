package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
)

type (
	sameKey  struct{ UserID, UserId int } // one key on OTP nodes
	sameName struct {
		A int
		B int `msgpack:"A"`
	}
	fieldsBase struct{ ID int }
	outerHides struct {
		fieldsBase
		ID string
	}
	embedsTwo struct {
		fieldsBase
		fieldsOther
	}
	fieldsOther struct{ ID int }
	aliasTaken  struct {
		Old int `etf:"before"`
		New int `msgpack:",alias:Old"`
	}
	wrongOption struct {
		A int `etf:",omitempty"`
	}
	holdsOne struct{ Deep []map[string]*sameKey }
)

// A type with a field that would be lost over one of the protocols, or could not be sent, is not registered: the error
// names the type and the fields.
func TestFieldsOfRegisteredTypes(t *testing.T) {
	for _, c := range []struct {
		typ   node.Type
		wants []string
	}{
		{node.TypeOf[sameKey](), []string{"node_test.sameKey", "UserID and UserId", "user_id"}},
		{node.TypeOf[sameName](), []string{"node_test.sameName", ".A and .B", `"A"`}},
		{node.TypeOf[outerHides](), []string{"node_test.outerHides", "fieldsBase.ID and ID"}},
		{node.TypeOf[embedsTwo](), []string{"node_test.embedsTwo", "fieldsBase.ID and fieldsOther.ID"}},
		{node.TypeOf[aliasTaken](), []string{"node_test.aliasTaken", ".Old and .New", `"Old"`}},
		{node.TypeOf[wrongOption](), []string{"node_test.wrongOption.A", `no option "omitempty"`}},
		{node.TypeOf[holdsOne](), []string{"node_test.holdsOne", "node_test.sameKey", "UserID and UserId"}},
	} {
		var types node.Types
		err := types.Register(c.typ)
		require.ErrorIs(t, err, node.ErrType)
		for _, want := range c.wants {
			require.ErrorContains(t, err, want)
		}
	}
}
