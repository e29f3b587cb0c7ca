// Package contextescape has a misuse that the analyzer contextescape finds, and no other.
package contextescape

import "github.com/actornode/actornode/node"

var kept *node.Context

func receive(c *node.Context, msg any) error {
	kept = c
	return nil
}
