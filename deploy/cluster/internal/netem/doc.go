// Package netem degrades the network of a container, like tc netem if the kernel had it: packets are lost, delayed,
// reordered, corrupted and limited in bandwidth. It is for tests, on Linux, as root.
//
//	l, err := netem.Start(netem.Config{PID: pid, Ports: "4369:4371", Direction: netem.Both, Seed: 1,
//		Rule: netem.Rule{Loss: 0.02, Delay: 200 * time.Millisecond, Jitter: 100 * time.Millisecond}})
//	...
//	err = l.Stop() // the network is good again
//
// # Nouns
//
//   - A [Link] is the network of one container. The kernel passes it each packet (NFQUEUE), and it returns a verdict.
//   - A [Rule] defines the faults of packets. A line applies it, without clock and socket.
//
// TCP retransmits lost packets, reorders them, and drops corrupted ones, since their checksum is wrong. So a program sees
// delay, and in the end a broken connection, but no wrong byte.
//
// # Invariants
//
//  1. Each packet gets one verdict: it is dropped, or accepted at its time.
//  2. Packets leave in the order of their times.
//  3. After Stop nothing is left in the container, and waiting packets are lost.
//
// # Goroutines
//
//	name         started by   ended by   owns
//	Link.read    Start        Stop       the line and its random numbers
//	Link.write   Start        Stop       the packets that wait
//
// # Limits
//
// At most 16,384 packets wait; the kernel drops others. Faults apply to a packet in the order loss, corruption, bandwidth,
// delay. The package implements the part of Netlink documented by libnetfilter_queue itself:
//
//	message   16 nlmsghdr: length, type (3<<8 + 0 packet, 1 verdict, 2 configuration), flags, sequence, port
//	           4 nfgenmsg: family, version, queue (big endian)
//	           n attributes: length, type, value, up to a multiple of 4
package netem
