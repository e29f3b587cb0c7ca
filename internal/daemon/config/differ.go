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

// Changeable are the settings that a running daemon can change.
var Changeable = []string{"allow", "cookies", "log.level", "operators"}

// With returns a copy of c with the Changeable settings of another configuration.
func (c *Config) With(of *Config) *Config {
	fresh := *c
	fresh.Allow, fresh.Cookies, fresh.Log.Level, fresh.Operators = of.Allow, of.Cookies, of.Log.Level, of.Operators
	return &fresh
}
