package supervisor_test

// The reasons for deviations; except for the last two, see "Differences from OTP" in doc.go.
const (
	endsAtOnce   = "an exit signal of the parent ends the supervisor while a child starts, too"
	answersCalls = "what it does not know is answered, or dropped"
	forgets      = "a dynamic child that is ignored at its restart is forgotten"
	counts       = "a child that is terminated between two tries is counted right"
	noInfo       = "nothing in Go stands for the Info of {ok, Pid, Info}"
	noInit       = "a Spec is a value; there is no init/1 that could return something else"
)

var deviations = map[string]deviation{
	"invalid: init/1 returns something else": {reason: noInit, skip: true},

	"request: start_child: the answers": {reason: noInfo, lines: map[string]string{
		"-> {ok,c,{some,info}}": "-> {ok,c}"}},
	"request: restart_child: with information, and ignored": {reason: noInfo, lines: map[string]string{
		"-> {ok,a2,{port,80}}": "-> {ok,a2}"}},
	"simple: the answers of start_child": {reason: noInfo, lines: map[string]string{
		"-> {ok,w,{port,80}}": "-> {ok,w}"}},

	"peculiar: an unknown call ends the supervisor": {reason: answersCalls, lines: map[string]string{
		"told a shutdown": "", "down a shutdown": "", "ended s function_clause": "",
		"-> {'EXIT',function_clause}": "-> {error,{unhandled_request,hello}}"}},
	"peculiar: an unknown cast ends the supervisor": {reason: answersCalls, lines: map[string]string{
		"told a shutdown": "", "down a shutdown": "", "ended s function_clause": ""}},

	"peculiar: simple_one_for_one: terminated between the tries by its old pid, and then too few are active": {reason: counts,
		lines: map[string]string{
			"-> [{specs,1},{active,0},{supervisors,0},{workers,1}]": "-> [{specs,1},{active,1},{supervisors,0},{workers,1}]"}},
	"peculiar: simple_one_for_one: a restart that is ignored leaves a child without a process": {reason: forgets,
		lines: map[string]string{
			"-> [{undefined,undefined,worker,[mod]}]":                             "-> []",
			"-> [{specs,1},{active,1},{supervisors,0},{workers,1}]":               "-> [{specs,1},{active,0},{supervisors,0},{workers,0}]",
			"-> [{undefined,undefined,worker,[mod]},{undefined,w2,worker,[mod]}]": "-> [{undefined,w2,worker,[mod]}]"}},
	"peculiar: simple_one_for_one: and with such a child it cannot end well": {reason: forgets, lines: map[string]string{
		"told w2 function_clause": "told w2 shutdown",
		"down w2 function_clause": "down w2 shutdown",
		"ended s function_clause": "ended s shutdown"}},

	"parent: the signal of the parent waits until the supervisor has done what it does": {reason: endsAtOnce, answer: `
start s
  started a
  started b
  -> {ok,s}
exit a oops
  down a oops
  holding a
signal s shutdown
  down b shutdown
  ended s shutdown
release a`},
	"parent: requests that come before it are": {reason: endsAtOnce, answer: `
start s
  started a
  -> {ok,s}
exit a oops
  down a oops
  holding a
which s
signal s shutdown
  which s -> {'EXIT',shutdown}
  ended s shutdown
which s
  -> {'EXIT',noproc}
release a`},
	"retry: between the tries: the parent ends the supervisor": {reason: endsAtOnce, answer: `
start s
  started a
  started b
  -> {ok,s}
exit a oops
  down a oops
  holding a
signal s shutdown
  down b shutdown
  ended s shutdown
release a`},
	"retry: simple_one_for_one: the parent ends the supervisor between the tries": {reason: endsAtOnce, answer: `
start s
  -> {ok,s}
start_child s []
  started w
  -> {ok,w}
start_child s []
  started w2
  -> {ok,w2}
exit w oops
  down w oops
  holding w
signal s shutdown
  down w2 shutdown
  ended s shutdown
release w`},
}
