package corpus

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestWalk(t *testing.T) {
	text, err := Data.ReadFile("data/manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Formats map[string]struct{ Lines struct{ Stored int } }
	}
	if err := json.Unmarshal(text, &manifest); err != nil || len(manifest.Formats) == 0 {
		t.Fatal("no formats", err)
	}
	refuse := func(Request) (any, error) { return nil, errors.New("refused") }
	read := func(Request) (any, error) { return nil, nil }
	yes := func(json.RawMessage, any) bool { return true }
	for format, facts := range manifest.Formats {
		cases, err := Cases(format)
		if err != nil || len(cases) != facts.Lines.Stored {
			t.Fatal(format, len(cases), facts, err)
		}
		asked, valid, feature := []Case{}, 0, ""
		for _, each := range cases {
			if each.Asked(Settings{}) {
				asked = append(asked, each)
				if each.Expect == "accept" {
					valid++
				}
				if len(each.Features) > 0 {
					feature = each.Features[0]
				}
			}
		}
		next := 0
		right := func(Request) (any, error) {
			next++
			if asked[next-1].Expect == "reject" {
				return nil, errors.New("refused")
			}
			return asked[next-1].Events, nil
		}
		equal := func(right json.RawMessage, given any) bool { return string(right) == string(given.(json.RawMessage)) }
		check := func(what string, wantAsked, wantFailures int, decode func(Request) (any, error), same func(json.RawMessage, any) bool, s Settings) {
			t.Helper()
			number, failures, err := Walk(format, decode, same, s)
			if err != nil || number != wantAsked || (wantFailures >= 0 && len(failures) != wantFailures) {
				t.Error(format, what, number, wantAsked, len(failures), wantFailures, err)
			}
		}
		check("right answers", len(asked), 0, right, equal, Settings{})
		check("refuses all", len(asked), valid, refuse, yes, Settings{})
		check("reads all", len(asked), len(asked)-valid, read, yes, Settings{})
		without := 0
		for _, each := range asked {
			if !strings.Contains("\n"+strings.Join(each.Features, "\n")+"\n", "\n"+feature+"\n") {
				without++
			}
		}
		check("a declined feature", without, -1, refuse, yes, Settings{Without: map[string]bool{feature: true}})
		_, failures, _ := Walk(format, func(Request) (any, error) { panic("broken") }, yes, Settings{})
		if failures[0].Problem != "crashed: broken" {
			t.Error(failures[0])
		}
	}
	if _, err := Cases("none"); err == nil {
		t.Error("an unknown format has no cases")
	}
}
