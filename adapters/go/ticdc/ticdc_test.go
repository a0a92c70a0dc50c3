package ticdc

import (
	"math"
	"math/big"
	"reflect"
	"testing"

	"cdcwire-adapter-go/testee"
)

const text = `{"type":"record","name":"t","namespace":"default.s","fields":[
	{"name":"id","type":{"type":"long","connect.parameters":{"tidb_type":"BIGINT UNSIGNED"}}},
	{"name":"d","type":["null",{"type":"bytes","connect.parameters":{"tidb_type":"DECIMAL"},"scale":3}]},
	{"name":"b","type":[{"type":"bytes","connect.parameters":{"tidb_type":"BIT"}},"null"]},
	{"name":"s","type":{"type":"string","connect.parameters":{"tidb_type":"TEXT"}}},
	{"name":"_tidb_op","type":"string"},{"name":"_tidb_commit_ts","type":"long"}]}`

func decoded(t *testing.T, key, value []byte, record map[string]any) (testee.Event, error) {
	t.Helper()
	decode := Decoder(func(string, []byte) (map[string]any, error) { return record, nil })
	request := &testee.Request{Schemas: map[string]string{"1": text}}
	events, err := decode(testee.Message{Key: key, Value: value}, request)
	if err != nil {
		return nil, err
	}
	return events[0], nil
}

var envelope = []byte{0, 0, 0, 0, 1}

func TestRowBecomesAnEvent(t *testing.T) {
	event, err := decoded(t, nil, envelope, map[string]any{
		"id":              int64(-1),
		"d":               big.NewRat(-1, 2),
		"b":               []byte{2, 0},
		"s":               "\xff",
		"_tidb_op":        "c",
		"_tidb_commit_ts": int64(433305438660591626),
	})
	if err != nil {
		t.Fatal(err)
	}
	after := map[string]any{
		"id": "18446744073709551615",
		"d":  "-0.500",
		"b":  "512",
		"s":  map[string]any{"bytes": "/w=="},
	}
	if !reflect.DeepEqual(event["after"], after) {
		t.Errorf("after is %v", event["after"])
	}
	position := map[string]string{"commit_ts": "433305438660591626"}
	if event["op"] != "insert" || !reflect.DeepEqual(event["position"], position) {
		t.Errorf("event is %v", event)
	}
}

func TestNullValueIsADelete(t *testing.T) {
	event, err := decoded(t, envelope, nil, map[string]any{"id": int64(1)})
	if err != nil || event["op"] != "delete" || event["after"] != nil {
		t.Errorf("event is %v, error %v", event, err)
	}
}

func TestFaultsAreRefused(t *testing.T) {
	good := map[string]any{"id": int64(1), "_tidb_op": "c"}
	for name, value := range map[string][]byte{
		"another envelope": {1, 0, 0, 0, 1},
		"an unknown id":    {0, 0, 0, 0, 2},
		"cut short":        {0, 0},
	} {
		if _, err := decoded(t, nil, value, good); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for name, record := range map[string]map[string]any{
		"operation": {"_tidb_op": "x"},
		"BIT":       {"b": []byte{}},
	} {
		if _, err := decoded(t, nil, envelope, record); err == nil {
			t.Errorf("invalid %s is accepted", name)
		}
	}
}

func TestFloatsHaveTheProtocolsNames(t *testing.T) {
	for want, value := range map[string]float64{
		"nan": math.NaN(), "inf": math.Inf(1), "-inf": math.Inf(-1), "-0": math.Copysign(0, -1), "0.1": 0.1,
	} {
		if got := floatText(value, 64); got != want {
			t.Errorf("%v is %s, not %s", value, got, want)
		}
	}
	if got := floatText(float64(float32(0.1)), 32); got != "0.1" {
		t.Errorf("float32 0.1 is %s", got)
	}
}
