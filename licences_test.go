package actornode_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write "+licencesFile+" and testdata/api anew")

// licencesFile has the licences of everything that is linked into the daemon. It ships with it.
const licencesFile = "THIRD_PARTY_LICENSES.md"

// allowed lists the licences that linked code may have, with their conditions.
var allowed = map[string]string{
	"Apache-2.0":   "the text and the NOTICE",
	"BSD-2-Clause": "the text",
	"BSD-3-Clause": "the text",
	"ISC":          "the text",
	"MIT":          "the text",
	"MPL-2.0":      "where the source is; what of it is changed must be published, and nothing is",
}

// standard stands for the modules of Go itself.
const standard = "Go's standard library"

// platforms are the systems for whose daemons the file is.
var platforms = []string{"linux", "darwin", "windows"}

// linked is a module that is linked into the daemon.
type linked struct {
	Path, Version, Dir string
	texts              []string // of its licences, and notices
	kinds              []string // SPDX identifiers, sorted
}

// source identifies a module's source: modules are found by path and version.
func (l linked) source() string { return l.Path + "@" + l.Version }

func (l linked) row() string {
	return fmt.Sprintf("| %s | %s | %s |\n", l.Path, l.Version, strings.Join(l.kinds, " AND "))
}

// known lists how to recognize the texts of licences: all that match apply.
var known = []struct {
	kind string
	in   *regexp.Regexp
	out  *regexp.Regexp // nil: nothing
}{
	{"Apache-2.0", regexp.MustCompile(`Apache License,? Version 2\.0`), nil},
	{"BSD-2-Clause", regexp.MustCompile(`Redistribution and use in source and binary forms`),
		regexp.MustCompile(`Neither the names? of`)},
	{"BSD-3-Clause", regexp.MustCompile(`Redistribution and use in source and binary forms.*Neither the names? of`), nil},
	{"ISC", regexp.MustCompile(`Permission to use, copy, modify, (and/or|and) distribute this software`), nil},
	{"MIT", regexp.MustCompile(`Permission is hereby granted, free of charge, to any person obtaining a copy`), nil},
	{"MPL-2.0", regexp.MustCompile(`Mozilla Public License,? [Vv]ersion 2\.0`), nil},
	{"GPL", regexp.MustCompile(`GNU (AFFERO |LESSER |LIBRARY )?GENERAL PUBLIC LICENSE`), nil},
	{"BUSL", regexp.MustCompile(`Business Source License`), nil},
	{"SSPL", regexp.MustCompile(`Server Side Public License`), nil},
	{"Commons-Clause", regexp.MustCompile(`Commons Clause`), nil},
}

var space = regexp.MustCompile(`\s+`)

// kindsOf returns the licences that a text contains.
func kindsOf(text string) (kinds []string) {
	text = space.ReplaceAllString(text, " ")
	for _, k := range known {
		if k.in.MatchString(text) && (k.out == nil || !k.out.MatchString(text)) {
			kinds = append(kinds, k.kind)
		}
	}
	return kinds
}

var (
	licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)([.-].*)?$`)
	noticeName  = regexp.MustCompile(`(?i)^notice([.-].*)?$`)
)

// read adds the licences in a directory to those of l, unless it has them already.
func (l *linked) read(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		licence := licenceName.MatchString(e.Name())
		if e.IsDir() || !licence && !noticeName.MatchString(e.Name()) {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		text := plainText(b)
		if !slices.Contains(l.texts, text) {
			l.texts = append(l.texts, text)
		}
		if !licence {
			continue
		}
		kinds := kindsOf(text)
		if len(kinds) == 0 {
			kinds = []string{"unknown: " + e.Name()}
		}
		l.kinds = slices.Compact(slices.Sorted(slices.Values(append(l.kinds, kinds...))))
	}
	return nil
}

// plainText returns a text without invisible differences between systems.
func plainText(b []byte) string {
	lines := strings.Split(strings.TrimPrefix(strings.ReplaceAll(string(b), "\r\n", "\n"), "\ufeff"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\f")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// list returns the modules of a daemon for a system, including Go's own library. It fetches nothing.
func list(system string) (map[string]linked, error) {
	cmd := exec.Command("go", "list", "-pgo=off", "-deps", "-json=ImportPath,Dir,Root,Standard,Module", "./cmd/actornode")
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0", "GOPROXY=off", "GOFLAGS=-mod=readonly", "GOWORK=off")
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("%w: %s", err, exit.Stderr)
	} else if err != nil {
		return nil, err
	}
	all := make(map[string]linked)
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Dir, Root string
			Standard              bool
			Module                *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		var m linked
		switch {
		case p.Standard: // of the version that it is built with
			m, p.Dir = linked{Path: standard, Version: "that of the build", Dir: p.Root}, p.Root
		case p.Module.Main:
			continue
		default:
			m = linked{Path: p.Module.Path, Version: p.Module.Version, Dir: p.Module.Dir}
		}
		if was, ok := all[m.Path]; ok {
			if p.Standard {
				continue
			}
			m = was
		}
		for dir := p.Dir; ; dir = filepath.Dir(dir) { // a package may have a licence of its own
			if err := m.read(dir); err != nil {
				return nil, err
			}
			if dir == m.Dir || !strings.HasPrefix(dir, m.Dir) {
				break
			}
		}
		all[m.Path] = m
	}
}

// wrong returns what must not ship.
func wrong(all map[string]linked) (says []string) {
	for _, path := range slices.Sorted(maps.Keys(all)) {
		m := all[path]
		if len(m.kinds) == 0 {
			says = append(says, m.source()+" has no licence")
		}
		for _, k := range m.kinds {
			if allowed[k] == "" {
				says = append(says, fmt.Sprintf("%s has the licence %s, which is not allowed", m.source(), k))
			}
		}
	}
	return says
}

// missing returns what a file lacks.
func missing(file string, all map[string]linked) (says []string) {
	for _, path := range slices.Sorted(maps.Keys(all)) {
		m := all[path]
		if !strings.Contains(file, m.row()) {
			says = append(says, "no row "+strings.TrimSpace(m.row()))
		}
		for _, text := range m.texts {
			if !strings.Contains(file, text) {
				says = append(says, "no licence or notice of "+m.source())
			}
		}
	}
	return says
}

// write makes the file. A text that several modules have is in it once.
func write(all map[string]linked) string {
	var b strings.Builder
	b.WriteString(`# Licences of what is in actornode

The daemon has these modules in it, on Linux, macOS or Windows, beside its own code, whose licence
is in the file LICENSE. ` + "`go test . -run TestLicences -update`" + ` writes this file.

Nothing of them has been changed. The source of each, those under MPL-2.0 included, is the module of
that path and version: ` + "`go mod download PATH@VERSION`" + `.

| module | version | licence (SPDX) |
|---|---|---|
`)
	users := make(map[string][]string)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		b.WriteString(all[path].row())
		for _, text := range all[path].texts {
			users[text] = append(users[text], path)
		}
	}
	b.WriteString("\n# Texts and notices\n")
	texts := slices.SortedFunc(maps.Keys(users), func(x, y string) int {
		if c := slices.Compare(users[x], users[y]); c != 0 {
			return c
		}
		return strings.Compare(x, y)
	})
	for _, text := range texts {
		fence := "```"
		for strings.Contains(text, fence) {
			fence += "`"
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s text\n%s\n%s\n", strings.Join(users[text], ", "), fence, text, fence)
	}
	return b.String()
}

// The file that ships has the licences of everything that is linked, and all of them are allowed.
func TestLicences(t *testing.T) {
	all := make(map[string]linked)
	var lacks error
	for i, system := range platforms {
		got, err := list(system)
		if i == 0 {
			require.NoError(t, err)
		}
		lacks = errors.Join(lacks, err)
		for path, m := range got {
			if was, ok := all[path]; ok { // packages of several systems may have licences of their own
				for _, text := range was.texts {
					if !slices.Contains(m.texts, text) {
						m.texts = append(m.texts, text)
					}
				}
				m.kinds = slices.Compact(slices.Sorted(slices.Values(append(m.kinds, was.kinds...))))
			}
			slices.Sort(m.texts)
			all[path] = m
		}
	}
	require.Greater(t, len(all), 20)
	if len(all[standard].kinds) == 0 { // some distributions keep it elsewhere
		delete(all, standard)
		lacks = errors.Join(lacks, errors.New("there is no LICENSE in GOROOT"))
	}
	require.Empty(t, wrong(all), "choose another module, or enter the licence in allowed with what it asks for")
	if *update {
		require.NoError(t, lacks, "if a module is missing: go mod download, and again")
		require.NoError(t, os.WriteFile(licencesFile, []byte(write(all)), 0o644))
	}
	b, err := os.ReadFile(licencesFile)
	require.NoError(t, err)
	const how = "read what is new, then: go test . -run TestLicences -update"
	require.Empty(t, missing(string(b), all), how)
	if lacks != nil {
		t.Skipf("something is missing here (modules: go mod download), so whether %s has too much is not checked: %v",
			licencesFile, lacks)
	}
	if string(b) != write(all) { // no diff: it would be long
		require.Fail(t, licencesFile+" has what is not linked, or has been changed", how)
	}
}

// A module that is new, of another version, without a licence, or with a licence that is not allowed is detected.
func TestLicencesAreChecked(t *testing.T) {
	module := func(path, version, text string) map[string]linked {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "LICENSE.txt"), []byte(text), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "licenses.go"), []byte("no licence"), 0o600))
		m := linked{Path: path, Version: version, Dir: dir}
		require.NoError(t, m.read(dir))
		return map[string]linked{path: m}
	}
	const mit = "Permission is hereby granted, free of\ncharge, to any person obtaining a copy"
	good := module("m", "v1.0.0", mit)
	assert.Empty(t, wrong(good))
	assert.Empty(t, missing(write(good), good))
	assert.Equal(t, []string{"no row | m | v1.0.1 | MIT |"}, missing(write(good), module("m", "v1.0.1", mit)))
	assert.Equal(t, []string{"no row | n | v1.0.0 | MIT |"}, missing(write(good), module("n", "v1.0.0", mit)))
	assert.Equal(t, []string{"no licence or notice of m@v1.0.0"},
		missing(write(good), module("m", "v1.0.0", mit+" and my house")))
	assert.Equal(t, []string{"m@v1 has no licence"}, wrong(map[string]linked{"m": {Path: "m", Version: "v1"}}))
	for text, want := range map[string]string{
		"GNU AFFERO GENERAL PUBLIC LICENSE\n   Version 3": "GPL",
		mit + "\n“Commons Clause” License Condition v1.0": "Commons-Clause",
		"Business Source License 1.1":                     "BUSL",
		"Do as you like.":                                 "unknown: LICENSE.txt",
	} {
		assert.Equal(t, []string{"m@v1 has the licence " + want + ", which is not allowed"}, wrong(module("m", "v1", text)))
	}
	assert.Equal(t, []string{"BSD-2-Clause"}, kindsOf("Redistribution and use in source and binary forms"))
	assert.Equal(t, []string{"BSD-3-Clause"}, kindsOf("Redistribution and use in source and\n\tbinary forms … Neither the name of"))
	assert.Equal(t, []string{"Apache-2.0", "MIT"}, kindsOf("Apache License\n    Version 2.0, January 2004\n"+mit))
	assert.Equal(t, []string{"MPL-2.0"}, kindsOf("Mozilla Public License Version 2.0\n … GNU General Public License, Version 2.0"))
}
