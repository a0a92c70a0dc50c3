// goavro as a testee: cdcwire verify avro -- adapters/go/build/goavro
//
// Without EnableStringNull off, a default 'null' of a text column is taken for NULL, and the schema refused.
// NativeFromBinary gives back the bytes that are left over. A union's value comes in a map of one member, named after
// its branch; a decimal is a *big.Rat; a string holds any bytes.
package main

import (
	"fmt"

	"cdcwire-adapter-go/testee"
	"cdcwire-adapter-go/ticdc"

	"github.com/linkedin/goavro/v2"
)

const library = "github.com/linkedin/goavro/v2"

var codecs = map[string]*goavro.Codec{}

func read(schema string, data []byte) (map[string]any, error) {
	codec := codecs[schema]
	if codec == nil {
		made, err := goavro.NewCodecWithOptions(schema, &goavro.CodecOption{EnableStringNull: false})
		if err != nil {
			return nil, err
		}
		codec, codecs[schema] = made, made
	}
	native, rest, err := codec.NativeFromBinary(data)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%d bytes are left over", len(rest))
	}
	record, isRecord := native.(map[string]any)
	if !isRecord {
		return nil, fmt.Errorf("%T is not a record", native)
	}
	return unwrapped(record), nil
}

// unwrapped takes values out of the maps that stand for unions. No value of a column is a map itself, but the old row.
func unwrapped(record map[string]any) map[string]any {
	found := map[string]any{}
	for name, value := range record {
		if branches, isUnion := value.(map[string]any); isUnion {
			for _, value = range branches {
			}
			if old, isRecord := value.(map[string]any); isRecord {
				value = unwrapped(old)
			}
		}
		found[name] = value
	}
	return found
}

func main() {
	testee.Serve("goavro", testee.VersionOf(library), "avro", ticdc.Without, ticdc.Decoder(read))
}
