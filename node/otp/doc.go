// Package otp answers OTP's own tools: observer, etop, appmon, dbg and rpc calls find here the functions that they call
// on an Erlang node. It also prints: what Go code prints for a caller on another node appears in that caller's shell.
//
// # Nouns
//
//   - [Serve] makes a node answer the calls in the tables below. A [Config] says how.
//   - The process user writes what it receives by Erlang's I/O protocol.
//   - The process logger_proxy writes the events of other nodes to the node's own log. OTP loggers send an event to the
//     node of the process's group leader, for example crash reports of calls that this node has made there.
//   - The group leader of a process is the process that prints for it. A process inherits it from the process that
//     spawned it; the default is user. [Print] and [Writer] print through it.
//
// An exported function that prints where it is called from:
//
//	func greet(ctx context.Context, args []any) (any, error) {
//		_, err := fmt.Fprintf(otp.Writer(ctx), "hello %s\n", wire.Format(args[0]))
//		return wire.AtomOK, err
//	}
//
//	1> rpc:call('go@host', greeter, greet, [world]).
//	hello world
//	ok
//
// # What is answered
//
// Answers have the shapes of OTP 25, which a test compares with a real node; what OTP 26 to 28 ask for in addition is
// there too. R: a real value; E: an estimate, see below; C: a constant that says nothing about Go.
//
//	erlang
//	node/0,1  nodes/0-2  is_alive  registered  processes  whereis  is_process_alive        R
//	process_info/1,2                                                                      see the next table
//	group_leader/0  self/0                  R, of the process that runs the call
//	memory/0,1                              R total, processes (Go's heap and stacks), system (the rest); C the others: 0
//	statistics  wall_clock  runtime  io     R; io counts connections to other nodes
//	  garbage_collection  context_switches  run_queue  run_queue_lengths  total_run_queue_lengths  active_tasks  …  R
//	  reductions  exact_reductions          E microseconds of CPU time
//	  scheduler_wall_time                   E CPU time of the program, in equal parts for each of GOMAXPROCS
//	system_info  process_count  process_limit  schedulers…  logical_processors…  creation  version  system_architecture  R
//	  {allocator_sizes, L}                  R go_heap, go_stack, go_runtime
//	  otp_release, limits of atoms, ports, ets and the rest that observer reads  C
//	system_flag(scheduler_wall_time, _)     accepted: measuring is always on
//	garbage_collect/0,1,2                   true; runs Go's at most once a second
//	function_exported  module_loaded  loaded                                              R
//	ports  port_info                        []  undefined
//	exit/2  send/2  register/2  unregister/1  unique_integer/0                            R
//	error/1  exit/1  throw/1                the exception
//	apply/2,3                               exported functions; a fun of another node is undef
//	timestamp  localtime  universaltime  system_time/0,1  monotonic_time/0,1              R
//
//	net_kernel    nodes_info/0                     R; owner undefined
//	timer         sleep/1                          R
//	io            format/1,2  put_chars/1  nl/0    prints through the caller's group leader
//
//	observer_backend
//	vsn  sys_info  get_port_list  get_socket_list  socket_info  get_table_list  get_table
//	                                               sys_info: all keys; ports, sockets, tables: none
//	procs_info/1  etop_collect/1  fetch_stats/2    spawned; the first two can also be called
//	appmon_info   start_link/3  start_link2/3      and the process answers app_ctrl, app, load, pinfo
//	dbg           do_relay/2 (spawned)             dbg can add the node, which traces nothing
//
//	code          ensure_loaded  is_loaded  which  all_loaded    modules: those that export something
//	any module    module_info/0,1                  attributes name the behaviour
//	proc_lib      translate_initial_call  initial_call  get_label
//	sys           get_status/1,2  get_state/1,2
//	gen_server    call/2,3  cast/2
//	gen_event     which_handlers/1
//	supervisor    which_children  count_children  get_callback_module
//	ets           all  info/1,2  whereis           none
//
// A function that is not listed is undef at once, and so is every fun; badarg is raised where OTP raises it. Package
// application exports application and application_controller.
//
//	item of process_info             answer
//	registered_name, links, monitors, monitored_by, parent, group_leader, trap_exit,
//	status, message_queue_len        R; status: exiting, running, runnable, waiting
//	messages                         R, as terms, at most Config.Messages; not those of a bounded mailbox
//	reductions                       R messages handled
//	initial_call                     R the function of a Process or an ActorFunc, else {Type, init, 1};
//	                                 for OTP's behaviours {proc_lib, init_p, 5}
//	current_function, _location, _stacktrace  E where such a process waits; for behaviours where OTP's do
//	dictionary, {dictionary, Key}    R $initial_call, $ancestors, $process_label
//	label                            R
//	memory, heap_size, total_heap_size        E 256 bytes for an Actor, 4096 for a Process, 64 a message
//	priority, error_handler, garbage_collection, trace, …  C
//
// Processes that answer system messages are recognized by the package of their type: genserver, statem, event,
// supervisor. For others proc_lib:translate_initial_call returns {proc_lib, init_p, 5}, and observer sends them no
// system messages.
//
// # I/O protocol
//
//	{io_request, From, ReplyAs, Request}    to user, or from Print to a group leader
//	{io_reply, ReplyAs, Reply}
//
//	Request to user                                          Reply
//	{put_chars, [Encoding,] Chars}                           ok | {error, put_chars}
//	{put_chars, [Encoding,] io_lib, format, [Format, Args]}  ok | {error, format}; fwrite, write, print too
//	{requests, Requests}                                     the reply to the last, or to the first that fails
//	get_line, get_chars, get_until, get_password             eof
//	getopts                                                  [{binary, false}, {encoding, unicode}]
//	setopts, get_geometry                                    {error, enotsup}
//	anything else                                            {error, request}
//	                                                         {error, terminated} if the Output fails
//
// Encoding is unicode or latin1; the default is latin1. ~p and ~P do not break lines, ~W and ~P ignore their depth, ~K
// its order.
//
// A process spawned from another node gets its group leader from there, and passes it on to processes that it spawns;
// Options.Leader sets another. The signal group_leader, which Erlang's group_leader(Leader, Pid) sends, replaces the
// group leader of a process, which passes the new one on if it had one before.
//
// # Invariants
//
//  1. No answer takes longer than its caller waits: a wait for another process ends with the call's context or timeout.
//  2. The data that one call makes a node collect is bounded: Config.Messages of a mailbox, 10,000 processes a chunk,
//     100,000 in a tree, 1 MiB in one print.
//  3. appmon_info sends a client a result again only when it has changed.
//  4. The io counters never decrease, whatever connections end.
//  5. The node logs at most 50 events of other nodes per second, of 8 KiB each, and logs how many it has left out.
//
// # Goroutines
//
//	name                      started by             ends with              owns
//	user                      Serve                  Node.Stop              Config.Output
//	logger_proxy              Serve                  Node.Stop              how many events it has logged
//	appmon_info               the first start_link2  its last client        what clients have asked for
//	procs_info, etop_collect  a spawn from outside   its last message       nothing
//	fetch_stats, do_relay     a spawn from outside   any message, an exit   nothing
//
// # Limits
//
// Nothing is traced, and there are no ports, sockets, tables or atoms to count: a connection is not a port. Go does not
// report the memory of a single process. Listing calls Node.Info for each process, so observer costs what listing
// costs.
package otp
