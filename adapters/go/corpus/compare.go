// Package corpus compares answers with an exported corpus, by the rules of COMPARISON.md there.
package corpus

import (
	"maps"
	"reflect"
	"slices"
	"sort"
)

// Rules are those of a format in manifest.json.
type Rules struct {
	NotCompared      []string `json:"not_compared"`
	NotMadeUp        []string `json:"not_made_up"`
	ZoneNeeded       bool     `json:"zone_needed"`
	KeyRowsHaveNulls bool     `json:"key_rows_have_nulls"`
}

var (
	names    = []string{"database", "schema", "table"}
	position = []string{
		"commit_ts", "sequence_id", "lsn", "tx_id", "tx_order", "partition", "commit_ms", "sent_ms",
		"file", "pos", "row", "gtid", "server_id", "commit_lsn", "change_lsn", "event_serial_no",
		"commit_scn", "scn", "rs_id", "ssn", "start_ts",
	}
)

// SameEvents reports whether the events of an answer are right. Both are as encoding/json reads them.
func SameEvents(wanted, given []map[string]any, rules Rules) bool {
	isTombstone := func(event map[string]any) bool { return event["what"] == "tombstone" }
	if !slices.ContainsFunc(given, isTombstone) {
		wanted = slices.DeleteFunc(slices.Clone(wanted), isTombstone)
	}
	return slices.EqualFunc(joined(wanted), joined(given), rules.sameEvent)
}

// joined makes one update of a before-half and the after-half that follows.
func joined(events []map[string]any) []map[string]any {
	all := []map[string]any{}
	for _, event := range events {
		if len(all) > 0 && isPair(all[len(all)-1], event) {
			whole := maps.Clone(event)
			whole["op"], whole["half"], whole["before"] = "update", nil, all[len(all)-1]["before"]
			all[len(all)-1] = whole
		} else {
			all = append(all, event)
		}
	}
	return all
}

func isPair(before, after map[string]any) bool {
	ours, theirs := objectOf(before["position"]), objectOf(after["position"])
	return before["half"] == "before" && after["half"] == "after" &&
		!slices.ContainsFunc(names, func(name string) bool { return before[name] != after[name] }) &&
		!slices.ContainsFunc(position[:3], func(name string) bool { return ours[name] != theirs[name] })
}

func (rules Rules) sameEvent(wanted, given map[string]any) bool {
	counts := func(name string) bool { return !slices.Contains(rules.NotCompared, name) }
	equal := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return wanted[name] != given[name] })
	}
	if !equal("kind") || counts("position") && !rules.samePosition(objectOf(wanted["position"]), objectOf(given["position"])) {
		return false
	}
	for name, value := range objectOf(given["extra"]) {
		if ours, found := objectOf(wanted["extra"])[name]; found && !reflect.DeepEqual(ours, value) {
			return false
		}
	}
	switch wanted["kind"] {
	case "ddl":
		both := slices.DeleteFunc([]string{"what", "code"}, func(name string) bool { return wanted[name] == nil || given[name] == nil })
		return rules.sameNames(wanted, given) && equal("query") && (!counts("what") || len(both) > 0 && equal(both...) || equal("what"))
	case "row":
		isDelete := wanted["op"] == "delete" || given["op"] == "delete"
		return (equal("op") || !counts("op") && !isDelete) && equal("half") && rules.sameNames(wanted, given) &&
			(wanted["key"] == nil || !counts("key") || reflect.DeepEqual(sorted(wanted["key"]), sorted(given["key"]))) &&
			(wanted["sent"] == nil || given["sent"] == nil || wanted["sent"] == "changed" || equal("sent")) &&
			rules.sameRow(filled(wanted, given), rules.ofKey(wanted, given, "before")) &&
			rules.sameRow(wanted["after"], rules.ofKey(wanted, given, "after"))
	}
	return equal("what", "id")
}

// sameNames compares the names of the table. An empty name of a database or schema is none.
func (rules Rules) sameNames(wanted, given map[string]any) bool {
	isEmpty := func(name any) bool { return name == nil || name == "" }
	return !slices.ContainsFunc(names, func(name string) bool {
		areNone := name != "table" && isEmpty(wanted[name]) && isEmpty(given[name])
		return wanted[name] != given[name] && !areNone && !slices.Contains(rules.NotCompared, name)
	})
}

// ofKey returns an answered row, which may have more columns that are NULL where it is cut to its key.
func (rules Rules) ofKey(wanted, given map[string]any, side string) any {
	ours, theirs := objectOf(wanted[side]), objectOf(given[side])
	if !rules.KeyRowsHaveNulls || wanted["sent"] != "key" || ours == nil || theirs == nil {
		return given[side]
	}
	row := maps.Clone(theirs)
	maps.DeleteFunc(row, func(name string, value any) bool {
		_, isOurs := ours[name]
		return !isOurs && isNull(value)
	})
	return row
}

func (rules Rules) samePosition(wanted, given map[string]any) bool {
	return !slices.ContainsFunc(position, func(name string) bool {
		isCompared := wanted[name] != nil || slices.Contains(rules.NotMadeUp, name)
		return isCompared && wanted[name] != given[name] && !slices.Contains(rules.NotCompared, name)
	})
}

// filled returns the old row with the unchanged columns that the answer has as well.
func filled(wanted, given map[string]any) any {
	if wanted["before"] == nil || wanted["sent"] != "changed" {
		return wanted["before"]
	}
	row := maps.Clone(objectOf(wanted["before"]))
	for name := range objectOf(given["before"]) {
		value, isThere := objectOf(wanted["after"])[name]
		if _, isOurs := row[name]; isThere && !isOurs {
			row[name] = value
		}
	}
	return row
}

func objectOf(value any) map[string]any {
	found, _ := value.(map[string]any)
	return found
}

func sorted(key any) []string {
	list, _ := key.([]any)
	found := []string{}
	for _, name := range list {
		text, _ := name.(string)
		found = append(found, text)
	}
	sort.Strings(found)
	return found
}
