// hamba/avro as a testee: cdcwire verify avro -- adapters/go/build/hamba
//
// Parse keeps named types for all schemas of a program, and all tables' keys and values have names in common, so each
// schema has a cache of its own here. Unmarshal does not look for bytes behind the record; a Reader tells. The limit of
// texts that comes with it is too low, and the items of an array have none: their memory is taken before they are read.
package main

import (
	"bytes"
	"errors"
	"fmt"

	"cdcwire-adapter-go/testee"
	"cdcwire-adapter-go/ticdc"

	"github.com/hamba/avro/v2"
)

const library = "github.com/hamba/avro/v2"

var (
	schemas = map[string]avro.Schema{}

	// 64 MiB for a text, where the default is 1 MiB; a changefeed's messages have 10 MiB unless it says otherwise.
	api = avro.Config{MaxByteSliceSize: 1 << 26, MaxSliceAllocSize: 1 << 20}.Freeze()
)

func read(text string, data []byte) (map[string]any, error) {
	if schemas[text] == nil {
		schema, err := avro.ParseWithCache(text, "", &avro.SchemaCache{})
		if err != nil {
			return nil, err
		}
		schemas[text] = schema
	}
	reader := avro.NewReader(bytes.NewReader(data), 4096, avro.WithReaderConfig(api))
	var native any
	reader.ReadVal(schemas[text], &native)
	if reader.Error != nil {
		return nil, reader.Error
	}
	if reader.Peek(); reader.Error == nil {
		return nil, errors.New("bytes are left over")
	}
	record, isRecord := native.(map[string]any)
	if !isRecord {
		return nil, fmt.Errorf("%T is not a record", native)
	}
	return unwrapped(record), nil
}

// unwrapped takes the old row out of the map that names its record; other values of a union come as they are.
func unwrapped(record map[string]any) map[string]any {
	for name, value := range record {
		if branches, isNamed := value.(map[string]any); isNamed && len(branches) == 1 {
			for _, record[name] = range branches {
			}
		}
	}
	return record
}

func main() {
	testee.Serve("hamba/avro", testee.VersionOf(library), "avro", ticdc.Without, ticdc.Decoder(read))
}
