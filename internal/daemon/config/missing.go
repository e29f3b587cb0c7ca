package config

import "errors"

// missing is what the file may name and this version does not have. An entry is
// taken out when it has.
var missing = map[string]string{
	"published": "published nodes are not supported yet, since they must take part in global; allowed: hidden",
}

// errMissing is what is said of what is missing; nil: it is there.
func errMissing(what string) error {
	if why, is := missing[what]; is {
		return errors.New(why)
	}
	return nil
}
