// Package application implements Erlang's applications: named supervision trees with an environment, a version and
// dependencies, which a node starts and stops in order.
//
// # Nouns
//
//   - A [Spec] describes an application: its name, what it depends on, its
//     environment, the supervisor at its top. It is OTP's .app file and callback
//     module in one.
//   - A [Controller] runs the applications of a node: load, start, stop, list. A node
//     has one controller.
//   - A [RestartType] determines what the end of an application means for the others:
//     permanent, transient, temporary.
//   - An [Error] describes a failure; that of [Controller.Err] names the application whose end stopped all others.
//
// How a daemon uses it:
//
//	c, err := application.Start(ctx, n)
//	c.Load(store)
//	c.Load(shop)              // Depends: store
//	err = c.StartAll(ctx)     // store, then shop
//	select {
//	case <-c.Done():          // a permanent application has ended, and the others have been stopped
//		log.Error("stopping", "error", c.Err())
//	case <-signalled:
//		err = c.StopAll(ctx)  // shop, then store
//	}
//	n.Stop()
//
// # Semantics
//
// The semantics are those of OTP's modules application and application_controller; the
// tests run the same commands on both. Starting an application whose dependency has not
// been started is an error, not_started; EnsureAllStarted starts the dependencies first.
// Applications stop in the reverse order of their start.
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
// closed and Err returns the same reason. In OTP the node then goes down; here the code
// that watches Done decides.
//
// An application that has ended still counts as started until it is stopped. Applications
// that depend on it cannot be started (not_running); it can be started again itself.
//
// # Processes
//
//	application_controller   registered; handles requests one at a time
//	└── master               one per application, linked: calls Start, PrepStop and Stop
//	    └── top process      linked: the supervisor of Spec.Top, or the process that Start returns
//
// # Protocol
//
// From Go, the methods of Controller. From Erlang, these functions, which the node
// exports, with OTP's arguments and results:
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
//   - There are no .app files: Go code loads an application with [Controller.Load]. For any other name the result is that
//     of OTP for a missing file.
//   - [Spec].StopTimeout bounds stops; OTP waits for ever.
//   - A cycle of dependencies is an error of EnsureAllStarted, {cycle, [Name]}; OTP's
//     does not end.
//   - There are no group leaders: a process that was spawned outside the tree
//     outlives its application.
//   - There are no included applications, start phases, or distributed
//     applications, and no configuration files.
//
// # Invariants
//
//  1. An application starts only if all its dependencies have been started. Unless it is
//     a library application, they must also be running.
//  2. StartAll and EnsureAllStarted start dependencies first. If one start fails, they
//     stop what they started, in reverse order.
//  3. A master's application is in one of: starting, running, neither.
//  4. No request is handled while an application is being stopped.
//  5. PrepStop is called before Stop, each at most once per run.
//
// # Goroutines
//
//	name          started by    ends with                owns
//	controller    Start         its exit, Node.Stop      which applications run
//	master        Start of one  the application's end    the run of one application
//	watcher       Start         the controller's exit    Done and Err
//
// Node.Stop ends all processes at once, in no order: call StopAll before.
package application
