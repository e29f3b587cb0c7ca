package config

import (
	"errors"
	"fmt"
	"slices"
)

// missing is what the file may name and this version does not have. An entry is
// taken out when it has.
var missing = map[string]string{
	"protocols native": "the native protocol is not there yet; allowed: erlang",
	"peers native":     "the native protocol is not there yet; want HOST:PORT, of the Erlang protocol",
	"listen.native":    "the native protocol is not there yet; allowed: listen.erlang",
	"discovery.dns":    "finding nodes by DNS is not there yet; allowed: epmd, peers, join",
	"discovery.gossip": "finding nodes by gossip is not there yet; allowed: epmd, peers, join",
	"published":        "a published node is not supported yet: it must take part in global; allowed: hidden",
}

// errMissing is what is said of what is missing; nil: it is there.
func errMissing(what string) error {
	if why, is := missing[what]; is {
		return errors.New(why)
	}
	return nil
}

// later is check, after what must be there is.
func later(what string, check func(string) error) func(string) error {
	return func(text string) error {
		whats := []string{what, what + " " + text}
		if i := slices.IndexFunc(whats, func(w string) bool { return missing[w] != "" }); i >= 0 {
			return fmt.Errorf("%s: %w", show(text), errMissing(whats[i]))
		}
		if check == nil {
			return nil
		}
		return check(text)
	}
}
