package cluster_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// jumps makes the victim's wall clock jump forwards, then back behind the real time, and then to the real time.
func (f *fault) jumps() {
	if runtime.GOARCH != "amd64" {
		f.t.Skip("NO CLOCK JUMPS: the code of a clock is for amd64")
	}
	clock := f.victim.clock(f.t)
	for _, ahead := range []time.Duration{time.Hour, -time.Hour} {
		f.victim.replace(f.t, clock.at, jumpedClock(ahead))
		f.victim.tells(f.t, ahead)
		f.hold(10 * time.Second)
	}
	f.victim.replace(f.t, clock.at, clock.code)
	f.victim.tells(f.t, 0)
	f.hold(10 * time.Second)
}

// clock is the function of the kernel's library (vDSO) in the memory of a container's process by which Go reads the
// time.
type clock struct {
	at   int64
	code []byte // its beginning, as long as that of jumpedClock
}

// jumpedClock is a function like __vdso_clock_gettime: it makes the system call of that name, and adds ahead to the
// wall clock.
func jumpedClock(ahead time.Duration) []byte {
	code := []byte{
		0xb8, 0xe4, 0, 0, 0, // mov  eax, 228  clock_gettime
		0x0f, 0x05, // syscall
		0x85, 0xff, // test edi, edi  CLOCK_REALTIME is 0
		0x75, 0x07, // jne  to the ret
		0x48, 0x81, 0x06, // add  qword [rsi], seconds
	}
	return append(binary.LittleEndian.AppendUint32(code, uint32(int32(ahead/time.Second))), 0xc3) // ret
}

// clock finds the clock in the memory of the container's process.
func (c *container) clock(t testing.TB) clock {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", c.pid))
	require.NoError(t, err)
	for line := range strings.Lines(string(maps)) {
		var from, to int64
		if !strings.Contains(line, "[vdso]") {
			continue
		}
		_, err := fmt.Sscanf(line, "%x-%x", &from, &to)
		require.NoError(t, err)
		text := make([]byte, to-from)
		mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", c.pid))
		require.NoError(t, err)
		defer mem.Close()
		_, err = mem.ReadAt(text, from)
		require.NoError(t, err)
		library, err := elf.NewFile(bytes.NewReader(text))
		require.NoError(t, err)
		symbols, err := library.DynamicSymbols()
		require.NoError(t, err)
		for _, s := range symbols {
			if s.Name == "__vdso_clock_gettime" {
				size := len(jumpedClock(0))
				require.GreaterOrEqual(t, int(s.Size), size)
				return clock{from + int64(s.Value), bytes.Clone(text[s.Value:][:size])}
			}
		}
	}
	require.Fail(t, "the process has no clock of the kernel's", string(maps))
	return clock{}
}

// replace writes code into the memory of the process, while it is frozen and no thread is at that place.
func (c *container) replace(t testing.TB, at int64, code []byte) {
	until(t, func() string {
		c.s.run("pause", c.id)
		defer c.s.run("unpause", c.id)
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", c.pid))
		if err != nil || len(threads) == 0 {
			return fmt.Sprint("no threads: ", err)
		}
		for _, name := range threads {
			b, err := os.ReadFile(name)
			if err != nil {
				return err.Error()
			}
			fields := strings.Fields(string(b)) // the last field is where the thread goes on
			pc, err := strconv.ParseInt(fields[len(fields)-1], 0, 64)
			if err != nil || at <= pc && pc < at+int64(len(code)) {
				return fmt.Sprintf("a thread is at %s", b)
			}
		}
		mem, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", c.pid), os.O_WRONLY, 0)
		if err != nil {
			return err.Error()
		}
		defer mem.Close()
		if _, err := mem.WriteAt(code, at); err != nil {
			return err.Error()
		}
		return ""
	})
}

// tells checks that the wall clock of the container's process is ahead of that of this host by ahead.
func (c *container) tells(t testing.TB, ahead time.Duration) {
	r, err := http.Get("http://" + c.ip + ":9100/livez")
	require.NoError(t, err)
	r.Body.Close()
	date, err := http.ParseTime(r.Header.Get("Date"))
	require.NoError(t, err)
	assert.InDelta(t, ahead.Seconds(), time.Until(date).Seconds(), 3)
}
