package netem

import (
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Direction is the direction of the packets that a rule applies to, relative to the container.
type Direction uint8

// The directions.
const (
	Both Direction = iota
	In             // received by the container
	Out            // sent by it
)

// Config selects the network to degrade, and how.
type Config struct {
	PID       int    // of a process in the container
	Ports     string // TCP ports, local or remote, of the packets: 4369:4371; "" for all packets of TCP and UDP
	Direction Direction
	Rule      Rule
	Seed      uint64 // of the random numbers
}

// Link is the degraded network of a container.
type Link struct {
	pid    int
	rules  [][]string // of iptables, without the verb that adds or deletes them
	fd     int
	ended  atomic.Bool
	all    sync.WaitGroup
	passed chan packet // from read to write
	random *rand.Rand

	Lost, Corrupted, Passed atomic.Int64 // packets
}

// packet is a packet that waits for its time.
type packet struct {
	id    uint32
	at    time.Time
	bytes []byte // nil if unchanged
}

const (
	queueLength = 16384
	queueNumber = 7 // in the container, which has no others
)

// Start degrades a network. It needs nsenter and iptables.
func Start(c Config) (*Link, error) {
	if err := c.Rule.validate(); err != nil {
		return nil, err
	}
	fd, err := inNetworkOf(c.PID, func() (int, error) {
		return unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_NETFILTER)
	})
	if err != nil {
		return nil, fmt.Errorf("netem: netlink in the network of process %d: %w", c.PID, err)
	}
	l := &Link{pid: c.PID, fd: fd, passed: make(chan packet, queueLength), random: rand.New(rand.NewPCG(c.Seed, 0))}
	if err := l.bind(); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("netem: queue of packets: %w", err)
	}
	lines := [2]line{{rule: c.Rule, random: l.random}, {rule: c.Rule, random: l.random}}
	l.all.Add(2)
	go l.read(&lines) // both end at Stop, which waits for them
	go l.write()
	match := []string{}
	if c.Ports != "" {
		match = append(match, "-p", "tcp", "-m", "multiport", "--ports", c.Ports)
	}
	for _, chain := range []struct {
		name, side string
		not        Direction
	}{{"INPUT", "-i", Out}, {"OUTPUT", "-o", In}} {
		if c.Direction == chain.not {
			continue
		}
		r := append([]string{chain.name, chain.side, "eth0"}, match...)
		r = append(r, "-j", "NFQUEUE", "--queue-num", strconv.Itoa(queueNumber))
		if err := Iptables(c.PID, append([]string{"-A"}, r...)...); err != nil {
			return nil, errors.Join(err, l.Stop())
		}
		l.rules = append(l.rules, r)
	}
	return l, nil
}

// Stop restores the network.
func (l *Link) Stop() error {
	var all []error
	for _, r := range l.rules {
		all = append(all, Iptables(l.pid, append([]string{"-D"}, r...)...))
	}
	l.ended.Store(true)
	l.all.Wait()
	return errors.Join(append(all, unix.Close(l.fd))...)
}

// Iptables runs iptables in the network of a process.
func Iptables(pid int, args ...string) error {
	args = append([]string{"-t", strconv.Itoa(pid), "-n", "iptables", "-w", "10"}, args...)
	out, err := exec.Command("nsenter", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("netem: nsenter %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// inNetworkOf runs do, which opens a socket, in the network of a process.
func inNetworkOf(pid int, do func() (int, error)) (int, error) {
	runtime.LockOSThread() // stays locked if switching back fails: then the thread ends with its goroutine
	own, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return 0, err
	}
	defer own.Close()
	other, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return 0, err
	}
	defer other.Close()
	if err := unix.Setns(int(other.Fd()), unix.CLONE_NEWNET); err != nil {
		return 0, err
	}
	fd, err := do()
	if back := unix.Setns(int(own.Fd()), unix.CLONE_NEWNET); back != nil {
		return 0, errors.Join(err, back)
	}
	runtime.UnlockOSThread()
	return fd, err
}

// The messages and attributes of NFQUEUE (linux/netfilter/nfnetlink_queue.h).
const (
	subsystem                          = 3 << 8
	typePacket, typeVerdict, typeSetup = subsystem, subsystem + 1, subsystem + 2

	attrPacketHeader, attrVerdict, attrPayload   = 1, 2, 10
	setupCommand, setupParameters, setupQueueMax = 1, 2, 3

	verdictDrop, verdictAccept = 0, 1
)

// bind binds the queue.
func (l *Link) bind() error {
	if err := unix.Bind(l.fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	_ = unix.SetsockoptInt(l.fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 16<<20) // others are lost, as with less
	second := unix.Timeval{Usec: 100_000}                                      // so that read notices the end
	if err := unix.SetsockoptTimeval(l.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &second); err != nil {
		return err
	}
	length := binary.BigEndian.AppendUint32(nil, queueLength)
	for _, a := range [][]byte{
		attribute(setupCommand, []byte{1, 0, 0, 2}),             // bind, for IPv4
		attribute(setupParameters, []byte{0, 0, 0xff, 0xff, 2}), // whole packets
		attribute(setupQueueMax, length),
	} {
		if err := l.send(typeSetup, unix.NLM_F_ACK, a); err != nil {
			return err
		}
		if err := l.acknowledged(); err != nil {
			return err
		}
	}
	return nil
}

func attribute(kind uint16, value []byte) []byte {
	b := binary.NativeEndian.AppendUint16(nil, uint16(4+len(value)))
	b = append(binary.NativeEndian.AppendUint16(b, kind), value...)
	return append(b, make([]byte, (4-len(b)%4)%4)...)
}

// send sends one message to the kernel.
func (l *Link) send(kind, flags uint16, attributes []byte) error {
	b := binary.NativeEndian.AppendUint32(nil, uint32(20+len(attributes)))
	b = binary.NativeEndian.AppendUint16(b, kind)
	b = binary.NativeEndian.AppendUint16(b, flags|unix.NLM_F_REQUEST)
	b = append(b, make([]byte, 8)...) // sequence, port
	b = append(b, unix.AF_UNSPEC, 0, 0, queueNumber)
	return unix.Sendto(l.fd, append(b, attributes...), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
}

// acknowledged reads the answer to a message.
func (l *Link) acknowledged() error {
	b := make([]byte, 4096)
	n, _, err := unix.Recvfrom(l.fd, b, 0)
	if err != nil {
		return err
	}
	if n < 20 || binary.NativeEndian.Uint16(b[4:]) != unix.NLMSG_ERROR {
		return errors.New("no answer of netlink")
	}
	if code := int32(binary.NativeEndian.Uint32(b[16:])); code != 0 {
		return unix.Errno(-code)
	}
	return nil
}

// read lets the lines decide on each packet.
func (l *Link) read(lines *[2]line) {
	defer l.all.Done()
	defer close(l.passed)
	b := make([]byte, 1<<17)
	for !l.ended.Load() {
		n, _, err := unix.Recvfrom(l.fd, b, 0)
		if err != nil { // timeout, or packets were lost for lack of space
			continue
		}
		for rest := b[:n]; len(rest) >= 20; {
			size := int(binary.NativeEndian.Uint32(rest))
			if size < 20 || size > len(rest) {
				break
			}
			if binary.NativeEndian.Uint16(rest[4:]) == typePacket {
				l.decide(rest[20:size], lines)
			}
			rest = rest[min((size+3)&^3, len(rest)):]
		}
	}
}

// hookOut is the hook of packets that leave (NF_INET_LOCAL_OUT).
const hookOut = 3

func (l *Link) decide(attributes []byte, lines *[2]line) {
	var id uint32
	var payload []byte
	which := &lines[0]
	for len(attributes) >= 4 {
		size := int(binary.NativeEndian.Uint16(attributes))
		if size < 4 || size > len(attributes) {
			return
		}
		switch v := attributes[4:size]; binary.NativeEndian.Uint16(attributes[2:]) & 0x3fff {
		case attrPacketHeader:
			id = binary.BigEndian.Uint32(v)
			if v[6] == hookOut {
				which = &lines[1]
			}
		case attrPayload:
			payload = v
		}
		attributes = attributes[min((size+3)&^3, len(attributes)):]
	}
	at, changed, ok := which.pass(time.Now(), payload)
	if !ok {
		l.Lost.Add(1)
		l.verdict(packet{id: id}, verdictDrop)
		return
	}
	p := packet{id: id, at: at}
	if changed {
		l.Corrupted.Add(1)
		p.bytes = append([]byte(nil), payload...)
	}
	l.Passed.Add(1)
	l.passed <- p
}

func (l *Link) verdict(p packet, what uint32) {
	v := binary.BigEndian.AppendUint32(nil, what)
	a := attribute(attrVerdict, binary.BigEndian.AppendUint32(v, p.id))
	if p.bytes != nil {
		a = append(a, attribute(attrPayload, p.bytes)...)
	}
	_ = l.send(typeVerdict, 0, a) // an error means that the container and its packets are gone
}

// waiting is a heap of packets, the next one first; ties in order of arrival.
type waiting []packet

func (w waiting) Len() int { return len(w) }
func (w waiting) Less(i, j int) bool {
	return w[i].at.Before(w[j].at) || w[i].at.Equal(w[j].at) && w[i].id < w[j].id
}
func (w waiting) Swap(i, j int) { w[i], w[j] = w[j], w[i] }
func (w *waiting) Push(p any)   { *w = append(*w, p.(packet)) }
func (w *waiting) Pop() any {
	p := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return p
}

// write releases packets at their times.
func (l *Link) write() {
	defer l.all.Done()
	var all waiting
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		for len(all) > 0 && !all[0].at.After(time.Now()) {
			l.verdict(heap.Pop(&all).(packet), verdictAccept)
		}
		if len(all) > 0 {
			timer.Reset(time.Until(all[0].at))
		}
		select {
		case p, more := <-l.passed:
			if !more {
				return
			}
			heap.Push(&all, p)
		case <-timer.C:
		}
	}
}
