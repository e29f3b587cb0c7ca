package actornode_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
)

// The body of the README's program, word for word: see TestReadmeExample.
func Example() {
	n, _ := node.Start(node.Config{})
	defer n.Stop()
	total := 0
	pid, _ := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		switch m := msg.(type) {
		case int:
			total += m
		case node.Request[string]:
			m.Reply(total)
		default:
			c.Unknown(msg) // an error would end the process
		}
		return nil
	}))
	n.Send(pid, 40)
	n.Send(pid, 2)
	sum, err := node.Call[int](context.Background(), n, pid, "total?")
	fmt.Println(sum, err)
	// Output: 42 <nil>
}

// TestReadmeExample checks that the body of the README's program is the one above.
func TestReadmeExample(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	source, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(readme), "```go\n")
	require.True(t, ok, "README.md has no Go example")
	block, _, _ := strings.Cut(rest, "```")
	_, body, ok := strings.Cut(block, "func main() {\n")
	require.True(t, ok, "the README's program has no main")
	require.Contains(t, string(source), "func Example() {\n"+strings.TrimSuffix(body, "}\n")+"\t// Output:")
}
