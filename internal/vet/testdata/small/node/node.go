// Package node has as much of the real package node as the package beside it needs: go vet is quick with it.
package node

// Context is what a handler is given.
type Context struct{}

// Future is an answer to come.
type Future[T any] struct{}

// Async asks a process.
func Async[T any](c *Context, to, msg any) *Future[T] { return nil }
