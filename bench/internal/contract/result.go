package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Result is the line printed by a run. Its fields are in the order of the contract; floats are rounded to six decimals.
type Result struct {
	System     string  `json:"system"`
	Version    string  `json:"version"`
	Bench      string  `json:"bench"`
	Params     Fields  `json:"params"`  // int or string
	Seconds    float64 `json:"seconds"` // the bench's own work, on the monotonic clock
	Ops        int     `json:"ops"`
	OpsPerSec  int     `json:"ops_per_sec"`
	NsPerOp    float64 `json:"ns_per_op"`
	PeakRSSMiB float64 `json:"peak_rss_mib"` // 0 if unknown
	Extra      Fields  `json:"extra"`        // float64
}

// measured fills in the fields that follow from ops and spent.
func (r Result) measured(ops int, spent time.Duration) Result {
	spent = max(spent, 1)
	r.Seconds = round(spent.Seconds())
	r.Ops = ops
	r.OpsPerSec = int(math.Round(float64(ops) / spent.Seconds()))
	r.NsPerOp = round(float64(spent.Nanoseconds()) / float64(ops))
	return r
}

func round(f float64) float64 { return math.Round(f*1e6) / 1e6 }

// ParseResult parses the output of a run of any system: one JSON line for bench.
func ParseResult(output []byte, bench string) (Result, error) {
	line := bytes.TrimSpace(output)
	var r Result
	if bytes.ContainsRune(line, '\n') {
		return r, errors.New("contract: more than one line of output")
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return r, fmt.Errorf("contract: not a result: %w", err)
	}
	if r.Bench != bench {
		return r, fmt.Errorf("contract: a result of bench %q, not %q", r.Bench, bench)
	}
	if r.System == "" || r.Ops <= 0 || !(r.NsPerOp > 0) {
		return r, errors.New("contract: a result without system, ops or ns_per_op")
	}
	return r, nil
}

// Field is a key with an int, a float64 or a string.
type Field struct {
	Key   string
	Value any
}

// Fields is a JSON object of flat values that keeps its order.
type Fields []Field

func (f Fields) get(key string) any {
	for _, field := range f {
		if field.Key == key {
			return field.Value
		}
	}
	return nil
}

// Number returns the number key, and whether it exists.
func (f Fields) Number(key string) (float64, bool) {
	switch v := f.get(key).(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// Without returns the fields other than key.
func (f Fields) Without(key string) Fields {
	return slices.DeleteFunc(slices.Clone(f), func(field Field) bool { return field.Key == key })
}

// String returns "key=value key=value".
func (f Fields) String() string {
	texts := make([]string, len(f))
	for i, field := range f {
		texts[i] = fmt.Sprintf("%s=%v", field.Key, field.Value)
	}
	return strings.Join(texts, " ")
}

// MarshalJSON encodes one object.
func (f Fields) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, field := range f {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(field.Key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(field.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", field.Key, err)
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON decodes one object of numbers and strings.
func (f *Fields) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("contract: %.20s is not an object", data)
	}
	*f = Fields{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		value, err := d.Token()
		if err != nil {
			return err
		}
		v, err := scalar(value)
		if err != nil {
			return fmt.Errorf("contract: %v: %w", key, err)
		}
		*f = append(*f, Field{key.(string), v}) // JSON has no other keys
	}
	return nil
}

// scalar converts a token to an int if possible, a float64 or a string.
func scalar(t json.Token) (any, error) {
	switch t := t.(type) {
	case string:
		return t, nil
	case json.Number:
		if n, err := t.Int64(); err == nil {
			return int(n), nil
		}
		return t.Float64()
	}
	return nil, fmt.Errorf("%v is neither a number nor a string", t)
}
