package markdown_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/markdown"
)

func TestParse(t *testing.T) {
	d := markdown.Parse("a.md", "# A `node`, and more\n"+
		"See [this](b.md#c) and `x := [y](z)`.\n"+
		"## [Twice](q.md)\n## Twice\n"+
		"<!-- with: n *node.Node -->\n<!-- plain -->\n\n```go\nf()\n# no heading\n```\n"+
		"<!-- of no block -->\ntext\n````text\n```\n````\n")
	require.Len(t, d.Blocks, 2)
	assert.Equal(t, markdown.Block{Line: 9, Lang: "go", Notes: []string{"with: n *node.Node", "plain"}, Text: "f()\n# no heading\n"}, d.Blocks[0])
	assert.Equal(t, []string{"n *node.Node"}, d.Blocks[0].Note("with"))
	assert.True(t, d.Blocks[0].Has("plain"))
	assert.Equal(t, markdown.Block{Line: 15, Lang: "text", Text: "```\n"}, d.Blocks[1])
	assert.Equal(t, map[string]bool{"a-node-and-more": true, "twice": true, "twice-1": true}, d.Anchors)
	assert.Equal(t, []markdown.Link{{2, "b.md#c"}, {3, "q.md"}}, d.Links)
	assert.Equal(t, []markdown.Code{{1, "node"}, {2, "x := [y](z)"}}, d.Codes)
	assert.Equal(t, 16, d.Lines)
}

// Documents are found wherever they are, this repository's README among them.
func TestFind(t *testing.T) {
	all, err := markdown.Find("../../..")
	require.NoError(t, err)
	var paths []string
	for _, d := range all {
		paths = append(paths, d.Path)
	}
	assert.Subset(t, paths, []string{"README.md", "docs/guarantees.md"})
	assert.IsIncreasing(t, paths)
}
