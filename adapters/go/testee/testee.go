// Package testee is the testee protocol in kept-alive mode: a JSON request per line in, a JSON answer per line out.
//
// It is all that cdcwire asks of a program in Go. To test your own decoder, copy this file and call Serve or
// ServeFormats with yours.
package testee

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"
	"runtime/debug"
)

// Message is a message of Kafka, or a file in storage, which has a Path. A nil slice is Kafka's null; encoding/json
// reads the base64.
type Message struct {
	Key     []byte            `json:"key"`
	Value   []byte            `json:"value"`
	Headers map[string][]byte `json:"headers,omitempty"`
	Path    string            `json:"path,omitempty"`
}

// Column is a column of a table definition.
type Column struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Source   string   `json:"source"`
	Nullable *bool    `json:"nullable"`
	Roles    []string `json:"roles"`
}

// Table is a table definition, which the bytes of some formats need.
type Table struct {
	Database string   `json:"database"`
	Schema   string   `json:"schema"`
	Table    string   `json:"table"`
	Key      []string `json:"key"`
	Columns  []Column `json:"columns"`
}

// Event is an event in the text form of the protocol.
type Event map[string]any

// Request is what the runner sends. Members that a case does not need are empty.
type Request struct {
	Cmd      string            `json:"cmd"`
	Seq      json.Number       `json:"seq"`
	Format   string            `json:"format"`
	Options  map[string]any    `json:"options"` // the producer's settings: string, float64 or bool
	Tables   []Table           `json:"tables"`
	Schemas  map[string]string `json:"schemas"` // Avro schemas by id
	Blobs    map[string][]byte `json:"blobs"`   // claim-check files by location
	Messages []Message         `json:"messages"`
	Events   []Event           `json:"events"`
}

// Decode returns the events of one message. Its error says that the bytes break the format.
type Decode func(message Message, request *Request) ([]Event, error)

// Encode returns the messages of the request's events. Its error says that the format cannot carry them.
type Encode func(request *Request) ([]Message, error)

// Format is what a program does with one format. Encode may be nil. Features in Without are not claimed; Choices says
// what the decoder does where the format leaves a choice.
type Format struct {
	Decode  Decode
	Encode  Encode
	Without []string
	Choices map[string]string
}

// Serve answers requests for one format until stop.
func Serve(name, version, format string, without []string, decode Decode) {
	ServeFormats(name, version, map[string]Format{format: {Decode: decode, Without: without}})
}

// ServeFormats answers requests until stop. It does not recover from a panic: that ends the program, and the runner
// reports a crash.
func ServeFormats(name, version string, formats map[string]Format) {
	reader := bufio.NewReader(os.Stdin)
	for {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return
		}
		var request Request
		if err == nil {
			err = json.Unmarshal(line, &request)
		}
		if err != nil {
			log.Fatal(err)
		}
		switch request.Cmd {
		case "start":
			say(describe(name, version, formats))
		case "decode":
			say(decode(&request, formats[request.Format].Decode))
		case "encode":
			say(encode(&request, formats[request.Format].Encode))
		default:
			return
		}
	}
}

func describe(name, version string, formats map[string]Format) map[string]any {
	claims := map[string]any{}
	for id, format := range formats {
		claims[id] = map[string]any{
			"encode":  format.Encode != nil,
			"without": append([]string{}, format.Without...),
			"choices": choicesOf(format),
		}
	}
	return map[string]any{
		"protocol": 1,
		"name":     name,
		"version":  version,
		"language": "Go",
		"formats":  claims,
	}
}

func choicesOf(format Format) map[string]string {
	if format.Choices == nil {
		return map[string]string{}
	}
	return format.Choices
}

func decode(request *Request, decode Decode) map[string]any {
	events := []Event{}
	for index, message := range request.Messages {
		found, err := decode(message, request)
		if err != nil {
			rejected := map[string]any{"problem": err.Error(), "message": index}
			return map[string]any{"seq": request.Seq, "rejected": rejected}
		}
		events = append(events, found...)
	}
	return map[string]any{"seq": request.Seq, "events": events}
}

func encode(request *Request, encode Encode) map[string]any {
	messages, err := encode(request)
	if err != nil {
		return map[string]any{"seq": request.Seq, "rejected": map[string]any{"problem": err.Error()}}
	}
	return map[string]any{"seq": request.Seq, "messages": append([]Message{}, messages...)}
}

func say(document map[string]any) {
	line, err := json.Marshal(document)
	if err != nil {
		log.Fatal(err)
	}
	os.Stdout.Write(append(line, '\n'))
}

// VersionOf returns the version of a module that the program was built with.
func VersionOf(module string) string {
	if info, found := debug.ReadBuildInfo(); found {
		for _, each := range info.Deps {
			if each.Path == module {
				return each.Version
			}
		}
	}
	return "unknown"
}
