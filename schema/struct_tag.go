package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
)

// tagWords splits a tag at its commas, except those after a backslash.
func tagWords(tag string) []string {
	if tag == "" {
		return nil
	}
	const placeholder = "\x00"
	words := strings.Split(strings.ReplaceAll(tag, `\,`, placeholder), ",")
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], placeholder, ",")
	}
	return words
}

// eachWord visits the words of a tag. A word that is a flag takes no value, and
// every other needs one; none is there twice.
func eachWord(tag string, isFlag func(keyword string) bool, visit func(keyword, value string) error) error {
	seen := map[string]bool{}
	var wrong []error
	for _, word := range tagWords(tag) {
		keyword, value, hasValue := strings.Cut(word, "=")
		var err error
		switch {
		case seen[keyword]:
			err = fmt.Errorf("%s is there twice: remove one of them", keyword)
		case isFlag(keyword) && hasValue: // required=false would else require it
			err = fmt.Errorf("%s takes no value: leave the word out if it is not meant", keyword)
		default:
			err = visit(keyword, value)
			if err == nil && !isFlag(keyword) && value == "" && keyword != "default" {
				err = fmt.Errorf("%s needs a value: %s=…", keyword, keyword)
			}
		}
		seen[keyword] = true
		wrong = append(wrong, err)
	}
	return errors.Join(wrong...)
}

// setCollectionTag applies the tag of a field named _, which is about the collection.
func setCollectionTag(c *model.Collection, tag string) error {
	noFlag := func(string) bool { return false }
	texts := map[string]*string{"singular": &c.Singular, "renamed_from": &c.RenamedFrom, "description": &c.Description, "label": &c.Label}
	return eachWord(tag, noFlag, func(keyword, value string) error {
		switch text, isText := texts[keyword]; {
		case keyword == "name": // see collectionName
		case keyword == "search":
			c.Search = strings.Split(value, "|")
		case isText:
			*text = value
		default:
			return fmt.Errorf("there is no keyword %q for the plural tag of a collection: use name, singular, description, search, label or renamed_from", keyword)
		}
		return nil
	})
}

// setTag applies the type of a field and the words of its tag. AsText: the json
// tag has a string made of it. Parent is set when the attribute is that of the
// parent.
func setTag(a *model.Attribute, t reflect.Type, asText bool, tag string, in nesting) (parent *model.Parent, err error) {
	var wrong []error
	ofType := model.Attribute{}
	unknown := setType(&ofType, t, in)
	if asText {
		unknown = errors.New("the word string in its json tag makes a text of it: remove the word, or say type=string in its plural tag")
	}
	declared, _ := tagValue(tag, "type")
	given := model.Type(declared)
	switch {
	case given != "" && (unknown != nil || t == reflect.TypeFor[json.RawMessage]()):
		ofType = model.Attribute{Type: given} // the author knows
	case unknown != nil:
		wrong = append(wrong, unknown)
	case given != "" && given != ofType.Type:
		wrong = append(wrong, fmt.Errorf("%s is %s in JSON, and not %s: leave the word type out", t, suggest.Article(string(ofType.Type)), suggest.Article(string(given))))
	}
	a.Type, a.Format, a.Pattern = ofType.Type, ofType.Format, ofType.Pattern
	a.Items, a.MinItems, a.MaxItems = ofType.Items, ofType.MinItems, ofType.MaxItems
	a.Properties, a.Closed = ofType.Properties, ofType.Closed
	parent, err = setWords(a, tag)
	wrong = append(wrong, err)
	if a.Format == model.Decimal && model.IsType(a.Type) && a.Type != model.String {
		wrong = append(wrong, fmt.Errorf("%s is %s in JSON, and a decimal is a string such as \"19.90\": use a string, or a type that writes one, with type=string in its plural tag", t, suggest.Article(string(a.Type))))
	}
	if _, scaled := tagValue(tag, "scale"); a.Format == model.Decimal && !scaled {
		wrong = append(wrong, errors.New("a decimal needs a scale, the number of digits after the point: add scale=2, for example"))
	}
	if ofType.Format != a.Format && ofType.Format != "" {
		wrong = append(wrong, fmt.Errorf("%s is %s in JSON: leave the format out", t, ofType.Format))
	}
	if ofType.Pattern != a.Pattern && ofType.Pattern != "" {
		wrong = append(wrong, fmt.Errorf("%s is base64 in JSON: leave the pattern out", t))
	}
	if ofType.MaxItems > 0 && (a.MinItems != ofType.MinItems || a.MaxItems != ofType.MaxItems) {
		wrong = append(wrong, fmt.Errorf("%s has %d items always: leave minItems and maxItems out", t, ofType.MaxItems))
	}
	wrong = append(wrong, keepBounds(a, ofType, t))
	return parent, errors.Join(wrong...)
}

// tagValue is what a tag has for a keyword.
func tagValue(tag, keyword string) (value string, found bool) {
	for _, word := range tagWords(tag) {
		if value, found = strings.CutPrefix(word, keyword+"="); found {
			return value, true
		}
	}
	return "", false
}

// fieldOf is the address of what a word of a tag sets, nil if a tag cannot have the keyword.
func fieldOf(a *model.Attribute, keyword string) any {
	k := model.FindKeyword(model.AttributeKeywords, keyword)
	switch {
	case keyword == "required": // of the attribute itself; in a file it is a list of properties
		return &a.Required
	case k == nil || k.Field == nil || k.Negated:
		return nil
	}
	return k.Field(a)
}

func setWords(a *model.Attribute, tag string) (parent *model.Parent, err error) {
	onDelete := model.OnDelete("")
	isFlag := func(keyword string) bool {
		_, flag := fieldOf(a, keyword).(*bool)
		return flag
	}
	err = eachWord(tag, isFlag, func(keyword, value string) error {
		switch keyword {
		case "parent":
			parent = &model.Parent{Collection: value}
		case "on_delete":
			onDelete = model.OnDelete(value)
		default:
			return setKeyword(a, keyword, value)
		}
		return nil
	})
	switch {
	case a.References != nil && parent != nil:
		err = errors.Join(err, errors.New("a parent is a reference already: leave the word references out"))
	case a.References != nil:
		a.References.OnDelete = onDelete
	case parent != nil:
		parent.OnDelete = onDelete
	case onDelete != "":
		err = errors.Join(err, errors.New("on_delete belongs to a reference: add references=… or parent=…, or remove it"))
	}
	return parent, err
}

// setKeyword sets the field of a keyword to the value in a tag.
func setKeyword(a *model.Attribute, keyword, value string) (err error) {
	switch field := fieldOf(a, keyword).(type) {
	case *model.Type: // see setTag
		if !model.IsType(a.Type) {
			return fmt.Errorf("type must be %s, but is %q", suggest.OneOf(model.Types), value)
		}
	case *model.Format:
		*field = model.Format(value)
	case *string:
		*field = value
	case *int:
		if *field, err = strconv.Atoi(value); err != nil {
			return fmt.Errorf("%s must be a whole number, but is %q", keyword, value)
		}
	case *json.Number:
		*field = json.Number(value)
	case *bool:
		*field = true
	case *any:
		*field = constant(a, value)
	case *[]any:
		for choice := range strings.SplitSeq(value, "|") {
			*field = append(*field, constant(a, choice))
		}
	case **model.Reference:
		*field = &model.Reference{Collection: value}
	case *model.Rule:
		field.Text = value
	case *[]string:
		*field = strings.Split(value, "|")
	case *map[string][]string:
		*field, err = pairs(value)
		return err
	default:
		return fmt.Errorf("there is no keyword %q for a plural tag", keyword)
	}
	return nil
}

// pairs reads the transitions of a tag: draft>published|published>archived.
func pairs(text string) (map[string][]string, error) {
	all := map[string][]string{}
	for pair := range strings.SplitSeq(text, "|") {
		from, to, found := strings.Cut(pair, ">")
		if !found || from == "" || to == "" {
			return nil, fmt.Errorf("transitions must be pairs such as draft>published, with | between them, but one is %q", pair)
		}
		all[from] = append(all[from], to)
	}
	return all, nil
}

// constant is a value of a tag as the attribute's type has it.
func constant(a *model.Attribute, text string) any {
	if a.Type == model.String {
		return text
	}
	return json.RawMessage(text)
}
