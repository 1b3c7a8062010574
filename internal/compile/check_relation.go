package compile

import "github.com/plural-go/plural/internal/model"

// relations checks the names that are given to relations. Derived names are not checked: see relate.
func (k *Checker) relations() {
	taken := map[[2]string]bool{}
	name := func(in, name, keyword string, at Path) {
		if name == "" {
			return
		}
		of := find(k.declared, in)
		switch problem := RelationNames.Problem(name); {
		case problem != "":
			k.Report(at, "%s", problem)
		case of != nil && of.Declared(name) != nil:
			k.Report(at, "%s has an attribute %s, so that a relation needs another name: change %s", in, name, keyword)
		case taken[[2]string{in, name}]:
			k.Report(at, "%s has another relation with the name %s: change %s", in, name, keyword)
		}
		taken[[2]string{in, name}] = true
	}
	for i := range k.declared {
		c := &k.declared[i]
		for j := range c.Attributes {
			a := &c.Attributes[j]
			at := Path{"collections", c.Name, "attributes", a.Name}
			if a.References == nil {
				for _, given := range [][2]string{{"as", a.As}, {"inverse", a.Inverse}} {
					if given[1] != "" {
						k.Report(at.To(given[0]), "%s belongs to a reference: add references, or remove it", given[0])
					}
				}
				continue
			}
			if c.Parent != nil && c.Parent.Attribute == a.Name && (c.Parent.As != "" || c.Parent.Inverse != "") {
				at = Path{"collections", c.Name, "parent"}
				if c.Parent.As != "" && c.Parent.As != a.As || c.Parent.Inverse != "" && c.Parent.Inverse != a.Inverse {
					k.Report(at, "the parent and the attribute %s give different names to relations: keep one of them", a.Name)
					continue
				}
			}
			name(c.Name, a.As, "as", at.To("as"))
			name(a.References.Collection, a.Inverse, "inverse", at.To("inverse"))
		}
	}
}

func find(declared []model.Collection, name string) *model.Collection {
	for i := range declared {
		if declared[i].Name == name {
			return &declared[i]
		}
	}
	return nil
}
