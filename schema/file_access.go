package schema

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
)

// access reads who may do what.
func (p *parser) access(e entry) *Access {
	access := &Access{}
	for _, e := range p.mapping(e, accessKeys) {
		switch e.name {
		case "roles":
			for _, e := range p.mapping(e, nil) {
				access.Roles = append(access.Roles, p.role(e))
			}
		case "metrics":
			access.Metrics = p.texts(e, "roles")
		case "keys":
			access.Keys = map[string][]string{}
			for _, e := range p.mapping(e, nil) {
				access.Keys[e.name] = append([]string{}, p.texts(e, "roles")...)
			}
		case "rates":
			access.Rates = map[string]Rate{}
			for _, e := range p.mapping(e, nil) {
				rate, ok := ParseRate(p.text(e))
				if !ok && !p.isHidden(e.at) {
					p.wrong(e, "the rate of %s must be requests in a second, minute or hour, such as 10/s, 600/m or 5000/h, but is %s", e.name, describe(e.node))
				}
				access.Rates[e.name] = rate
			}
		case "tokens":
			access.Tokens = p.tokens(e)
		}
	}
	return access
}

func (p *parser) role(e entry) Role {
	role := Role{Name: e.name}
	for _, e := range p.mapping(e, nil) {
		role.Grants = append(role.Grants, p.grant(e))
	}
	return role
}

// grant reads a list of verbs, or a mapping that says more.
func (p *parser) grant(e entry) Grant {
	g := Grant{Collection: e.name, Rules: map[AccessVerb]Rule{}}
	if e.node.Kind == yaml.SequenceNode {
		for _, e := range p.list(e, "verbs") {
			g.Verbs = append(g.Verbs, AccessVerb(p.text(e)))
		}
		return g
	}
	if e.node.Kind != yaml.MappingNode {
		p.wrong(e, "%s must be a list of verbs, or a mapping with %s, but is %s", e.name, suggest.OneOf(model.KeywordNames(grantKeys)), describe(e.node))
		return g
	}
	for _, e := range p.mapping(e, grantKeys) {
		switch e.name {
		case "visible":
			g.Visible = p.attributeNames(e)
		case "writable":
			g.Writable = p.attributeNames(e)
		case "transitions":
			g.Transitions = p.transitionRules(e)
		default:
			p.verb(e, &g)
		}
	}
	return g
}

// attributeNames reads a list, which may be empty and is then not the same as none.
func (p *parser) attributeNames(e entry) []string {
	return append([]string{}, p.texts(e, "attributes")...)
}

// verb reads whether a verb is granted: always, never, or by a rule.
func (p *parser) verb(e entry, g *Grant) {
	verb := AccessVerb(e.name)
	if !isTextNode(e.node) {
		if e.node.Kind != yaml.ScalarNode || e.node.ShortTag() != "!!bool" {
			p.wrong(e, "%s must be true, false or a rule, but is %s", e.name, describe(e.node))
		} else if p.boolean(e) {
			g.Verbs = append(g.Verbs, verb)
		}
		return
	}
	g.Verbs = append(g.Verbs, verb)
	g.Rules[verb] = Rule(p.ruleOf(e.node))
}

// transitionRules reads the rules of transitions, by attribute and state. False is a rule that nobody meets.
func (p *parser) transitionRules(e entry) map[string]map[string]Rule {
	rules := map[string]map[string]Rule{}
	for _, e := range p.mapping(e, nil) {
		states := map[string]Rule{}
		rules[e.name] = states
		for _, e := range p.mapping(e, nil) {
			if !isTextNode(e.node) && (e.node.Kind != yaml.ScalarNode || e.node.ShortTag() != "!!bool") {
				p.wrong(e, "%s must be true, false or a rule, but is %s", e.name, describe(e.node))
				continue
			}
			states[e.name] = Rule(p.ruleOf(e.node))
		}
	}
	return rules
}

// ruleOf is the text of an expression, with the place of its first character. The column is 0 if the file has the text in
// other lines.
func (p *parser) ruleOf(node *yaml.Node) model.Rule {
	rule := model.Rule{Text: node.Value, Line: node.Line, Column: node.Column}
	switch node.Style {
	case yaml.LiteralStyle, yaml.FoldedStyle:
		if rule.Column = p.blockColumn(node); rule.Column > 0 {
			rule.Line++ // after the line of | or >
		}
		return rule
	case yaml.SingleQuotedStyle, yaml.DoubleQuotedStyle:
		rule.Column++
	}
	if line := bytes.TrimRight(p.source[node.Line-1], "\r\n"); utf8.RuneCount(line)+1-node.Column < utf8.RuneCountInString(node.Value) {
		rule.Column = 0
	}
	return rule
}

// blockColumn is the column where the lines of a block begin, 0 if they are not those of its text: > joins them.
func (p *parser) blockColumn(node *yaml.Node) int {
	column := 0
	for i, text := range strings.Split(strings.TrimRight(node.Value, "\n"), "\n") {
		if text == "" {
			continue
		}
		if node.Line+i >= len(p.source) {
			return 0
		}
		before, isLine := strings.CutSuffix(strings.TrimRight(string(p.source[node.Line+i]), "\r\n"), text)
		if !isLine {
			return 0
		}
		column = len(before) + 1
	}
	return column
}

func (p *parser) tokens(e entry) *Tokens {
	t := &Tokens{}
	texts := map[string]*string{"issuer": &t.Issuer, "public_key": &t.PublicKey, "audience": &t.Audience, "role_claim": &t.RoleClaim}
	for _, e := range p.mapping(e, tokenKeys) {
		switch e.name {
		case "algorithms":
			t.Algorithms = p.texts(e, "algorithms")
		case "clock_skew":
			span, err := time.ParseDuration(p.text(e))
			if err != nil && !p.isHidden(e.at) {
				p.wrong(e, "%s must be a time span such as 30s or 2m, but is %s", e.name, describe(e.node))
			}
			t.ClockSkew = span
		default:
			*texts[e.name] = p.text(e)
		}
	}
	return t
}
