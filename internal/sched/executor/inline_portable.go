//go:build actornode_portable || actornode_no_inline

package executor

// Inline reports whether inline workers run the entities that they wake. In this build the pool's workers do.
const Inline = false
