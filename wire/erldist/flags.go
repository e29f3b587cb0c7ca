package erldist

import (
	"fmt"
	"strings"
)

// Flags are the capabilities that two nodes tell each other in the handshake;
// what both have holds. Bits that are not named here are ignored.
type Flags uint64

// The flags, by the names of OTP's dist.hrl.
const (
	FlagPublished          Flags = 1 << 0
	FlagExtendedReferences Flags = 1 << 2
	FlagDistMonitor        Flags = 1 << 3
	FlagFunTags            Flags = 1 << 4
	FlagDistMonitorName    Flags = 1 << 5
	FlagNewFunTags         Flags = 1 << 7
	FlagExtendedPidsPorts  Flags = 1 << 8
	FlagExportPtrTag       Flags = 1 << 9
	FlagBitBinaries        Flags = 1 << 10
	FlagNewFloats          Flags = 1 << 11
	FlagUnicodeIO          Flags = 1 << 12
	FlagDistHdrAtomCache   Flags = 1 << 13
	FlagSmallAtomTags      Flags = 1 << 14
	FlagUTF8Atoms          Flags = 1 << 16
	FlagMapTag             Flags = 1 << 17
	FlagBigCreation        Flags = 1 << 18
	FlagSendSender         Flags = 1 << 19
	FlagBigSeqtraceLabels  Flags = 1 << 20
	FlagExitPayload        Flags = 1 << 22
	FlagFragments          Flags = 1 << 23
	FlagHandshake23        Flags = 1 << 24
	FlagUnlinkID           Flags = 1 << 25
	FlagMandatory25Digest  Flags = 1 << 26
	FlagSpawn              Flags = 1 << 32
	FlagNameMe             Flags = 1 << 33
	FlagV4NC               Flags = 1 << 34
	FlagAlias              Flags = 1 << 35
	FlagAltactSig          Flags = 1 << 37
)

// How a flag is used by this node.
const (
	announced = 1 << iota // told to every peer
	mandatory             // a peer without it is refused
)

// known lists the flags with the OTP release in which each came, as far as OTP's
// documents say (13 stands for what is older), and the one since which OTP refuses
// a peer that has it not (25 stands for that and before; 0 for none).
var known = [...]struct {
	flag            Flags
	name            string // as OTP spells it
	since, demanded int
	use             uint8
}{
	{FlagPublished, "PUBLISHED", 13, 0, 0}, // a choice, see Handshake.Hidden
	{FlagExtendedReferences, "EXTENDED_REFERENCES", 13, 25, announced | mandatory},
	{FlagDistMonitor, "DIST_MONITOR", 13, 0, announced},
	{FlagFunTags, "FUN_TAGS", 13, 25, announced | mandatory},
	{FlagDistMonitorName, "DIST_MONITOR_NAME", 13, 0, announced},
	{FlagNewFunTags, "NEW_FUN_TAGS", 13, 25, announced | mandatory},
	{FlagExtendedPidsPorts, "EXTENDED_PIDS_PORTS", 13, 25, announced | mandatory},
	{FlagExportPtrTag, "EXPORT_PTR_TAG", 13, 25, announced | mandatory},
	{FlagBitBinaries, "BIT_BINARIES", 13, 25, announced | mandatory},
	{FlagNewFloats, "NEW_FLOATS", 13, 25, announced | mandatory},
	{FlagUnicodeIO, "UNICODE_IO", 13, 0, announced},
	{FlagDistHdrAtomCache, "DIST_HDR_ATOM_CACHE", 13, 0, announced},
	{FlagSmallAtomTags, "SMALL_ATOM_TAGS", 14, 0, announced},
	{FlagUTF8Atoms, "UTF8_ATOMS", 16, 25, announced | mandatory},
	{FlagMapTag, "MAP_TAG", 17, 25, announced | mandatory},
	{FlagBigCreation, "BIG_CREATION", 19, 25, announced | mandatory},
	{FlagSendSender, "SEND_SENDER", 21, 0, announced},
	{FlagBigSeqtraceLabels, "BIG_SEQTRACE_LABELS", 21, 0, announced},
	{FlagExitPayload, "EXIT_PAYLOAD", 22, 0, announced},
	{FlagFragments, "FRAGMENTS", 22, 0, announced},
	{FlagHandshake23, "HANDSHAKE_23", 23, 25, announced | mandatory},
	{FlagUnlinkID, "UNLINK_ID", 23, 26, announced},
	{FlagMandatory25Digest, "MANDATORY_25_DIGEST", 25, 0, announced},
	{FlagSpawn, "SPAWN", 23, 0, announced},
	{FlagNameMe, "NAME_ME", 24, 0, 0}, // only in answer to a peer that has it
	{FlagV4NC, "V4_NC", 24, 26, announced},
	{FlagAlias, "ALIAS", 24, 0, announced},
	{FlagAltactSig, "ALTACT_SIG", 28, 0, announced},
}

// flagsFor returns the flags of the given use.
func flagsFor(use uint8) (f Flags) {
	for _, k := range known {
		if k.use&use != 0 {
			f |= k.flag
		}
	}
	return f
}

// announcedFlags are the flags that this node has for every peer, mandatoryFlags
// those that it must find in a peer: what OTP 25 demands. [FlagMandatory25Digest]
// stands for all of the latter.
var (
	announcedFlags = flagsFor(announced)
	mandatoryFlags = flagsFor(mandatory)
)

// expanded returns f with all that the digest of the mandatory flags stands for.
func (f Flags) expanded() Flags {
	if f&FlagMandatory25Digest != 0 {
		f |= mandatoryFlags
	}
	return f
}

// headed reports whether frames have a distribution header, as OTP does it.
func (f Flags) headed() bool { return f&(FlagDistHdrAtomCache|FlagFragments) != 0 }

// announce returns what a node announces that does without some flags. Without
// atom cache it does without fragments too: a node of OTP 25 that is to send
// fragments without atoms dies of it (measured).
func announce(without Flags) Flags {
	if without.Has(FlagDistHdrAtomCache) {
		without |= FlagFragments
	}
	return announcedFlags &^ without
}

// Has reports whether all of want are in f.
func (f Flags) Has(want Flags) bool { return f&want == want }

// names returns the names of f, highest first, as OTP lists what is missing.
func (f Flags) names() (l []string) {
	for bit := Flags(1) << 63; bit != 0; bit >>= 1 {
		if f&bit != 0 {
			l = append(l, bit.name())
		}
	}
	return l
}

func (f Flags) name() string {
	for _, k := range known {
		if k.flag == f {
			return k.name
		}
	}
	return fmt.Sprintf("UNKNOWN<%X>", uint64(f))
}

// String returns f in hexadecimal, as logs of OTP have it, and by name.
func (f Flags) String() string {
	return fmt.Sprintf("%#x (%s)", uint64(f), strings.Join(f.names(), " "))
}
