package config

import (
	"reflect"
	"slices"
)

// Differences returns the keys of the settings that have another value in to, and tree if the text
// of the trees differs.
func (c *Config) Differences(to *Config) (keys []string) {
	theirs := to.Settings()
	for i, s := range c.Settings() {
		if !reflect.DeepEqual(s.value(true), theirs[i].value(true)) {
			keys = append(keys, s.Key)
		}
	}
	if c.treeText != to.treeText && !slices.Contains(keys, "tree") {
		keys = append(keys, "tree")
	}
	return keys
}

// WithRights returns a copy of c with the rights of another configuration: what peers, operators and
// cookies may do.
func (c *Config) WithRights(of *Config) *Config {
	fresh := *c
	fresh.Allow, fresh.Operators, fresh.Cookies = of.Allow, of.Operators, of.Cookies
	return &fresh
}
