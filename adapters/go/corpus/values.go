package corpus

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
)

var (
	isInteger = regexp.MustCompile(`^-?[0-9]+$`).MatchString
	isDecimal = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`).MatchString
	numbers   = regexp.MustCompile(`^[^(<]*\(([0-9]+(?:,[0-9]+)*)\)`)
	details   = regexp.MustCompile(`(?s)[(<].*[)>]`) // of a type: decimal(10,4)
)

func (rules Rules) sameRow(wanted, given any) bool {
	ours, theirs := objectOf(wanted), objectOf(given)
	if ours == nil || theirs == nil || len(ours) != len(theirs) {
		return ours == nil && theirs == nil
	}
	for name, value := range ours {
		found, isThere := theirs[name]
		if !isThere || !rules.sameValue(value, found) {
			return false
		}
	}
	return true
}

func isNull(value any) bool {
	text, isThere := objectOf(value)["value"]
	return value == nil || isThere && text == nil
}

func (rules Rules) sameValue(wanted, given any) bool {
	if isNull(wanted) || isNull(given) {
		return isNull(wanted) && isNull(given)
	}
	ours, theirs := typed(wanted), typed(given)
	if ours["unavailable"] != nil || theirs["unavailable"] != nil {
		return ours["unavailable"] == theirs["unavailable"]
	}
	wantedType, _ := ours["type"].(string)
	kind := details.ReplaceAllString(wantedType, "")
	if said, isSaid := theirs["type"].(string); isSaid && !sameType(wantedType, said) {
		return false
	}
	forms, _ := ours["same"].([]any)
	return slices.ContainsFunc(append([]any{ours}, forms...), func(form any) bool {
		return rules.sameForm(kind, objectOf(form), theirs)
	})
}

// sameType tells whether two types are the same, as far as both have parameters.
func sameType(wanted, given string) bool {
	ours, theirs := parametersOf(wanted), parametersOf(given)
	both := min(len(ours), len(theirs))
	isKind := details.ReplaceAllString(wanted, "") == details.ReplaceAllString(given, "")
	return isKind && slices.Equal(ours[:both], theirs[:both])
}

func parametersOf(name string) []string {
	if found := numbers.FindStringSubmatch(name); found != nil {
		return strings.Split(found[1], ",")
	}
	return nil
}

func typed(value any) map[string]any {
	if text, isText := value.(string); isText {
		return map[string]any{"value": text}
	}
	return objectOf(value)
}

func (rules Rules) sameForm(kind string, wanted, given map[string]any) bool {
	switch kind {
	case "enum", "set":
		return sameLabel(kind, wanted, given)
	case "struct":
		return rules.sameRow(wanted["fields"], given["fields"])
	case "array":
		ours, theirs := listOf(wanted["items"]), listOf(given["items"])
		return slices.EqualFunc(ours, theirs, rules.sameValue)
	case "map":
		left := slices.Clone(listOf(given["entries"]))
		for _, pair := range listOf(wanted["entries"]) {
			index := slices.IndexFunc(left, func(other any) bool {
				return slices.EqualFunc(listOf(pair), listOf(other), rules.sameValue)
			})
			if index < 0 {
				return false
			}
			left = slices.Delete(left, index, index+1)
		}
		return len(left) == 0
	}
	if wanted["bytes"] != nil || given["bytes"] != nil {
		return wanted["bytes"] == given["bytes"]
	}
	one, isText := wanted["value"].(string)
	other, isAlsoText := given["value"].(string)
	switch {
	case !isText || !isAlsoText:
		return false
	case strings.HasPrefix(kind, "int") && kind != "interval", kind == "year", kind == "bit":
		return isInteger(other) && rational(one).Cmp(rational(other)) == 0
	case strings.HasPrefix(kind, "float"):
		return sameFloat(one, other, kind[5:])
	case strings.HasPrefix(kind, "decimal"):
		isScaled := slices.Contains(rules.NotCompared, "scale") || digitsAfterPoint(one) == digitsAfterPoint(other)
		return one == other || isScaled && isDecimal(one) && isDecimal(other) && rational(one).Cmp(rational(other)) == 0
	case kind == "json" && one != other:
		ours, theirs := jsonOf(one), jsonOf(other)
		return ours != nil && theirs != nil && reflect.DeepEqual(ours, theirs)
	case kind == "vector" && one != other:
		return slices.EqualFunc(numbersOf(one), numbersOf(other), func(a, b string) bool { return sameFloat(a, b, "32") })
	case one != other || wanted["unit"] != given["unit"]:
		return false
	case !strings.HasPrefix(kind, "date") && !strings.HasPrefix(kind, "time") || given["unit"] != nil || wanted["zone"] == given["zone"]:
		return true
	}
	return given["zone"] == nil && (!rules.ZoneNeeded || strings.HasSuffix(one, "infinity"))
}
