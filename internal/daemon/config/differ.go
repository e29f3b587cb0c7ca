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
var Changeable = []string{"allow", "cookie", "cookie_file", "cookie_overlap", "cookies", "discovery.gossip.old_cookies",
	"discovery.peers", "log.level", "old_cookies", "operators", "rights.cookies", "rights.rules",
	"tls.any_host", "tls.ca", "tls.cert", "tls.key", "tls.min_version"}

// With returns a copy of c with the Changeable settings of another configuration.
func (c *Config) With(of *Config) *Config {
	fresh := *c
	fresh.Allow, fresh.Log.Level, fresh.Operators = of.Allow, of.Log.Level, of.Operators
	fresh.Cookie, fresh.CookieFile, fresh.Cookies = of.Cookie, of.CookieFile, of.Cookies
	fresh.Rights, fresh.TLS = of.Rights, of.TLS
	fresh.OldCookies, fresh.CookieOverlap = of.OldCookies, of.CookieOverlap
	fresh.Discovery.Gossip.OldCookies, fresh.Discovery.Peers = of.Discovery.Gossip.OldCookies, of.Discovery.Peers
	return &fresh
}
