package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// commandText suggests commands for another terminal; $1 and $2 are nodes.
const commandText = `
    $RUN status -n $1              # the state of a node
    $RUN nodes -n $1               # its connections, and their protocols
    $RUN tree -n $2                # what runs there
    $RUN call -n $1 counter '{add, 5}'
    $RUN call -n $2 "{counter, '$1@127.0.0.1'}" get   # the same process, through another node
    $RUN spawn -n $2 --name mine demo counter
    $RUN trace -n $1 counter       # every message, live: call counter meanwhile
    $RUN kill -n $1 counter        # its supervisor starts another: ps shows a new PID
    $RUN ps -n $1 counter
    $RUN top -n $1                 # live
    kill -9 $($RUN status -n $2 --json | sed 's/.*"pid":\([0-9]*\).*/\1/')  # kills a whole node, which is then restarted
`

const erlText = `
From an Erlang shell:

    $EPMDerl -name me@127.0.0.1 -setcookie $COOKIE
    gen_server:call({counter, '$1@127.0.0.1'}, {add, 5}).
    supervisor:which_children({demo, '$2@127.0.0.1'}).
    erlang:monitor(process, {counter, '$1@127.0.0.1'}).   % then, in the other terminal: $RUN kill -n $1 counter
    flush().
    nodes(hidden).
`

// next returns the text with commands to try.
func (c *cluster) next() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%d nodes are up and connected to each other:", len(c.members))
	r := []string{"$COOKIE", c.cookie}
	for i, m := range c.members {
		short, _, _ := strings.Cut(m.name, "@")
		fmt.Fprintf(&b, " %s", m.name)
		if i < 2 {
			r = append(r, fmt.Sprintf("$%d", i+1), short)
		}
	}
	port := ""
	if p, ok := c.env.lookup("ERL_EPMD_PORT"); ok && p != "" {
		port = "ERL_EPMD_PORT=" + p + " "
	}
	r = append(r, "$EPMD", port, "$RUN", c.env.program.name())
	b.WriteString("\n\nIn another terminal:\n\n    export ACTORNODE_COOKIE=" + c.cookie + "\n")
	if port != "" {
		b.WriteString("    export " + strings.TrimSpace(port) + "\n")
	}
	run := c.env.program.name()
	if found, err := exec.LookPath(run); err != nil || !same(found, c.self) {
		b.WriteString("    " + run + "() { " + quoted(c.self) + " \"$@\"; }     # this program, while the cluster runs\n")
	}
	b.WriteString(strings.NewReplacer(r...).Replace(commandText))
	b.WriteString("\nFrom Go, in the folder of this repository (the program is in deploy/samples/hello):\n\n    go run " +
		"./deploy/samples/hello " + c.members[0].name + "\n")
	if _, err := exec.LookPath("erl"); err == nil {
		b.WriteString(strings.NewReplacer(r...).Replace(erlText))
	}
	b.WriteString("\nCtrl-C ends them all.\n\n")
	return b.String()
}

// same reports whether two names refer to the same file.
func same(a, b string) bool {
	x, err1 := filepath.EvalSymlinks(a)
	y, err2 := filepath.EvalSymlinks(b)
	if err1 != nil || err2 != nil {
		return a == b
	}
	i, err1 := os.Stat(x)
	j, err2 := os.Stat(y)
	return err1 == nil && err2 == nil && os.SameFile(i, j)
}

// quoted quotes s as one word for a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
