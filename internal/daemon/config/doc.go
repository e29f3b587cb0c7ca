// Package config is the configuration of the daemon: bytes, variables and flags
// in, a [Config] out, or all that is wrong with them.
//
// # Nouns
//
//   - A [Config] is what a daemon runs by.
//   - A [Source] is what it is made from: a file in YAML, the environment, flags.
//   - A [Setting] is one field with its key in the file, its flag, its variable and
//     what it means. [Config.Settings] lists them all, and everything is made from
//     that list: what the file may have, the flags, the table in docs/configuration.md, what
//     actornode check --print shows.
//   - An [Origin] says where a setting comes from: flag before environment before
//     file before default.
//
// How it is used:
//
//	c, err := config.Load(config.Source{File: "actornode.yaml", Text: text, Env: os.LookupEnv, Open: os.ReadFile, Known: known})
//	if err != nil {
//		fmt.Println(err) // a line for each thing that is wrong
//	}
//
// # File
//
//	name: go@127.0.0.1
//	cookie_file: /etc/actornode/cookie
//	listen: {erlang: "127.0.0.1:4370"}
//	discovery:
//	  join: [erl@127.0.0.1]
//	log: {level: info, format: json}
//	http: {listen: "9100"}
//	supervisor:
//	  children: [{name: counter, start: demo:counter}]
//
// The fields are in docs/configuration.md. A field that is not known is an error, and so is one
// without a value. Names of files are relative to the file. The tree, supervisor or
// applications, is as in package supervisor/tree; with the field tree it is in a
// file of its own.
//
// A list in a variable has commas between: ACTORNODE_PROTOCOLS=native,erlang,
// ACTORNODE_DISCOVERY_PEERS=a@h=h:4370,b@h=:4371. A variable that is empty counts
// as not set.
//
// # Invariants
//
//  1. Load opens nothing but what Source.Open does, starts nothing and asks nobody.
//  2. All that is wrong is found at once, except what only broken YAML hides.
//  3. No error and no print has a cookie in it.
//  4. What YAML(true) prints loads as the same Config.
//
// # Goroutines
//
// None.
//
// # Limits and versions
//
// Those of package internal/strict.
package config
