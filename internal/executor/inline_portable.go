//go:build actornode_portable || actornode_no_inline

package executor

// Inline says that guests run what they wake. Here workers do.
const Inline = false
