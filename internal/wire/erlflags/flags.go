package erlflags

import (
	"fmt"
	"strings"
)

// Flags are the capabilities that two nodes exchange in the handshake; a connection uses those that both have. Bits that
// are not named here are ignored.
type Flags uint64

// The flags, with the names of OTP's dist.hrl.
const (
	Published          Flags = 1 << 0
	ExtendedReferences Flags = 1 << 2
	DistMonitor        Flags = 1 << 3
	FunTags            Flags = 1 << 4
	DistMonitorName    Flags = 1 << 5
	NewFunTags         Flags = 1 << 7
	ExtendedPidsPorts  Flags = 1 << 8
	ExportPtrTag       Flags = 1 << 9
	BitBinaries        Flags = 1 << 10
	NewFloats          Flags = 1 << 11
	UnicodeIO          Flags = 1 << 12
	DistHdrAtomCache   Flags = 1 << 13
	SmallAtomTags      Flags = 1 << 14
	UTF8Atoms          Flags = 1 << 16
	MapTag             Flags = 1 << 17
	BigCreation        Flags = 1 << 18
	SendSender         Flags = 1 << 19
	BigSeqtraceLabels  Flags = 1 << 20
	ExitPayload        Flags = 1 << 22
	Fragments          Flags = 1 << 23
	Handshake23        Flags = 1 << 24
	UnlinkID           Flags = 1 << 25
	Mandatory25Digest  Flags = 1 << 26
	Spawn              Flags = 1 << 32
	NameMe             Flags = 1 << 33
	V4NC               Flags = 1 << 34
	Alias              Flags = 1 << 35
	AltactSig          Flags = 1 << 37

	// GoValues is used only by this project's nodes: payloads that terms cannot represent exactly are Go values. OTP has
	// flags up to bit 37, reserves bits 27 to 31, and ignores others. Bit 55 was that of a former version, and is no longer
	// used.
	GoValues Flags = 1 << 53
	// Client is also used only by this project's nodes: the node is a tool, such as a command line, not a member of the
	// cluster.
	Client Flags = 1 << 54
	// CallWait is also used only by this project's nodes: a request with its monitor says how long the caller waits.
	CallWait Flags = 1 << 56
)

// How a flag is used by this node.
const (
	announced = 1 << iota // announced to every peer
	mandatory             // a peer without it is refused
)

// Known lists the flags with the OTP release that introduced each, according to OTP's documentation (13 means 13 or
// earlier), and the release since which OTP refuses a peer without it (25 means 25 or earlier; 0 means never).
var Known = [...]struct {
	Flag            Flags
	Name            string // as in OTP
	Since, Demanded int
	use             uint8
}{
	{Published, "PUBLISHED", 13, 0, 0}, // optional, see Handshake.Hidden
	{ExtendedReferences, "EXTENDED_REFERENCES", 13, 25, announced | mandatory},
	{DistMonitor, "DIST_MONITOR", 13, 0, announced},
	{FunTags, "FUN_TAGS", 13, 25, announced | mandatory},
	{DistMonitorName, "DIST_MONITOR_NAME", 13, 0, announced},
	{NewFunTags, "NEW_FUN_TAGS", 13, 25, announced | mandatory},
	{ExtendedPidsPorts, "EXTENDED_PIDS_PORTS", 13, 25, announced | mandatory},
	{ExportPtrTag, "EXPORT_PTR_TAG", 13, 25, announced | mandatory},
	{BitBinaries, "BIT_BINARIES", 13, 25, announced | mandatory},
	{NewFloats, "NEW_FLOATS", 13, 25, announced | mandatory},
	{UnicodeIO, "UNICODE_IO", 13, 0, announced},
	{DistHdrAtomCache, "DIST_HDR_ATOM_CACHE", 13, 0, announced},
	{SmallAtomTags, "SMALL_ATOM_TAGS", 14, 0, announced},
	{UTF8Atoms, "UTF8_ATOMS", 16, 25, announced | mandatory},
	{MapTag, "MAP_TAG", 17, 25, announced | mandatory},
	{BigCreation, "BIG_CREATION", 19, 25, announced | mandatory},
	{SendSender, "SEND_SENDER", 21, 0, announced},
	{BigSeqtraceLabels, "BIG_SEQTRACE_LABELS", 21, 0, announced},
	{ExitPayload, "EXIT_PAYLOAD", 22, 0, announced},
	{Fragments, "FRAGMENTS", 22, 0, announced},
	{Handshake23, "HANDSHAKE_23", 23, 25, announced | mandatory},
	{UnlinkID, "UNLINK_ID", 23, 26, announced},
	{Mandatory25Digest, "MANDATORY_25_DIGEST", 25, 0, announced},
	{Spawn, "SPAWN", 23, 0, announced},
	{NameMe, "NAME_ME", 24, 0, 0}, // only in the answer to a peer with this flag
	{V4NC, "V4_NC", 24, 26, announced},
	{Alias, "ALIAS", 24, 0, announced},
	{AltactSig, "ALTACT_SIG", 28, 0, announced},
	{GoValues, "GO_VALUES", 0, 0, 0}, // only if there is a codec for them
	{CallWait, "CALL_WAIT", 0, 0, 0}, // only with GO_VALUES
}

// flagsFor returns the flags of the given use.
func flagsFor(use uint8) (f Flags) {
	for _, k := range Known {
		if k.use&use != 0 {
			f |= k.Flag
		}
	}
	return f
}

// Announced are the flags that this node announces to every peer, Needed those that it requires from a peer: the ones that
// OTP 25 requires. [Mandatory25Digest] implies all of the latter.
var (
	Announced = flagsFor(announced)
	Needed    = flagsFor(mandatory)
)

// Expanded returns f with all flags implied by the digest of the mandatory flags.
func (f Flags) Expanded() Flags {
	if f&Mandatory25Digest != 0 {
		f |= Needed
	}
	return f
}

// Headed reports whether frames have a distribution header, as in OTP.
func (f Flags) Headed() bool { return f&(DistHdrAtomCache|Fragments) != 0 }

// Announce returns the flags that a node without some flags announces. Without the atom cache it also omits fragments: an
// OTP 25 node crashes when it sends fragments without atoms (measured).
func Announce(without Flags) Flags {
	if without.Has(DistHdrAtomCache) {
		without |= Fragments
	}
	return Announced &^ without
}

// Has reports whether all of want are in f.
func (f Flags) Has(want Flags) bool { return f&want == want }

// Names returns the names of f, highest first, as OTP lists what is missing.
func (f Flags) Names() (l []string) {
	for bit := Flags(1) << 63; bit != 0; bit >>= 1 {
		if f&bit != 0 {
			l = append(l, bit.Name())
		}
	}
	return l
}

// Name returns the name of a single flag.
func (f Flags) Name() string {
	for _, k := range Known {
		if k.Flag == f {
			return k.Name
		}
	}
	return fmt.Sprintf("UNKNOWN<%X>", uint64(f))
}

// String returns f in hexadecimal, as in OTP's logs, and by name.
func (f Flags) String() string {
	return fmt.Sprintf("%#x (%s)", uint64(f), strings.Join(f.Names(), " "))
}
