package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	if os.Getenv("CHAT_TEST_MAIN") != "" { // the test program stands for the chat
		main()
		return
	}
	os.Exit(m.Run())
}

func chatCommand(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), "CHAT_TEST_MAIN=1", "ACTORNODE_COOKIE=secret-of-a-test")
	return cmd
}

func TestConfigurations(t *testing.T) {
	for _, file := range []string{"a.yaml", "b.yaml", "c.yaml"} {
		out, err := chatCommand(t, "check", file).CombinedOutput()
		require.NoError(t, err, "%s: %s", file, out)
	}
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	require.NoError(t, os.WriteFile(bad, []byte("name: a@127.0.0.1\nchat: {queue: 0}\n"), 0o600))
	out, err := chatCommand(t, "check", bad).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "queue")
}

// The program itself, with sockets: a browser connects, and the signal to stop closes its connection with 1001.
func TestProgram(t *testing.T) {
	file := filepath.Join(t.TempDir(), "chat.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`
name: chat@127.0.0.1
discovery: {epmd: false, peers: {other@127.0.0.1: "127.0.0.1:1"}}
listen: {erlang: "-"}
chat: {listen: "127.0.0.1:0"}
`), 0o600))
	cmd := chatCommand(t, "start", "--config", file)
	log, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	address := ""
	lines := bufio.NewScanner(log)
	for address == "" && lines.Scan() {
		if m := regexp.MustCompile(`browsers can connect.* address=(\S+)`).FindStringSubmatch(lines.Text()); m != nil {
			address = m[1]
		}
	}
	require.NotEmpty(t, address)
	logged := make(chan error, 1)
	go func() { // ends with the program
		for lines.Scan() {
		}
		logged <- lines.Err()
	}()
	conn, _, err := websocket.Dial(t.Context(), "ws://"+address+"/room/lobby?name=ann", nil)
	require.NoError(t, err)
	defer conn.CloseNow()
	ann := &person{conn, t}
	ann.sees("ann")
	ann.say("hello")
	ann.hears("ann", "hello")
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, websocket.StatusGoingAway, ann.closed())
	require.NoError(t, <-logged)
	require.NoError(t, cmd.Wait())
}
