package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cdcwire-adapter-go/corpus"
	"cdcwire-adapter-go/testee"
	"cdcwire-adapter-go/ticdc"
)

// The hook: the format, a decoder, the features that it lacks, and what it does where the format leaves a choice.
const format = "avro"

var (
	decode  = ticdc.Decoder(read)
	without = ticdc.Without
	choices = map[string]string{}
)

type line struct {
	ID       string           `json:"id"`
	Level    string           `json:"level"`
	Expect   string           `json:"expect"`
	Features []string         `json:"features"`
	Choice   string           `json:"choice"`
	Request  testee.Request   `json:"request"`
	Events   []map[string]any `json:"events"`
}

// TestCorpus walks an exported corpus: CDCWIRE_CORPUS=FOLDER go test ./... CDCWIRE_VERDICTS=FILE takes the verdicts.
func TestCorpus(t *testing.T) {
	folder := os.Getenv("CDCWIRE_CORPUS")
	if folder == "" {
		t.Skip("CDCWIRE_CORPUS is not set")
	}
	var manifest struct{ Formats map[string]corpus.Rules }
	text, err := os.ReadFile(filepath.Join(folder, "manifest.json"))
	if err != nil || json.Unmarshal(text, &manifest) != nil {
		t.Fatal("manifest.json can't be read: ", err)
	}
	rules := manifest.Formats[format]
	rules.NotCompared = append(rules.NotCompared, without...)
	verdicts := []string{}
	for _, kind := range []string{"cases", "derived"} {
		file, err := os.Open(filepath.Join(folder, kind, format+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<28)
		for lines.Scan() {
			var asked line
			if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
				t.Fatal(err)
			}
			verdict, isBinding := verdictOf(&asked, rules)
			verdicts = append(verdicts, verdict+" "+asked.ID+"\n")
			if isBinding && verdict != "passed" && verdict != "skipped" {
				t.Errorf("%s: %s", asked.ID, verdict)
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if name := os.Getenv("CDCWIRE_VERDICTS"); name != "" {
		if err := os.WriteFile(name, []byte(strings.Join(verdicts, "")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func verdictOf(asked *line, rules corpus.Rules) (verdict string, isBinding bool) {
	subject, other, _ := strings.Cut(asked.Choice, ":")
	mine, isMade := choices[subject]
	isBinding = asked.Level == "must" || asked.Level == "may" && isMade
	lacks := slices.ContainsFunc(asked.Features, func(name string) bool { return slices.Contains(without, name) })
	if asked.Expect == "encode" || lacks || isMade && mine != strings.TrimSpace(other) {
		return "skipped", isBinding
	}
	defer func() {
		if problem := recover(); problem != nil {
			verdict = "crashed"
		}
	}()
	found := []testee.Event{}
	for _, message := range asked.Request.Messages {
		events, err := decode(message, &asked.Request)
		if err != nil {
			return map[bool]string{true: "passed", false: "failed"}[asked.Expect == "reject"], isBinding
		}
		found = append(found, events...)
	}
	text, err := json.Marshal(found)
	given := []map[string]any{}
	if err == nil {
		err = json.Unmarshal(text, &given)
	}
	if err != nil {
		panic(fmt.Sprint("the events are not JSON: ", err))
	}
	isRight := asked.Expect == "accept" && corpus.SameEvents(asked.Events, given, rules)
	return map[bool]string{true: "passed", false: "failed"}[isRight], isBinding
}
