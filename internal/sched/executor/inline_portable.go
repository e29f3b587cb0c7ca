//go:build actornode_portable || actornode_no_inline

package executor

// Inline reports whether inline workers run what they wake. Here the pool's workers do.
const Inline = false
