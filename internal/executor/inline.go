//go:build !actornode_portable && !actornode_no_inline

package executor

// Inline says that guests run what they wake. Without it workers do.
const Inline = true
