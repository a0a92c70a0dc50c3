package corpus

import (
	"encoding/json"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var isFloat = regexp.MustCompile(`^(-?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?|nan|-?inf)$`).MatchString

func sameLabel(kind string, wanted, given map[string]any) bool {
	if text, isText := given["value"]; isText {
		return text == wanted["index"] || text == wanted["label"]
	}
	count := 0
	for _, name := range []string{"index", "label"} {
		one, isOurs := wanted[name].(string)
		other, isTheirs := given[name].(string)
		if isOurs && isTheirs {
			ours, theirs := []string{one}, []string{other}
			if kind == "set" {
				ours, theirs = strings.Split(one, ","), strings.Split(other, ",")
				slices.Sort(ours)
				slices.Sort(theirs)
			}
			if !slices.Equal(ours, theirs) {
				return false
			}
			count++
		}
	}
	return count > 0
}

func listOf(value any) []any {
	list, _ := value.([]any)
	return list
}

func rational(text string) *big.Rat {
	number, _ := new(big.Rat).SetString(text)
	return number
}

func digitsAfterPoint(text string) int {
	_, digits, _ := strings.Cut(text, ".")
	return len(digits)
}

func sameFloat(wanted, given, bits string) bool {
	size, _ := strconv.Atoi(bits)
	one, _ := strconv.ParseFloat(wanted, size)
	other, _ := strconv.ParseFloat(given, size)
	isSame := one == other && math.Signbit(one) == math.Signbit(other)
	return isFloat(given) && (isSame || math.IsNaN(one) && math.IsNaN(other))
}

func numbersOf(vector string) []string {
	return strings.Split(strings.ReplaceAll(strings.Trim(vector, "[]"), " ", ""), ",")
}

// jsonOf returns the value of a JSON text; nil if it is not JSON.
func jsonOf(text string) any {
	if !json.Valid([]byte(text)) {
		return nil
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	return nextOf(decoder)
}

type (
	number string
	null   struct{}
	member struct {
		name  string
		value any
	}
)

// nextOf returns the next value of valid JSON: numbers exact, members by name, repeated ones in their order.
func nextOf(decoder *json.Decoder) any {
	token, _ := decoder.Token()
	switch token := token.(type) {
	case nil:
		return null{}
	case json.Number:
		return number(rational(token.String()).RatString())
	case json.Delim:
		items, members := []any{}, []member{}
		for decoder.More() {
			if token == '[' {
				items = append(items, nextOf(decoder))
				continue
			}
			name, _ := decoder.Token()
			members = append(members, member{name.(string), nextOf(decoder)})
		}
		decoder.Token()
		if token == '[' {
			return items
		}
		slices.SortStableFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
		return members
	}
	return token
}
