package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/actornode/actornode/internal/strict"
	"github.com/actornode/actornode/supervisor/tree"
)

// Source is the input of a configuration. Flags override the environment, which overrides the file.
type Source struct {
	File string // name of the file, for errors and relative file names; "" if there is none
	Text []byte // its content
	// Env looks up a variable; an empty one counts as unset. If Env is nil, no variable is set.
	Env func(name string) (string, bool)
	// Flags holds the values of the given flags by name. A flag may be repeated.
	Flags map[string][]string
	// Open reads the file that the setting tree names. If Open is nil, there is no such file.
	Open func(path string) ([]byte, error)
	// Known lists what the tree may refer to.
	Known tree.Known
	// Sections holds the program's own sections by name: pointers to structs with the defaults, which Load fills.
	// [CheckSections] reports whether they can be read.
	Sections map[string]any
}

// Origin says where a setting comes from.
type Origin struct {
	Rank  Rank
	Where string // actornode.yaml:3:5: log.level; ACTORNODE_LOG_LEVEL; --log-level
}

// Rank orders the origins: the highest wins.
type Rank uint8

// The ranks, lowest first.
const (
	FromDefault Rank = iota
	FromFile
	FromEnv
	FromFlag
)

// Origin returns the origin of the setting key.
func (c *Config) Origin(key string) Origin {
	if o, ok := c.origins[key]; ok {
		return o
	}
	return Origin{Where: key}
}

// given reports whether the setting is not at its default.
func (c *Config) given(key string) bool { return c.Origin(key).Rank > FromDefault }

// Load makes a configuration. Its error joins one error for each fault: a [*strict.Error] for a fault in this file, a
// [*tree.Error] for one in the file of the tree.
func Load(s Source) (*Config, error) {
	l := &loader{c: Default(), s: s, found: make(map[string]found)}
	l.settings = l.c.Settings()
	l.c.File = s.File
	var late func()
	if s.File != "" {
		late = l.file()
	}
	l.env()
	l.flags()
	if s.Env != nil {
		port, ok := s.Env("ERL_DIST_PORT")
		l.c.distPort = ok && port != ""
	}
	l.c.check(l.fail)
	if late != nil {
		late()
	}
	if l.c.TreeFile != "" {
		l.tree()
	}
	l.checkSections()
	if l.reader != nil {
		if err := l.reader.Err(); err != nil {
			l.errs = append([]error{err}, l.errs...)
		}
	}
	if len(l.errs) > 0 {
		return nil, errors.Join(l.errs...)
	}
	return l.c, nil
}

// loader is the state of one Load.
type loader struct {
	c        *Config
	s        Source
	settings []Setting
	reader   *strict.Reader // of the file
	errs     []error        // from everything else
	inline   string         // where the tree is in the file, or ""

	found map[string]found // the program's own sections of the file, by name
}

func (l *loader) fail(format string, args ...any) {
	l.errs = append(l.errs, fmt.Errorf(format, args...))
}

// file reads the file except its tree, which depends on the rest; late reads the tree.
func (l *loader) file() (late func()) {
	r, root, ok := strict.Parse(l.s.File, l.s.Text, "settings, such as name: go@127.0.0.1")
	l.reader = r
	if !ok {
		return nil
	}
	f := &tree.File{Name: l.s.File}
	fields := l.section(r, "")
	for _, x := range f.Fields(r, l.s.Known) {
		fields = append(fields, strict.Field{Name: x.Name})
	}
	fields = append(fields, l.sections(r)...)
	got := r.Object(root, fields...)
	return func() {
		l.s.Known.Mailbox, l.s.Known.Published = l.c.Limits.Mailbox, !l.c.Hidden
		for _, x := range f.Fields(r, l.s.Known) {
			if v, there := got[x.Name]; there {
				l.inline = fmt.Sprintf("%s:%d:%d: %s", l.s.File, v.Line, v.Column, v.Path)
				x.Read(v)
				l.c.Tree = f
				text, _ := yaml.Marshal(v.Node)
				l.c.treeText += x.Name + ": " + string(text)
			}
		}
	}
}

// section returns the fields below prefix.
func (l *loader) section(r *strict.Reader, prefix string) (fields []strict.Field) {
	done := make(map[string]bool)
	for i := range l.settings {
		s := &l.settings[i]
		rest, in := strings.CutPrefix(s.Key, prefix)
		name, _, deeper := strings.Cut(rest, ".")
		switch {
		case !in || done[name]:
		case deeper:
			done[name] = true
			fields = append(fields, strict.Field{Name: name, Read: func(v strict.Value) {
				if !strict.IsNull(v) {
					r.Object(v, l.section(r, prefix+name+".")...)
				}
			}})
		default:
			fields = append(fields, strict.Field{Name: name, Read: func(v strict.Value) { l.read(r, s, v) }})
		}
	}
	return fields
}

// read reads one setting.
func (l *loader) read(r *strict.Reader, s *Setting, v strict.Value) {
	l.c.origins[s.Key] = Origin{FromFile, fmt.Sprintf("%s:%d:%d: %s", l.s.File, v.Line, v.Column, v.Path)}
	if n, is := s.Value.(compound); is {
		n.read(r, v)
		return
	}
	switch {
	case v.Kind != yaml.ScalarNode:
		r.Fail(v, "want %s", describe(s.Value))
		return
	case strict.IsNull(v):
		r.Fail(v, "empty; want %s, or leave the field out", describe(s.Value))
		return
	}
	text := v.Value
	if _, is := s.Value.(path); is && !filepath.IsAbs(text) && text != "" {
		text = filepath.Join(filepath.Dir(l.s.File), text)
	}
	if err := s.Value.Set(text); err != nil {
		r.Fail(v, "%v", err)
	}
}

func (l *loader) env() {
	if l.s.Env == nil {
		return
	}
	for i := range l.settings {
		s := &l.settings[i]
		if text, ok := l.s.Env(s.Env()); ok && text != "" {
			l.c.origins[s.Key] = Origin{FromEnv, s.Env()}
			if err := s.Value.Set(text); err != nil {
				l.fail("%s: %w", s.Env(), err)
			}
		}
	}
}

func (l *loader) flags() {
	for i := range l.settings {
		s := &l.settings[i]
		if texts := l.s.Flags[s.Not]; s.Not != "" && len(texts) > 0 {
			l.c.origins[s.Key] = Origin{FromFlag, "--" + s.Not}
			not := map[string]string{"true": "false", "false": "true"}[texts[0]]
			if err := s.Value.Set(not); err != nil {
				l.fail("--%s: %w", s.Not, err)
			}
		}
		if texts := l.s.Flags[s.Flag]; s.Flag != "" && len(texts) > 0 {
			l.c.origins[s.Key] = Origin{FromFlag, "--" + s.Flag}
			if err := s.Value.Set(strings.Join(texts, ",")); err != nil {
				l.fail("--%s%s%w", s.Flag, map[bool]string{false: " ", true: ": "}[s.Secret], err)
			}
		}
	}
}

// tree reads the file that the setting tree names.
func (l *loader) tree() {
	where := l.c.Origin("tree")
	switch {
	case l.inline != "" && where.Rank == FromFile:
		l.fail("%s: cannot be combined with %s; want one of the two", where.Where, l.inline)
		return
	case l.s.Open == nil:
		l.fail("%s: files cannot be read here", where.Where)
		return
	}
	text, err := l.s.Open(l.c.TreeFile)
	if err != nil {
		l.fail("%s: %w", where.Where, err)
		return
	}
	l.s.Known.Mailbox, l.s.Known.Published = l.c.Limits.Mailbox, !l.c.Hidden
	f, err := tree.Check(l.c.TreeFile, strings.NewReader(string(text)), l.s.Known)
	if err != nil {
		l.errs = append(l.errs, err)
		return
	}
	l.c.Tree, l.c.treeText = f, string(text)
}
