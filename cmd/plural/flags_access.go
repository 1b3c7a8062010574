package main

import (
	"errors"
	"net/netip"
	"strings"

	"github.com/plural-go/plural/schema"
)

// rate is a flag for requests in a time.
type rate schema.Rate

func (r *rate) Set(text string) error {
	if text == "none" {
		*r = rate{}
		return nil
	}
	parsed, ok := schema.ParseRate(text)
	if !ok {
		return errors.New("must be none, or requests in a second, minute or hour, such as 20/s, 600/m or 5000/h")
	}
	*r = rate(parsed)
	return nil
}

func (r *rate) String() string { return schema.Rate(*r).String() }
func (r *rate) Type() string   { return "rate" }

// prefixes is a flag for addresses and blocks of them, separated by commas.
type prefixes []netip.Prefix

func (p *prefixes) Set(text string) error {
	var all prefixes
	for each := range strings.SplitSeq(text, ",") {
		each = strings.TrimSpace(each)
		prefix, err := netip.ParsePrefix(each)
		if addr, failed := netip.ParseAddr(each); failed == nil {
			prefix, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			return errors.New("must be addresses such as 10.0.0.0/8 or ::1, separated by commas")
		}
		all = append(all, prefix)
	}
	*p = all
	return nil
}

func (p *prefixes) String() string {
	texts := make([]string, len(*p))
	for i, prefix := range *p {
		texts[i] = prefix.String()
	}
	return strings.Join(texts, ",")
}

func (p *prefixes) Type() string { return "addresses" }

// words is a flag for words, separated by commas.
type words []string

func (w *words) Set(text string) error {
	*w = nil
	for each := range strings.SplitSeq(text, ",") {
		if each = strings.TrimSpace(each); each != "" {
			*w = append(*w, each)
		}
	}
	return nil
}

func (w *words) String() string { return strings.Join(*w, ",") }
func (w *words) Type() string   { return "words" }
