// Package strict reads documents in YAML field by field: what is not known is an
// error, and every error says file, line, column and field, what is wrong, and
// what is allowed. Package tree reads supervision trees with it, and the daemon
// its configuration.
//
// # Nouns
//
//   - A [Reader] walks one document and collects what is wrong with it.
//   - A [Value] is a place in it: a node of YAML with its line, column and path.
//   - A [Field] is one that an object may have.
//   - An [Error] is file:line:column: field: problem; [Errors] is all of a file.
//
// How it is used:
//
//	r, root, ok := strict.Parse("shop.yaml", text, "name or port")
//	if ok {
//		r.Object(root,
//			strict.Field{Name: "name", Required: true, Read: func(v strict.Value) { name, _ = r.Text(v, "a name") }},
//			strict.Field{Name: "port", Read: func(v strict.Value) { port, _ = r.Integer(v, 1) }},
//		)
//	}
//	return r.Err() // shop.yaml:2:1: prt: unknown field; did you mean port? allowed: name, port
//
// # Invariants
//
//  1. All errors of a document are found in one walk, unless the YAML itself is
//     broken: then it is the first place where it is.
//  2. Every value that is looked at has gone through Enter, which bounds how many
//     there are, and how deep: time and memory are bounded whatever the text says.
//  3. Err is sorted by line and column.
//
// # Goroutines
//
// None; a Reader is for one at a time.
//
// # Limits and versions
//
// [MaxBytes], [MaxDepth], [MaxValues], [MaxErrors]. The YAML is that of
// go.yaml.in/yaml/v3, chosen because it is the one that the YAML organization keeps
// up, has line and column of every value, and is needed by the tests' library
// anyway. Anchors and aliases work; merge keys do not.
package strict
