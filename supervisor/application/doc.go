// Package application is Erlang's applications: named supervision trees with an
// environment, a version and dependencies, which a node starts and stops in order.
//
// # Nouns
//
//   - A [Spec] describes an application: its name, what it depends on, its
//     environment, the supervisor at its top. It is OTP's .app file and callback
//     module in one.
//   - A [Controller] runs the applications of a node, one a node: load, start,
//     stop, list.
//   - A [Type] says what the end of an application means to the others: permanent,
//     transient, temporary.
//   - An [EndedError] says which application has taken all others down.
//
// How a daemon uses it:
//
//	c, err := application.Start(ctx, n)
//	c.Load(store)
//	c.Load(shop)              // Depends: store
//	err = c.StartAll(ctx)     // store, then shop
//	select {
//	case <-c.Done():          // one that is permanent has ended, the others have been stopped
//		log.Error("stopping", "error", c.Err())
//	case <-signalled:
//		err = c.StopAll(ctx)  // shop, then store
//	}
//	n.Stop()
//
// # Semantics
//
// Those of OTP's application and application_controller modules; the tests run
// the same commands on both. Start of an application whose dependency has not been
// started is an error, not_started; EnsureAllStarted starts those first. What is
// started first is stopped last.
//
//	end of an application    temporary   transient             permanent
//	stopped by Stop          logged      logged                logged
//	reason normal            logged      logged                all others are stopped
//	another reason           logged      all others stopped    all others are stopped
//	start fails              logged      all others stopped    all others are stopped
//
// As in OTP, a supervisor that gives up exits with shutdown, which is not normal.
// When all others have been stopped, the last started first, the controller exits
// with {application_terminated | application_start_failure, Name, Reason}, Done is
// closed and Err says the same. In OTP the node goes down then; here it is for
// whoever watches Done to stop it.
//
// An application that has ended has still been started, until it is stopped: those
// that depend on it may not be started (not_running), and it may be, again.
//
// # Processes
//
//	application_controller   registered; handles requests one at a time
//	└── master               one an application, linked: calls Start, PrepStop and Stop
//	    └── top process      linked: the supervisor of Spec.Top, or what Start returns
//
// # Protocol
//
// From Go, the methods of Controller. From Erlang, these functions, which the node
// exports, with OTP's arguments and answers:
//
//	application             which_applications/0,1  loaded_applications/0  info/0
//	                        start/1,2  stop/1  ensure_started/1,2  ensure_all_started/1,2
//	                        load/1  unload/1  get_key/2  get_all_key/1
//	                        get_env/2,3  get_all_env/1  set_env/3,4  unset_env/2,3
//	application_controller  get_master/1  is_running/1
//	application_master      get_child/1
//
// # Differences from OTP
//
//   - There are no .app files: an application is loaded by [Controller.Load], in
//     Go. One that is not is unknown, and answered as if its file were missing.
//   - Stops are bounded, [Spec].StopTimeout. OTP waits for ever.
//   - Dependencies in a circle are an error of EnsureAllStarted, {cycle, [Name]};
//     OTP's goes round for ever.
//   - There are no group leaders: a process that was spawned outside the tree
//     outlives its application.
//   - There are no included applications, start phases, or distributed
//     applications, and no configuration files.
//
// # Invariants
//
//  1. An application starts only if all it depends on have been started, and are
//     running if it is more than a library.
//  2. StartAll, EnsureAllStarted: dependencies first; what they have started is
//     stopped again, in reverse, if one fails.
//  3. A master's application is in one of: starting, running, neither.
//  4. No request is handled while an application is being stopped.
//  5. PrepStop is called before Stop, each at most once a run.
//
// # Goroutines
//
//	name          started by    ends with                owns
//	controller    Start         its exit, Node.Stop      who runs
//	master        Start of one  the application's end    the run of one application
//	watcher       Start         the controller's exit    Done and Err
//
// Node.Stop tells all processes to end at once, in no order: call StopAll before.
package application
