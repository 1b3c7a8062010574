package plural

import (
	"fmt"
	"slices"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/openapi"
	"github.com/plural-go/plural/schema"
)

// OpenAPI is the OpenAPI 3.1 document of a server with a configuration, as JSON. A server
// gives the same at /-/openapi.json, and that of an earlier version, which only its database remembers, at
// /-/openapi.json?version=2. With Access, role is whose document it is: what its bearers may not do is not in it. Without a role
// everything is.
func OpenAPI(config Config, role string, changes ...OpenAPIOption) ([]byte, error) {
	config = config.WithDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	options := documentOptions(config)
	options.Prefix = config.Prefix
	for _, change := range changes {
		change(&options)
	}
	of := config.model()
	if options.View != nil {
		of = options.View
	}
	if declared := of.Versions(); declared.Newest > 0 {
		options.Version, options.Versions = declared.Newest, []openapi.Version{{Number: declared.Newest, Sunset: declared.Deprecated[declared.Newest]}}
	}
	if config.Access == nil {
		if role != "" {
			return nil, fmt.Errorf("there is no role %q: the schema file has no access", role)
		}
		return openapi.Document(of, options), nil
	}
	policy, err := auth.Compile(of.Base(), config.Access)
	if err != nil {
		return nil, err
	}
	options.Public = policy.Permit(auth.Caller{Role: schema.PublicRole})
	switch {
	case role == schema.PublicRole:
		options.By = options.Public
	case role != "" && !policy.HasRole(role):
		return nil, fmt.Errorf("there is no role %q", role)
	case role != "":
		options.By = policy.Permit(auth.Caller{ID: "role:" + role, Role: role})
	}
	return openapi.Document(of, options), nil
}

// OpenAPIOption changes what the document of OpenAPI has.
type OpenAPIOption func(*openapi.Options)

// WithoutIncludes is an OpenAPIOption: it leaves out the related resources that include embeds, with its parameters. Some
// generators do not take schemas that refer to each other. A server gives this document at /-/openapi.json?include=none.
func WithoutIncludes(o *openapi.Options) { o.NoIncludes = true }

// InOpenAPI32 is an OpenAPIOption: the document is of OpenAPI 3.2, which describes QUERY and the events of streams. A server gives it at
// /-/openapi.json?openapi=3.2.
func InOpenAPI32(o *openapi.Options) { o.Format = openapi.Latest }

// OfVersion is an OpenAPIOption: the document is that of a version of the interface whose schema is given, by admin.VersionSchema. The
// schema of the configuration is the newest.
func OfVersion(of *schema.Schema) OpenAPIOption {
	return func(o *openapi.Options) { o.View = (*model.Schema)(of) }
}

// grantableOf lists the roles whose API keys somebody may manage, in the order of their declaration.
func grantableOf(access *schema.Access) []string {
	var roles []string
	if access == nil {
		return nil
	}
	for i := range access.Roles {
		for _, granted := range access.Keys {
			if name := access.Roles[i].Name; slices.Contains(granted, name) && !slices.Contains(roles, name) {
				roles = append(roles, name)
			}
		}
	}
	return roles
}

// documentOptions is what the document depends on in every place and for every caller.
func documentOptions(config Config) openapi.Options {
	return openapi.Options{
		DefaultLimit: config.DefaultLimit, MaxLimit: config.MaxLimit, MaxItems: config.MaxItems, MaxBody: config.MaxBody,
		Hooks: len(config.Hooks) > 0, Rated: config.RateLimit.Requests > 0 || len(ratesOf(config.Access)) > 0,
		Info:        config.Info,
		Secure:      config.CertFile != "",
		CrossOrigin: len(config.AllowedOrigins) > 0,
		Agents:      config.Agents != nil,
		Keys:        grantableOf(config.Access),
	}
}
