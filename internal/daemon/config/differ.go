package config

import (
	"reflect"
	"slices"
	"strings"
)

// Differences returns the keys of the settings whose values differ in to, and "tree" if the texts of the trees differ.
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

// changeable lists the settings that a running daemon can change. An entry that ends in a dot is a prefix.
var changeable = []string{"allow", "cookie", "cookie_file", "cookie_overlap", "cookies", "discovery.dns.", "discovery.epmd_hosts",
	"discovery.gossip.old_cookies", "discovery.join", "discovery.peers", "drain_timeout", "limits.", "log.level", "old_cookies",
	"operators", "rights.", "tls."}

// fixed lists exceptions to the prefixes in changeable: the process table has a fixed size, and the tree configures the
// mailboxes of its workers.
var fixed = []string{"limits.processes", "limits.mailbox."}

// IsChangeable reports whether a running daemon can change the setting.
func IsChangeable(key string) bool {
	among := func(all []string) bool {
		return slices.ContainsFunc(all, func(k string) bool {
			return k == key || strings.HasSuffix(k, ".") && strings.HasPrefix(key, k)
		})
	}
	return among(changeable) && !among(fixed)
}

// With returns a copy of c with the changeable settings of another configuration.
func (c *Config) With(of *Config) *Config {
	fresh := *c
	fresh.Allow, fresh.Log.Level, fresh.Operators = of.Allow, of.Log.Level, of.Operators
	fresh.Cookie, fresh.CookieFile, fresh.Cookies = of.Cookie, of.CookieFile, of.Cookies
	fresh.Rights, fresh.TLS = of.Rights, of.TLS
	fresh.OldCookies, fresh.CookieOverlap, fresh.DrainTimeout = of.OldCookies, of.CookieOverlap, of.DrainTimeout
	d := &fresh.Discovery
	d.Gossip.OldCookies, d.Peers, d.Join = of.Discovery.Gossip.OldCookies, of.Discovery.Peers, of.Discovery.Join
	d.EPMDHosts, d.DNS = of.Discovery.EPMDHosts, of.Discovery.DNS
	fresh.Limits = of.Limits
	fresh.Limits.Processes, fresh.Limits.Mailbox = c.Limits.Processes, c.Limits.Mailbox
	return &fresh
}
