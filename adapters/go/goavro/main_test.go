package main

import (
	"math/big"
	"testing"

	"github.com/linkedin/goavro/v2"
)

const nullText = `{"type":"record","name":"t","namespace":"default.s","fields":[
	{"default":"null","name":"a","type":[{"type":"string","connect.parameters":{"tidb_type":"TEXT"}},"null"]},
	{"name":"d","type":["null",{"type":"bytes","logicalType":"decimal","precision":65,"scale":3}]}]}`

func TestDefaultNullOfATextColumnNeedsTheOption(t *testing.T) {
	if _, err := goavro.NewCodec(nullText); err == nil {
		t.Error("NewCodec takes the default 'null' now: the option is not needed any more")
	}
	record, err := read(nullText, []byte("\x00\x02x\x02\x02\xff"))
	if err != nil {
		t.Fatal(err)
	}
	number, isNumber := record["d"].(*big.Rat)
	if record["a"] != "x" || !isNumber || number.Cmp(big.NewRat(-1, 1000)) != 0 {
		t.Errorf("record is %v", record)
	}
}

func TestFaultsAreRefused(t *testing.T) {
	for name, data := range map[string]string{
		"a byte after the record": "\x00\x02x\x00\x00",
		"cut short":               "\x00\x02",
		"no branch":               "\x04\x02x\x00",
	} {
		if _, err := read(nullText, []byte(data)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
