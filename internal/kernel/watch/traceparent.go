package watch

import "encoding/hex"

// Traceparent is the context of a span, of W3C's Trace Context, that programs set as the label of a token.
type Traceparent struct {
	Trace [16]byte
	Span  [8]byte
	Flags byte // 1: sampled
}

// traceparentLen is the length of a traceparent of version 00. One of a later version may be longer.
const traceparentLen = 55

// traceparentText returns a label as text if it has the form of a traceparent.
func traceparentText(label any) (text string, ok bool) {
	switch l := label.(type) {
	case []byte:
		if len(l) < traceparentLen || len(l) > 4*traceparentLen {
			return "", false
		}
		text = string(l)
	case string:
		text = l
	default:
		return "", false
	}
	if len(text) < traceparentLen || text[2] != '-' || text[35] != '-' || text[52] != '-' {
		return "", false
	}
	return text, text[:2] == "00" && len(text) == traceparentLen ||
		text[:2] > "00" && text[:2] < "ff" && (len(text) == traceparentLen || text[traceparentLen] == '-')
}

// ReadTraceparent reads a label. ok is false if it is not a traceparent, or not a valid one.
func ReadTraceparent(label any) (t Traceparent, ok bool) {
	text, ok := traceparentText(label)
	if !ok {
		return t, false
	}
	var flags, version [1]byte
	for _, part := range []struct {
		to   []byte
		text string
	}{{version[:], text[:2]}, {t.Trace[:], text[3:35]}, {t.Span[:], text[36:52]}, {flags[:], text[53:55]}} {
		for _, c := range []byte(part.text) {
			if c >= 'A' && c <= 'F' {
				return t, false
			}
		}
		if _, err := hex.Decode(part.to, []byte(part.text)); err != nil {
			return t, false
		}
	}
	t.Flags = flags[0]
	return t, t.Trace != [16]byte{} && t.Span != [8]byte{}
}

// Label returns t as a label: a binary, with version 00.
func (t Traceparent) Label() []byte {
	b := make([]byte, 0, traceparentLen)
	b = hex.AppendEncode(append(b, "00-"...), t.Trace[:])
	b = hex.AppendEncode(append(b, '-'), t.Span[:])
	return hex.AppendEncode(append(b, '-'), []byte{t.Flags})
}

// IDs returns the identifiers of trace and span in hexadecimal.
func (t Traceparent) IDs() (trace, span string) {
	return hex.EncodeToString(t.Trace[:]), hex.EncodeToString(t.Span[:])
}
