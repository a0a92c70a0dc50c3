// Package testee is the testee protocol, kept-alive door: a JSON request a line in, a JSON answer a line out.
//
// This is all that cdcwire asks of a program in Go. To test your own decoder, keep it and call Serve with yours.
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

// Message is a message of Kafka; nil is Kafka's null. Its base64 is read by encoding/json.
type Message struct {
	Key   []byte `json:"key"`
	Value []byte `json:"value"`
}

// Request is what the runner sends. Members that a case does not need are missing.
type Request struct {
	Cmd      string            `json:"cmd"`
	Seq      json.Number       `json:"seq"`
	Options  map[string]any    `json:"options"`
	Schemas  map[string]string `json:"schemas"`
	Messages []Message         `json:"messages"`
}

// Event is an event in the text form of the protocol.
type Event map[string]any

// Decode gives the events of one message. Its error says that the bytes are bad.
type Decode func(message Message, request *Request) ([]Event, error)

// Serve answers requests until stop. What is no answer, a panic for one, ends the program: it is a crash, and reported
// as one. The features in without are not claimed.
func Serve(name, version, format string, without []string, decode Decode) {
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
			claim := map[string]any{"encode": false, "without": without}
			say(map[string]any{
				"protocol": 1,
				"name":     name,
				"version":  version,
				"language": "Go",
				"formats":  map[string]any{format: claim},
			})
		case "decode":
			say(answer(&request, decode))
		default:
			return
		}
	}
}

func answer(request *Request, decode Decode) map[string]any {
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
