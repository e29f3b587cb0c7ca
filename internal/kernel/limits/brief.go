package limits

import "strings"

// maxBrief is the maximum number of bytes shown of a text whose length strangers control.
const maxBrief = 1 << 10

// Brief returns the beginning of the text of an error whose length strangers control.
func Brief(err error) string {
	text := err.Error()
	if len(text) > maxBrief {
		text = strings.ToValidUTF8(text[:maxBrief], "") + "…"
	}
	return text
}
