package config

import (
	"net"
	"strconv"
	"strings"
)

// check reports settings that are valid on their own but not together.
func (c *Config) check(fail func(format string, args ...any)) {
	c.checkCookies(fail)
	c.checkTLS(fail)
	c.checkRights(fail)
	c.checkProtocols(fail)
	c.checkDiscovery(fail)
	c.checkGlobal(fail)
	if c.HTTP.Listen == "off" {
		c.HTTP.Listen = ""
	}
	if _, err := strconv.ParseUint(c.HTTP.Listen, 10, 16); err == nil {
		c.HTTP.Listen = net.JoinHostPort("127.0.0.1", c.HTTP.Listen)
	}
	c.checkAddresses(fail)
	if c.HTTP.Listen == "" && c.HTTP.Pprof {
		fail("%s: needs http.listen, which is off; want an address there", c.Origin("http.pprof").Where)
	}
	if !c.given("limits.mailbox.messages") && !c.given("limits.mailbox.bytes") && c.given("limits.mailbox.policy") {
		fail("%s: needs limits.mailbox.messages or limits.mailbox.bytes", c.Origin("limits.mailbox.policy").Where)
	}
	for _, n := range c.Discovery.Join {
		if _, host, _ := strings.Cut(n, "@"); c.Name != "" && isLong(host) != isLong(c.Name[strings.IndexByte(c.Name, '@')+1:]) {
			fail("%s: %s: nodes with long names cannot connect to nodes with short names, and this node is %s",
				c.Origin("discovery.join").Where, n, c.Name)
		}
	}
}

// checkAddresses makes sure that no two listeners use the same address and port.
func (c *Config) checkAddresses(fail func(string, ...any)) {
	type place struct{ key, host, port string }
	var all []place
	for _, x := range []struct{ key, addr string }{{"listen.erlang", c.Listen.Erlang}, {"listen.native", c.Listen.Native},
		{"http.listen", c.HTTP.Listen}, {"discovery.gossip.bind", c.Discovery.Gossip.Bind}} {
		host, port, err := net.SplitHostPort(x.addr)
		if err != nil || port == "" || port == "0" {
			continue // none, or any
		}
		if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
			host = ""
		}
		for _, other := range all {
			if other.port == port && (other.host == host || other.host == "" || host == "") {
				fail("%s: the same address as %s; want another port", c.Origin(x.key).Where, c.Origin(other.key).Where)
			}
		}
		all = append(all, place{x.key, host, port})
	}
}

// isLong reports whether a name with this host is a long name.
func isLong(host string) bool { return strings.ContainsAny(host, ".:") }

// Port is the port of listen.erlang, or 0 if none is given. It is also the port assumed for a node which no setting
// locates.
func (c *Config) Port() int {
	_, port, err := net.SplitHostPort(c.Listen.Erlang)
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(port)
	return n
}

// checkCookies keeps one of cookie and cookie_file: the one with the higher rank.
func (c *Config) checkCookies(fail func(string, ...any)) {
	if c.Cookie == "" || c.CookieFile == "" {
		return
	}
	switch word, file := c.Origin("cookie"), c.Origin("cookie_file"); {
	case word.Rank == file.Rank:
		fail("%s: cannot be combined with %s; want one of the two", file.Where, word.Where)
	case word.Rank > file.Rank:
		c.CookieFile = ""
	default:
		c.Cookie = ""
	}
}

// checkGlobal makes sure that only a published node changes the defaults of global.
func (c *Config) checkGlobal(fail func(string, ...any)) {
	refuse := func(key string) {
		fail("%s: is for a published node; want --published (hidden: false) too", c.Origin(key).Where)
	}
	if c.Hidden && !c.Global.ConnectAll {
		refuse("global.connect_all")
	}
	if c.Hidden && !c.Global.PreventOverlaps {
		refuse("global.prevent_overlapping_partitions")
	}
}

// checkTLS makes sure that all three files are named, or none.
func (c *Config) checkTLS(fail func(string, ...any)) {
	var given, missing []string
	for _, s := range c.Settings() {
		switch s.Key {
		case "tls.cert", "tls.key", "tls.ca":
			if c.given(s.Key) {
				given = append(given, c.Origin(s.Key).Where)
			} else {
				missing = append(missing, "--"+s.Flag+" ("+s.Env()+", "+s.Key+")")
			}
		}
	}
	switch {
	case len(given) > 0 && len(missing) > 0:
		fail("%s: TLS needs %s too", strings.Join(given, ", "), strings.Join(missing, ", "))
	case len(given) == 0 && c.TLS.AnyHost:
		fail("%s: needs --tls-cert, --tls-key and --tls-ca (tls.cert, tls.key, tls.ca)", c.Origin("tls.any_host").Where)
	}
}
