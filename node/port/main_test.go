package port

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

func TestMain(m *testing.M) {
	if _, err := exec.LookPath("python3"); err != nil { // an example cannot skip itself
		fmt.Println("no python3 on PATH: the example is skipped")
		flag.Set("test.skip", "^Example")
	}
	if r, w, err := os.Pipe(); err == nil { // the runtime's own files are opened with the first
		r.Close()
		w.Close()
	}
	os.Exit(m.Run())
}
