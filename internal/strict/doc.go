// Package strict reads YAML documents field by field: an unknown field is an error, and every error has file, line, column
// and field, and says what is wrong and what is allowed. Package tree reads supervision trees with it, and the daemon its
// configuration.
//
// # Nouns
//
//   - A [Reader] walks one document and collects its errors.
//   - A [Value] is a YAML node with its line, column and path.
//   - A [Field] is an allowed field of an object.
//   - An [Error] is file:line:column: field: problem; [Errors] has all of a file.
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
//  1. All errors of a document are found in one walk. If the YAML itself is invalid, only the first error is reported.
//  2. Every examined value has gone through Enter, which bounds their number and depth: time and memory are bounded for any
//     text.
//  3. Err is sorted by line and column.
//
// # Goroutines
//
// None. Only one goroutine at a time may use a Reader.
//
// # Limits and versions
//
// [MaxBytes], [MaxDepth], [MaxValues], [MaxErrors]. The YAML is that of go.yaml.in/yaml/v3, which the YAML organization
// maintains, which provides line and column of every value, and which the test library needs anyway. Anchors and aliases
// work; merge keys do not.
package strict
