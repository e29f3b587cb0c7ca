// Package native speaks the native protocol: between two nodes of this project.
// It implements [wire.Protocol].
package native
