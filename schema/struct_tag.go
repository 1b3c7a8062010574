package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// tagWords splits a tag at its commas, but for those behind a backslash.
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
func eachWord(tag string, flags []string, visit func(keyword, value string) error) error {
	seen := map[string]bool{}
	var wrong []error
	for _, word := range tagWords(tag) {
		keyword, value, hasValue := strings.Cut(word, "=")
		isFlag := slices.Contains(flags, keyword)
		var err error
		switch {
		case seen[keyword]:
			err = fmt.Errorf("%s is there twice: remove one of them", keyword)
		case isFlag && hasValue: // required=false would else require it
			err = fmt.Errorf("%s takes no value: leave the word out if it is not meant", keyword)
		default:
			err = visit(keyword, value)
			if err == nil && !isFlag && value == "" && keyword != "default" {
				err = fmt.Errorf("%s needs a value: %s=…", keyword, keyword)
			}
		}
		seen[keyword] = true
		wrong = append(wrong, err)
	}
	return errors.Join(wrong...)
}

// setTag applies the tag of a field named _, which is about the collection.
func (c *Collection) setTag(tag string) error {
	return eachWord(tag, nil, func(keyword, value string) error {
		switch keyword {
		case "name": // see collectionName
		case "singular":
			c.Singular = value
		case "renamed_from":
			c.RenamedFrom = value
		case "description":
			c.Description = value
		default:
			return fmt.Errorf("there is no keyword %q for the plural tag of a collection: use name, singular, description or renamed_from", keyword)
		}
		return nil
	})
}

// setTag applies the type of a field and the words of its tag. AsText: the json
// tag has a string made of it. Parent is set when the attribute is that of the
// parent.
func (a *Attribute) setTag(t reflect.Type, asText bool, tag string) (parent *Parent, err error) {
	return a.setTagIn(t, asText, tag, nesting{properties: new(int)})
}

func (a *Attribute) setTagIn(t reflect.Type, asText bool, tag string, in nesting) (parent *Parent, err error) {
	var wrong []error
	ofType := Attribute{}
	unknown := ofType.setType(t, in)
	if asText {
		unknown = errors.New("the word string in its json tag makes a text of it: remove the word, or say type=string in its plural tag")
	}
	given := declaredType(tag)
	switch {
	case given != "" && (unknown != nil || t == reflect.TypeFor[json.RawMessage]()):
		ofType = Attribute{Type: given} // the author knows
	case unknown != nil:
		wrong = append(wrong, unknown)
	case given != "" && given != ofType.Type:
		wrong = append(wrong, fmt.Errorf("%s is %s in JSON, and not %s: leave the word type out", t, model.Article(string(ofType.Type)), model.Article(string(given))))
	}
	a.Type, a.Format, a.Pattern = ofType.Type, ofType.Format, ofType.Pattern
	a.Items, a.MinItems, a.MaxItems = ofType.Items, ofType.MinItems, ofType.MaxItems
	a.Properties, a.Closed = ofType.Properties, ofType.Closed
	parent, err = a.setWords(tag)
	wrong = append(wrong, err)
	if a.Format == Decimal && model.IsType(model.Type(a.Type)) && a.Type != String {
		wrong = append(wrong, fmt.Errorf("%s is %s in JSON, and a decimal is a string such as \"19.90\": use a string, or a type that writes one, with type=string in its plural tag", t, model.Article(string(a.Type))))
	}
	if a.Format == Decimal && !slices.ContainsFunc(tagWords(tag), func(word string) bool { return strings.HasPrefix(word, "scale=") }) {
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
	wrong = append(wrong, a.keepBounds(ofType, t))
	return parent, errors.Join(wrong...)
}

// declaredType is what a tag says of the type, if it does.
func declaredType(tag string) Type {
	for _, word := range tagWords(tag) {
		if value, found := strings.CutPrefix(word, "type="); found {
			return Type(value)
		}
	}
	return ""
}

func (a *Attribute) setWords(tag string) (parent *Parent, err error) {
	onDelete := OnDelete("")
	err = eachWord(tag, []string{"required", "unique", "index"}, func(keyword, value string) error {
		switch keyword {
		case "required":
			a.Required = true
		case "unique":
			a.Unique = true
		case "index":
			a.Index = true
		case "references":
			a.References = &Reference{Collection: value}
		case "parent":
			parent = &Parent{Collection: value}
		case "on_delete":
			onDelete = OnDelete(value)
		case "enum":
			for choice := range strings.SplitSeq(value, "|") {
				a.Enum = append(a.Enum, a.constant(choice))
			}
		case "default":
			a.Default = a.constant(value)
		case "type":
			if !model.IsType(model.Type(a.Type)) {
				return fmt.Errorf("type must be %s, but is %q", model.OneOf(model.Types), value)
			}
		default:
			return a.setConstraint(keyword, value)
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

func (a *Attribute) setConstraint(keyword, value string) (err error) {
	counts := map[string]*int{"minLength": &a.MinLength, "maxLength": &a.MaxLength, "minItems": &a.MinItems, "maxItems": &a.MaxItems, "scale": &a.Scale}
	bounds := map[string]*json.Number{
		"minimum": &a.Minimum, "maximum": &a.Maximum, "exclusiveMinimum": &a.ExclusiveMinimum,
		"exclusiveMaximum": &a.ExclusiveMaximum, "multipleOf": &a.MultipleOf,
	}
	switch {
	case counts[keyword] != nil:
		if *counts[keyword], err = strconv.Atoi(value); err != nil {
			return fmt.Errorf("%s must be a whole number, but is %q", keyword, value)
		}
	case bounds[keyword] != nil:
		*bounds[keyword] = json.Number(value)
	case keyword == "format":
		a.Format = Format(value)
	case keyword == "pattern":
		a.Pattern = value
	case keyword == "description":
		a.Description = value
	case keyword == "renamed_from":
		a.RenamedFrom = value
	default:
		return fmt.Errorf("there is no keyword %q for a plural tag", keyword)
	}
	return nil
}

// constant is a value of a tag as the attribute's type has it.
func (a *Attribute) constant(text string) any {
	if a.Type == String {
		return text
	}
	return json.RawMessage(text)
}
