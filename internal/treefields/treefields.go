// Package treefields lets the configuration of the daemon read a supervision tree that stands
// in its own file, beside other fields. Package supervisor/tree, which reads trees, does not
// show its reader of YAML to users; this is the way round.
package treefields

import "github.com/actornode/actornode/internal/strict"

// Of returns the fields of a document that a *tree.File takes its content from: supervisor and
// applications. At most one of them may be there; errors go to the reader. Package
// supervisor/tree sets Of; file is a *tree.File and known a tree.Known.
var Of func(file, known any, from *strict.Reader) []strict.Field
