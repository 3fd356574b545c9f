package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the generated part of spec/control.md, and write the vectors that are missing")

const specFile = "../../spec/control.md"

const (
	shapesBegin = "<!-- shapes: go test ./internal/control -update -->\n"
	shapesEnd   = "<!-- end of shapes -->\n"
)

// TestSpecShapes: the shapes in the spec are those of the code.
func TestSpecShapes(t *testing.T) {
	b, err := os.ReadFile(specFile)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(b), shapesBegin)
	old, after, ok2 := strings.Cut(rest, shapesEnd)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no marks for the shapes", specFile)
	}
	fresh := shapes()
	if *update {
		if err := os.WriteFile(specFile, []byte(before+shapesBegin+fresh+shapesEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if old != fresh {
		t.Errorf("the shapes in %s are not the code's; -update rewrites them:\n%s", specFile, fresh)
	}
}

// shapes draws every call, then every type that they name.
func shapes() string {
	var b strings.Builder
	types := map[string]reflect.Type{}
	for _, c := range all {
		fmt.Fprintf(&b, "\n### %s\n\n", c.name)
		fmt.Fprintf(&b, "- request: %s\n", shape(c.req, types))
		if c.item != nil {
			fmt.Fprintf(&b, "- items: %s\n", shape(c.item, types))
		}
		fmt.Fprintf(&b, "- result: %s\n", shape(c.res, types))
	}
	b.WriteString("\n### Types\n\n")
	for {
		drawn := len(types)
		var names []string
		for name := range types {
			names = append(names, name)
		}
		slices.Sort(names)
		var lines strings.Builder
		for _, name := range names {
			fmt.Fprintf(&lines, "- %s: %s\n", name, fields(types[name], types))
		}
		if len(types) == drawn {
			b.WriteString(lines.String() + "\n")
			return b.String()
		}
	}
}

// shape draws the fields of a request, and names any other type.
func shape(t reflect.Type, types map[string]reflect.Type) string {
	if strings.HasSuffix(t.Name(), "Request") {
		return fields(t, types)
	}
	types[t.Name()] = t
	return t.Name()
}

func fields(t reflect.Type, types map[string]reflect.Type) string {
	var all []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		optional := ""
		if options != "" {
			optional = "?"
		}
		all = append(all, fmt.Sprintf("`%s`%s %s", name, optional, typeName(f.Type, types)))
	}
	if len(all) == 0 {
		return "no fields"
	}
	return strings.Join(all, ", ")
}

func typeName(t reflect.Type, types map[string]reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "time"
	case t.Kind() == reflect.Pointer:
		return typeName(t.Elem(), types) + " or null"
	case t == reflect.TypeFor[[]byte]():
		return "bytes in base64"
	case t.Kind() == reflect.Slice:
		return "list of " + typeName(t.Elem(), types)
	case t.Kind() == reflect.Map:
		return "map of " + typeName(t.Elem(), types)
	case t.Kind() == reflect.Struct:
		types[t.Name()] = t
		return t.Name()
	}
	return t.Kind().String()
}

// TestSpecTables: the prose speaks of every call, kind and limit there is.
func TestSpecTables(t *testing.T) {
	b, err := os.ReadFile(specFile)
	if err != nil {
		t.Fatal(err)
	}
	prose, _, _ := strings.Cut(string(b), shapesBegin)
	calls := section(t, prose, "## Calls")
	for _, c := range all {
		if !slices.Contains(calls, c.name) {
			t.Errorf("the table of calls lacks %s", c.name)
		}
	}
	if len(calls) != len(all) {
		t.Errorf("the table of calls has %d rows for %d calls", len(calls), len(all))
	}
	kinds := section(t, prose, "## Errors")
	for kind, status := range Kinds() {
		if !slices.Contains(kinds, string(kind)) {
			t.Errorf("the table of errors lacks %s", kind)
		}
		if row := fmt.Sprintf("| `%s` | %d |", kind, status); !strings.Contains(prose, row) {
			t.Errorf("the table of errors has no row %s", row)
		}
	}
	if len(kinds) != len(Kinds()) {
		t.Errorf("the table of errors has %d rows for %d kinds", len(kinds), len(Kinds()))
	}
	for _, limit := range []string{
		fmt.Sprintf("| a request's body | %d bytes |", maxRequest),
		fmt.Sprintf("| an error's reply | %d bytes |", maxError),
		fmt.Sprintf("| a request's header | %d bytes, %d s |", maxHeader, int(headerPatience.Seconds())),
	} {
		if !strings.Contains(prose, limit) {
			t.Errorf("the table of limits has no row %s", limit)
		}
	}
}

var firstCell = regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|")

// section returns the first cells of the table below a heading.
func section(t *testing.T, text, heading string) []string {
	t.Helper()
	_, rest, ok := strings.Cut(text, heading+"\n")
	if !ok {
		t.Fatalf("%s has no %q", specFile, heading)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	var cells []string
	for _, m := range firstCell.FindAllStringSubmatch(rest, -1) {
		cells = append(cells, m[1])
	}
	return cells
}

// vector is one exchange as it travels.
type vector struct {
	Request json.RawMessage `json:"request"`
	Item    json.RawMessage `json:"item,omitempty"`
	Result  json.RawMessage `json:"result"`
}

// TestVectors: what the vectors hold is decoded without loss, field for field.
func TestVectors(t *testing.T) {
	dir := "../../spec/vectors/control"
	for _, c := range all {
		name := filepath.Join(dir, c.name+".json")
		if _, err := os.Stat(name); *update && errors.Is(err, fs.ErrNotExist) {
			writeVector(t, name, c) // one that is there never changes
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatalf("%v; -update writes it", err)
		}
		var v vector
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		roundTrip(t, name, v.Request, c.req)
		roundTrip(t, name, v.Result, c.res)
		if c.item != nil {
			roundTrip(t, name, v.Item, c.item)
		}
	}
}

func roundTrip(t *testing.T, name string, raw json.RawMessage, typ reflect.Type) {
	t.Helper()
	x := reflect.New(typ)
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(x.Interface()); err != nil {
		t.Errorf("%s: %v: %v", name, typ, err)
		return
	}
	again, err := json.Marshal(x.Elem().Interface())
	var want bytes.Buffer
	if cerr := json.Compact(&want, raw); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
	if !bytes.Equal(again, want.Bytes()) {
		t.Errorf("%s: %v: %s became %s", name, typ, &want, again)
	}
}

func writeVector(t *testing.T, name string, c described) {
	t.Helper()
	count := uint64(0)
	encode := func(typ reflect.Type) json.RawMessage {
		if typ == nil {
			return nil
		}
		x := reflect.New(typ).Elem()
		fill(x, &count)
		b, err := json.Marshal(x.Interface())
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	v := vector{encode(c.req), encode(c.item), encode(c.res)}
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, append(b, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// fill gives every field a value of its own.
func fill(x reflect.Value, count *uint64) {
	*count++
	switch {
	case x.Type() == reflect.TypeFor[time.Time]():
		x.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, int(*count), time.UTC)))
	case x.Kind() == reflect.Struct:
		for i := range x.NumField() {
			fill(x.Field(i), count)
		}
	case x.Kind() == reflect.Slice:
		x.Set(reflect.MakeSlice(x.Type(), 1, 1))
		fill(x.Index(0), count)
	case x.Kind() == reflect.Map:
		x.Set(reflect.MakeMap(x.Type()))
		value := reflect.New(x.Type().Elem()).Elem()
		fill(value, count)
		x.SetMapIndex(reflect.ValueOf("LOOKUP"), value)
	case x.Kind() == reflect.Pointer:
		x.Set(reflect.New(x.Type().Elem()))
		fill(x.Elem(), count)
	case x.Kind() == reflect.String:
		x.SetString(fmt.Sprintf("text-%d", *count))
	case x.Kind() == reflect.Bool:
		x.SetBool(true)
	case x.CanInt():
		x.SetInt(int64(*count))
	case x.CanUint():
		x.SetUint(*count)
	}
}
