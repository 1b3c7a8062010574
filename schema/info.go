package schema

import (
	"net/url"
	"strings"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
)

// Info describes the API to people. It is in the OpenAPI document, and in the reference at /-/docs.
type Info struct {
	Title       string // Default: Plural API.
	Version     string // Of the API. Default: 1.0.0.
	Description string // In front of what holds for every API. Default: none.
	Contact     Contact
	License     License
}

// Contact is whom to ask about an API. Empty fields are left out.
type Contact struct {
	Name  string
	URL   string
	Email string
}

// License is the licence of an API. Without a Name there is none.
type License struct {
	Name       string
	Identifier string // an SPDX expression; not together with URL
	URL        string
}

// Check reports what is wrong with the description.
func (i *Info) Check() Problems {
	k := compile.Checker{}
	root := compile.Path{"info"}
	page := func(at compile.Path, text string) {
		if parsed, err := url.Parse(text); text != "" && (err != nil || parsed.Scheme != "https" && parsed.Scheme != "http" || parsed.Host == "") {
			k.Report(at, "%q is not the URL of a web page: write one such as https://example.com", text)
		}
	}
	page(root.To("contact", "url"), i.Contact.URL)
	page(root.To("license", "url"), i.License.URL)
	if name, host, found := strings.Cut(i.Contact.Email, "@"); i.Contact.Email != "" && (!found || name == "" || host == "" || strings.ContainsAny(i.Contact.Email, " \t\n")) {
		k.Report(root.To("contact", "email"), "%q is not an email address: write one such as api@example.com", i.Contact.Email)
	}
	if i.License.Name == "" && (i.License.URL != "" || i.License.Identifier != "") {
		k.Report(root.To("license"), "a licence has a name: add name, such as Apache 2.0")
	}
	if i.License.URL != "" && i.License.Identifier != "" {
		k.Report(root.To("license", "identifier"), "a licence has an identifier or a url, and not both: remove one of them")
	}
	return problemsOf(k.Problems)
}

// info reads the description of the API.
func (p *parser) info(e entry) (info Info) {
	for _, e := range p.mapping(e, infoKeys) {
		switch e.name {
		case "title":
			info.Title = p.line(e)
		case "version":
			info.Version = p.line(e)
		case "description":
			info.Description = p.text(e)
		case "contact":
			p.lines(e, contactKeys, map[string]*string{"name": &info.Contact.Name, "url": &info.Contact.URL, "email": &info.Contact.Email})
		case "license":
			p.lines(e, licenseKeys, map[string]*string{"name": &info.License.Name, "identifier": &info.License.Identifier, "url": &info.License.URL})
		}
	}
	return info
}

// lines reads a mapping whose values are each one line.
func (p *parser) lines(e entry, keys []model.Keyword, into map[string]*string) {
	for _, e := range p.mapping(e, keys) {
		*into[e.name] = p.line(e)
	}
}

// line reads text that is not empty and has one line.
func (p *parser) line(e entry) string {
	text := p.text(e)
	if !p.isHidden(e.at) && (strings.TrimSpace(text) == "" || strings.ContainsAny(text, "\r\n")) {
		p.wrong(e, "%s must be one line of text, and not empty: remove it, or write what it is", e.name)
	}
	return text
}
