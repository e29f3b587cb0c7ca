// Package config reads the configuration of the daemon: a file, variables and flags go in, and a [Config] or all errors
// come out.
//
// # Nouns
//
//   - A [Config] holds all settings of a daemon.
//   - A [Source] is its input: a YAML file, the environment, and flags.
//   - A [Setting] is one field with its key in the file, its flag, its variable and its description. [Config.Settings]
//     lists them all. The keys of the file, the flags, the table in docs/configuration.md and the output of actornode check
//     --print all come from that list.
//   - An [Origin] says where a value comes from: a flag overrides the environment, which overrides the file, which
//     overrides the default.
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
// docs/configuration.md lists the fields. An unknown field is an error, and so is a field without a value. Names of files
// are relative to the file. The tree (supervisor or applications) has the format of package supervisor/tree; the field tree
// names a separate file for it.
//
// A list in a variable is separated by commas: ACTORNODE_PROTOCOLS=native,erlang,
// ACTORNODE_DISCOVERY_PEERS=a@h=h:4370,b@h=:4371. An empty variable counts as unset.
//
// # Invariants
//
//  1. Load opens files only through Source.Open, starts nothing and does not use the network.
//  2. Load reports all errors at once, except those hidden by broken YAML.
//  3. No error shows a cookie, and neither does YAML(false).
//  4. The output of YAML(true) loads as the same Config.
//
// # Goroutines
//
// None.
//
// # Limits and versions
//
// Those of package internal/strict.
package config
