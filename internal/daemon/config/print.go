package config

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// masked replaces a secret.
const masked = "********"

// YAML returns the configuration as a file with the origin of each setting. It names the tree but does not include it.
// Unless secret is set, cookies are masked, and the file cannot be used to start a daemon.
func (c *Config) YAML(secret bool) []byte {
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, s := range c.Settings() {
		v := s.value(secret)
		if v == nil {
			continue
		}
		n := new(yaml.Node)
		if err := n.Encode(v); err != nil {
			panic(err) // only texts, lists and maps of texts
		}
		if n.Kind != yaml.ScalarNode {
			n.Style = yaml.FlowStyle // on one line, with the comment
		}
		if o := c.Origin(s.Key); o.Rank == FromDefault {
			n.LineComment = "default"
		} else {
			n.LineComment = strings.TrimSuffix(o.Where, ": "+s.Key)
		}
		put(root, strings.Split(s.Key, "."), n)
	}
	if c.Tree != nil && c.TreeFile == "" {
		root.FootComment = "and the tree in " + c.Tree.Name
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// value is the value of s in the file, or nil if it is left out.
func (s *Setting) value(secret bool) any {
	if n, is := s.Value.(compound); is {
		return n.yaml(secret)
	}
	text := s.Value.String()
	switch s.Value.(type) {
	case flag:
		return text == "true"
	}
	switch {
	case text == "":
		return nil
	case s.Secret && !secret:
		return masked
	}
	switch s.Value.(type) {
	case count, size, memory:
		if n, err := strconv.Atoi(text); err == nil {
			return n
		}
	}
	return text
}

// put stores n at path.
func put(m *yaml.Node, path []string, n *yaml.Node) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == path[0] {
			put(m.Content[i+1], path[1:], n)
			return
		}
	}
	key := &yaml.Node{Kind: yaml.ScalarNode, Value: path[0]}
	if len(path) == 1 {
		m.Content = append(m.Content, key, n)
		return
	}
	below := &yaml.Node{Kind: yaml.MappingNode}
	m.Content = append(m.Content, key, below)
	put(below, path[1:], n)
}

// Table returns all settings as a Markdown table, for docs/configuration.md.
func Table() string {
	var b strings.Builder
	b.WriteString("| field | flag | variable | default | at SIGHUP | allowed | what it is |\n|---|---|---|---|---|---|---|\n")
	for _, s := range Default().Settings() {
		name := ""
		if s.Flag != "" {
			name = "`--" + s.Flag + "`"
		}
		if s.Not != "" {
			name = strings.TrimPrefix(name+", `--"+s.Not+"`", ", ")
		}
		was := s.Value.String()
		if was != "" {
			was = "`" + was + "`"
		}
		change := ""
		if IsChangeable(s.Key) {
			change = "changes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | %s | %s | %s | %s |\n", s.Key, name, s.Env(), was, change,
			strings.ReplaceAll(describe(s.Value), "|", `\|`), s.Doc)
	}
	b.WriteString("| `supervisor`, `applications` | | | | | see package `supervisor/tree` | " +
		"one supervision tree, or applications |\n")
	return b.String()
}
