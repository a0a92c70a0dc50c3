package main

import (
	"math/big"
	"strings"
	"testing"

	"github.com/hamba/avro/v2"
)

const scaled = `{"type":"record","name":"t","namespace":"default.s","fields":[
	{"name":"d","type":{"type":"bytes","logicalType":"decimal","precision":10,"scale":SCALE}}]}`

func TestSchemasOfOneNameAreKeptApart(t *testing.T) {
	for scale, want := range map[string]*big.Rat{"1": big.NewRat(15, 10), "2": big.NewRat(15, 100)} {
		record, err := read(strings.Replace(scaled, "SCALE", scale, 1), []byte("\x02\x0f"))
		if err != nil {
			t.Fatal(err)
		}
		if number, isNumber := record["d"].(*big.Rat); !isNumber || number.Cmp(want) != 0 {
			t.Errorf("with scale %s the value is %v", scale, record["d"])
		}
	}
}

const long = `{"type":"record","name":"t","namespace":"default.s","fields":[{"name":"a","type":"string"}]}`

func TestTextBeyondTheDefaultLimitIsRead(t *testing.T) {
	data := append([]byte("\x80\x80\x80\x02"), strings.Repeat("x", 1<<21)...)
	if record, err := read(long, data); err != nil || len(record["a"].(string)) != 1<<21 {
		t.Errorf("2 MiB of text: %v", err)
	}
	var native any
	if err := avro.Unmarshal(avro.MustParse(long), data, &native); err == nil {
		t.Error("the default limit is higher now: MaxByteSliceSize is not needed any more")
	}
}

func TestFaultsAreRefused(t *testing.T) {
	var native any
	if err := avro.Unmarshal(avro.MustParse(long), []byte("\x02x\x00"), &native); err != nil {
		t.Error("Unmarshal now notices bytes after the record: a Reader is no longer needed")
	}
	for name, data := range map[string]string{
		"a byte after the record": "\x02x\x00",
		"cut short":               "\x04x",
		"a length below zero":     "\x01x",
	} {
		if _, err := read(long, []byte(data)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
