// Package tree reads supervision trees from YAML files, and checks a whole file before
// anything is started.
//
// # Nouns
//
//   - A [File] is a checked file: one tree, or applications.
//   - [Known] lists what a file may refer to: the behaviours that a node exports,
//     behaviours for files only, and applications that already exist.
//   - A [Make] is a behaviour for files only: it checks args and returns the start
//     function.
//   - [Check] returns each [Error] in a file, sorted by line. Its text is file:line:column: field: what is wrong, and what
//     is allowed.
//
// A file:
//
//	supervisor:
//	  name: shop                # registered name
//	  strategy: rest_for_one
//	  intensity: 10             # restarts within
//	  period: 1m
//	  children:
//	    - name: store           # registered name, and the default id
//	      start: shop:store     # exported by the node as shop:store/2
//	      args: [/var/lib/shop, !atom readonly]
//	      backoff: {initial: 100ms, max: 10s, jitter: 0.1}
//	    - id: sessions
//	      supervisor:
//	        strategy: simple_one_for_one
//	        children:
//	          - {id: session, start: shop:session, restart: temporary}
//
// and how it is used:
//
//	f, err := tree.CheckFile("shop.yaml", tree.Known{Behaviours: rpc.Behaviours(n)})
//	top, err := f.Start(ctx, n)     // one tree
//	err = f.Load(controller)        // applications; then controller.StartAll
//
// # Format
//
// A file is one YAML document with either supervisor or applications. Fields that are not listed here are errors. For their
// meaning and defaults see [supervisor.Spec], [supervisor.Child] and [application.Spec].
//
//	supervisor          name, global, strategy, intensity, period, auto_shutdown, children
//	  strategy          one_for_one, one_for_all, rest_for_one, simple_one_for_one
//	  intensity         0 means no restarts
//	  auto_shutdown     never, any_significant, all_significant
//	child               id, name, global, start or supervisor, args, restart, shutdown, type, significant, modules, backoff
//	  id                a term; text is an atom; default: name
//	  global            a name on all nodes of the cluster, for a published node: see package node/global
//	  start             module:function; the arity is the number of args, or for
//	                    simple_one_for_one at least that
//	  supervisor        a supervisor; its names are among its own fields
//	  restart           permanent, transient, temporary
//	  shutdown          a time, brutal_kill or infinity
//	  type              worker, supervisor: the kind of process that start starts
//	  modules           a list of atoms, or dynamic
//	backoff             initial, factor, max, jitter, reset
//	applications        a list of: name, description, vsn, type, depends, optional, modules,
//	                    registered, env, stop_timeout, supervisor
//	  type              permanent, transient, temporary
//	  env               a mapping of atoms to terms
//	  stop_timeout      a time or infinity
//
// Times have a unit, and are above 0: 500ms, 5s, 1m30s, 2h. A number without a unit is an error, because OTP's unit varies
// from field to field.
//
// # Terms
//
// The values of args and env are converted to terms:
//
//	text, "text"                  binary, like a Go string
//	42, 0x2a, 0o52, -1_000        integer, of any size
//	1.5, 1e3                      float
//	true, false                   atoms
//	null, ~, nothing              the atom undefined
//	[a, b]                        list
//	{a: b}                        map; keys are values like any other
//	!atom x                       atom
//	!charlist text                list of code points, like "text" in Erlang
//	!tuple [a, b]                 tuple
//	!term "{add, [5], 'X'}"       a term in Erlang syntax; see [wire.Parse]
//	!!str 42                      binary
//	!!binary aGVsbG8=             binary, from base64
//
// Dates are text. yes, no, on and off are text too, as in YAML 1.2. Names (name,
// id, depends, keys of env, …) are text and become atoms.
//
// Anchors and aliases work; merge keys (<<) do not.
//
// # Invariants
//
//  1. Check starts nothing and calls no behaviour; it only calls the functions of
//     [Known].Own, to check args.
//  2. supervisor.CheckSpecs and application's Check accept every supervisor that Check
//     accepts.
//  3. Check reports all errors of a file at once. If the YAML itself is invalid, it reports only the first error.
//  4. The limits bound the time and memory for any file.
//  5. A child gets the same args at each start, so a behaviour must not change them.
//
// # Goroutines
//
// None.
//
// # Limits and versions
//
// A file has at most 1 MiB, 100,000 values and 64 levels; each use of an alias counts its
// values again. Above a limit, reading ends with an error. At most 100 errors are
// reported. Integers have at most 1,000 digits in YAML syntax.
//
// The YAML is that of package strict: 1.2 with 1.1's octal numbers (052).
//
// If a behaviour is no longer exported when Start runs, or has become a function since
// Check, Start fails with undef.
package tree
