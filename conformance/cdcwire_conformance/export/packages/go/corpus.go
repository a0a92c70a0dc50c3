// Package corpus walks the golden cases of cdcwire. data/README.md describes a case.
package corpus

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Data has the files of the corpus: data/cases/FORMAT.jsonl, data/schemas, data/manifest.json.
//
//go:embed data
var Data embed.FS

// Message is a message of a request. A nil Key or Value is Kafka's null. Path is that of a stored file.
type Message struct {
	Key, Value []byte
	Path       string
}

// Request is the input of a decoder.
type Request struct {
	Format                          string
	Messages                        []Message
	Options, Tables, Schemas, Blobs json.RawMessage
}

// Case is one golden case. Events is the right answer if Expect is "accept".
type Case struct {
	ID, Level, Expect, Choice string
	Features, Clause          []string
	Request                   Request
	Events                    json.RawMessage
}

// Settings are the features that a decoder lacks, and its choices by subject.
type Settings struct {
	Without map[string]bool
	Choices map[string]string
}

// Failure is a wrong answer. A binding failure is a bug of the decoder.
type Failure struct {
	ID, Problem string
	Binding     bool
}

// Cases returns the cases of a format.
func Cases(format string) ([]Case, error) {
	text, err := Data.ReadFile("data/cases/" + format + ".jsonl")
	found := make([]Case, bytes.Count(text, []byte("\n")))
	decoder := json.NewDecoder(bytes.NewReader(text))
	for index := range found {
		err = errors.Join(err, decoder.Decode(&found[index]))
	}
	return found, err
}

// Asked returns whether a decoder with these settings is asked.
func (c Case) Asked(s Settings) bool {
	choice, isChosen := s.chosen(c)
	lacks := slices.ContainsFunc(c.Features, func(each string) bool { return s.Without[each] })
	return c.Expect != "encode" && !lacks && (!isChosen || strings.HasSuffix(c.Choice, ": "+choice))
}

func (s Settings) chosen(c Case) (choice string, isChosen bool) {
	subject, _, _ := strings.Cut(c.Choice, ": ")
	choice, isChosen = s.Choices[subject]
	return
}

// Walk gives each asked case of a format to decode, whose error is a refusal. A panic is a crash.
// same compares the right events with those of the decoder. Walk returns the number of asked cases.
func Walk(format string, decode func(Request) (any, error), same func(right json.RawMessage, given any) bool, s Settings) (int, []Failure, error) {
	cases, err := Cases(format)
	asked, failures := 0, []Failure{}
	for _, each := range cases {
		if !each.Asked(s) {
			continue
		}
		asked++
		if problem := problemOf(each, decode, same); problem != "" {
			_, isChosen := s.chosen(each)
			failures = append(failures, Failure{each.ID, problem, each.Level == "must" || each.Level == "may" && isChosen})
		}
	}
	return asked, failures, err
}

func problemOf(c Case, decode func(Request) (any, error), same func(json.RawMessage, any) bool) (problem string) {
	defer func() {
		if found := recover(); found != nil {
			problem = fmt.Sprint("crashed: ", found)
		}
	}()
	switch given, err := decode(c.Request); {
	case err != nil && c.Expect == "accept":
		return "refused a valid message: " + err.Error()
	case err == nil && c.Expect == "reject":
		return "read a malformed message"
	case err == nil && !same(c.Events, given):
		return "gave other events"
	}
	return ""
}
