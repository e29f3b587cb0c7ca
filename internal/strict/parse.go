package strict

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ReadAll reads a file's text to its end, or far enough to detect that it is too long. name is its name in errors.
func ReadAll(name string, from io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return text, nil
}

// Parse parses a text that is one YAML document. ok is false if there is no document: the Reader's Err says why. want
// describes the expected contents, for the error of an empty document.
func Parse(file string, text []byte, want string) (r *Reader, root Value, ok bool) {
	r = &Reader{file: file}
	start := Value{Line: 1, Column: 1, Path: whole}
	if len(text) > MaxBytes {
		r.Fail(start, "the file is longer than %d bytes, the most allowed", MaxBytes)
		return r, root, false
	}
	var doc, next yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(&doc); err != nil && err != io.EOF {
		r.broken(err)
		return r, root, false
	}
	if len(doc.Content) == 0 {
		r.Fail(start, "the file is empty; want %s", want)
		return r, root, false
	}
	if err := dec.Decode(&next); err == nil {
		r.Fail(Value{Line: next.Line, Column: next.Column, Path: whole}, "the file has a second YAML document; one is allowed")
	} else if err != io.EOF {
		r.broken(err)
		return r, root, false
	}
	root, ok = r.Enter(Value{}, doc.Content[0], "")
	return r, root, ok
}

// whole is the field of an error about the whole file.
const whole = "yaml"

var lineOf = regexp.MustCompile(`^line (\d+): `)

// broken records an error of the YAML library: "yaml: line 7: …", or without a line.
func (r *Reader) broken(err error) {
	v := Value{Line: 1, Column: 1, Path: whole}
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if m := lineOf.FindStringSubmatch(text); m != nil {
		v.Line, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	}
	r.Fail(v, "%s", text)
}

// Err returns the sorted [Errors] so far, or nil.
func (r *Reader) Err() error {
	if len(r.errs) == 0 {
		return nil
	}
	r.errs.sort()
	return r.errs
}

// Failures returns the number of errors found.
func (r *Reader) Failures() int { return len(r.errs) }

// Full reports whether no further errors are recorded.
func (r *Reader) Full() bool { return r.full || len(r.errs) >= MaxErrors }
