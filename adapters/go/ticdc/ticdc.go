// Package ticdc is what every Avro library needs around it to read TiCDC: envelope, schema, columns, events.
//
// Nothing here looks into the binary encoding. What a column is stands in connect.parameters of its field's type, which
// libraries pass over; the fields of the extension are told from columns by their name and their bare type.
package ticdc

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"cdcwire-adapter-go/testee"
)

// Without lists what is not read: DDL and checkpoints are the producer's own bytes; arrays, maps and other unions are in
// no row of TiCDC.
var Without = []string{"ddl", "checkpoint", "foreign types"}

// Read gives the record of a key or value: what the library made of the fields, a union's branch taken out.
type Read func(schema string, data []byte) (map[string]any, error)

const before = "_ticdc_before"

var (
	extension = map[string]bool{
		"_tidb_op":                   true,
		"_tidb_commit_ts":            true,
		"_tidb_commit_physical_time": true,
		"_tidb_row_level_checksum":   true,
		"_tidb_corrupted":            true,
		"_tidb_checksum_version":     true,
	}
	operations = map[string]string{"c": "insert", "u": "update", "d": "delete", "": "upsert"}
	shapes     = map[string]*shape{}
)

// The parts of a schema text that a reader of TiCDC looks at.
type record struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Fields    []struct {
		Name string          `json:"name"`
		Type json.RawMessage `json:"type"`
	} `json:"fields"`
}

type columnType struct {
	Parameters map[string]string `json:"connect.parameters"`
	Scale      int               `json:"scale"`
	record
}

type field struct {
	name     string
	tidbType string
	scale    int
	isColumn bool
	old      *record
}

type shape struct {
	table  string
	schema any
	fields []field
	before []field
}

type row struct {
	*shape
	values map[string]any
}

// Decoder returns the function that testee.Serve wants, made of a library.
func Decoder(read Read) testee.Decode {
	return func(message testee.Message, request *testee.Request) ([]testee.Event, error) {
		key, err := readRow(message.Key, request, read)
		if err != nil {
			return nil, err
		}
		value, err := readRow(message.Value, request, read)
		if err != nil {
			return nil, err
		}
		event, err := eventOf(key, value)
		return []testee.Event{event}, err
	}
}

func readRow(whole []byte, request *testee.Request, read Read) (*row, error) {
	if whole == nil {
		return nil, nil
	}
	text, data, err := openEnvelope(whole, request)
	if err != nil {
		return nil, err
	}
	if shapes[text] == nil {
		if shapes[text], err = newShape(text); err != nil {
			return nil, err
		}
	}
	values, err := read(text, data)
	return &row{shapes[text], values}, err
}

// openEnvelope takes the envelope off: the schema's text and the binary encoding.
func openEnvelope(whole []byte, request *testee.Request) (string, []byte, error) {
	start, magic := 5, "\x00"
	isGlue := request.Options["registry"] == "glue"
	if isGlue {
		start, magic = 18, "\x03\x00"
	}
	if len(whole) < start || !strings.HasPrefix(string(whole), magic) {
		return "", nil, errors.New("this is not an envelope")
	}
	id := strconv.Itoa(int(int32(binary.BigEndian.Uint32(whole[1:]))))
	if isGlue {
		digits := hex.EncodeToString(whole[2:18])
		id = strings.Join([]string{digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]}, "-")
	}
	text, found := request.Schemas[id]
	if !found {
		return "", nil, fmt.Errorf("there is no schema %s", id)
	}
	return text, whole[start:], nil
}

func newShape(text string) (*shape, error) {
	var document record
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		return nil, err
	}
	parts := strings.Split(document.Namespace, ".")
	if names := strings.Split(document.Name, "."); len(names) > 1 { // a full name goes before the namespace
		parts, document.Name = names[:len(names)-1], names[len(names)-1]
	}
	found := &shape{table: document.Name, fields: fieldsOf(&document)}
	if len(parts) > 1 {
		found.schema = parts[1]
	}
	for _, each := range found.fields {
		if each.name == before && each.old != nil {
			found.before = fieldsOf(each.old)
		}
	}
	return found, nil
}

func fieldsOf(document *record) []field {
	fields := []field{}
	for _, each := range document.Fields {
		kind := columnTypeOf(each.Type)
		fields = append(fields, field{
			name:     each.Name,
			tidbType: kind.Parameters["tidb_type"],
			scale:    kind.Scale,
			isColumn: each.Name != before && (kind.Parameters != nil || !extension[each.Name]),
			old:      &kind.record,
		})
	}
	return fields
}

// columnTypeOf returns the one type of a field, or of its union with null, that is written as an object.
func columnTypeOf(text json.RawMessage) columnType {
	var kind columnType
	branches := []json.RawMessage{}
	if json.Unmarshal(text, &branches) != nil {
		branches = []json.RawMessage{text}
	}
	for _, branch := range branches {
		if strings.HasPrefix(string(branch), "{") {
			_ = json.Unmarshal(branch, &kind) // the library says what is wrong with a schema
		}
	}
	return kind
}

func eventOf(key, value *row) (testee.Event, error) {
	shown := value
	if shown == nil {
		shown = key
	}
	if shown == nil {
		return nil, errors.New("a message has a key or a value")
	}
	columns, err := imageOf(shown.fields, shown.values)
	if err != nil {
		return nil, err
	}
	event := testee.Event{
		"kind":   "row",
		"op":     "delete",
		"schema": shown.schema,
		"table":  shown.table,
		"key":    keyNames(key),
		"before": columns,
		"after":  nil,
	}
	if value == nil {
		return event, nil
	}
	told := map[string]any{}
	for _, each := range value.fields {
		if !each.isColumn {
			told[each.name] = value.values[each.name]
		}
	}
	letter, _ := told["_tidb_op"].(string)
	operation, found := operations[letter]
	if !found {
		return nil, fmt.Errorf("_tidb_op is %q", letter)
	}
	event["op"] = operation
	if operation != "delete" {
		event["before"], event["after"] = nil, columns
	}
	if old, isThere := told[before].(map[string]any); isThere && (operation == "update" || operation == "upsert") {
		if event["before"], err = imageOf(value.before, old); err != nil {
			return nil, err
		}
	}
	event["position"] = textsOf(told, map[string]string{
		"commit_ts": "_tidb_commit_ts",
		"commit_ms": "_tidb_commit_physical_time",
	})
	event["extra"] = textsOf(told, map[string]string{
		"checksum":         "_tidb_row_level_checksum",
		"corrupted":        "_tidb_corrupted",
		"checksum_version": "_tidb_checksum_version",
	})
	return event, nil
}

// textsOf returns the fields of the extension that are there, under other names.
func textsOf(told map[string]any, names map[string]string) map[string]string {
	found := map[string]string{}
	for name, field := range names {
		if value, isThere := told[field]; isThere {
			found[name] = fmt.Sprint(value)
		}
	}
	return found
}

func keyNames(key *row) []string {
	names := []string{}
	if key != nil {
		for _, each := range key.fields {
			if each.isColumn {
				names = append(names, each.name)
			}
		}
	}
	return names
}

func imageOf(fields []field, values map[string]any) (map[string]any, error) {
	image := map[string]any{}
	for _, each := range fields {
		if each.isColumn {
			cell, err := columnOf(each, values[each.name])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", each.name, err)
			}
			image[each.name] = cell
		}
	}
	return image, nil
}

// columnOf returns what a library made of a value as a column of the testee protocol.
func columnOf(each field, cell any) (any, error) {
	switch value := cell.(type) {
	case nil:
		return nil, nil
	case bool:
		return strconv.FormatBool(value), nil
	case int:
		return integerText(each, int64(value)), nil
	case int32:
		return integerText(each, int64(value)), nil
	case int64:
		return integerText(each, value), nil
	case float32:
		return floatText(float64(value), 32), nil
	case float64:
		return floatText(value, 64), nil
	case *big.Rat:
		return value.FloatString(each.scale), nil
	case []byte:
		if each.tidbType != "BIT" {
			return bytesOf(value), nil
		}
		if len(value) == 0 || len(value) > 8 {
			return nil, fmt.Errorf("a BIT has 1 to 8 bytes, not %d", len(value))
		}
		return new(big.Int).SetBytes(value).String(), nil
	case string:
		if utf8.ValidString(value) {
			return value, nil
		}
		if each.tidbType != "TEXT" {
			return nil, errors.New("text that is not UTF-8")
		}
		return bytesOf([]byte(value)), nil // a string of Go may hold any bytes
	}
	return nil, fmt.Errorf("%T is the value of no column", cell)
}

// integerText returns digits. A long is signed: the producer wraps a BIGINT UNSIGNED that is above.
func integerText(each field, value int64) string {
	if each.tidbType == "BIGINT UNSIGNED" {
		return strconv.FormatUint(uint64(value), 10)
	}
	return strconv.FormatInt(value, 10)
}

func floatText(value float64, bits int) string {
	switch {
	case math.IsNaN(value):
		return "nan"
	case math.IsInf(value, 0):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(value, 'g', -1, bits), "+"))
	}
	return strconv.FormatFloat(value, 'g', -1, bits)
}

func bytesOf(value []byte) map[string]any {
	return map[string]any{"bytes": base64.StdEncoding.EncodeToString(value)}
}
