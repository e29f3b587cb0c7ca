//go:build unix

package port

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/actornode/actornode/internal/testkit"
)

func TestMain(m *testing.M) {
	if name, ok := os.LookupEnv(programVar); ok { // a port of the tests runs it
		os.Unsetenv(programVar)
		programs[name](os.Args[1:])
		return
	}
	if _, err := exec.LookPath("python3"); err != nil || testkit.At() < testkit.Merge { // an example cannot skip itself
		flag.Parse()
		skip := flag.Lookup("test.skip").Value
		without := "^Example"
		if is := skip.String(); is != "" {
			without += "|" + is
		}
		fmt.Println("left to make merge, where python3 is: the example")
		skip.Set(without)
	}
	if r, w, err := os.Pipe(); err == nil { // the runtime's own files are opened with the first
		r.Close()
		w.Close()
	}
	os.Exit(m.Run())
}
