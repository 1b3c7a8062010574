package plural

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// Config configures a server. The zero value of every field means its default.
type Config struct {
	// Schema declares the collections. Default: the built-in example.
	Schema *schema.Schema

	// Info describes the API in the OpenAPI document and the reference. Default: the title Plural API,
	// version 1.0.0, and no contact and licence.
	Info schema.Info

	// Access declares the rights of roles. Default: no access control, see Open.
	Access *schema.Access

	// Open allows Start to listen on an address that others can reach, and to accept requests to
	// any host, without Access. Default: only loopback addresses and names.
	Open bool

	// Database is a URL: sqlite:FILE, or postgres://HOST/DATABASE. Default: sqlite:plural.db.
	Database string

	// DatabaseDirect is a URL of the same PostgreSQL database that leads to it without a pool of
	// connections in between, such as PgBouncer. Over it the server hears at once of changes that
	// other servers make; where it cannot, it looks for them ten times per second. All else uses Database,
	// where such a pool must not share sessions between transactions. Default: Database.
	DatabaseDirect string

	// Migrate is what Open does with a database that has another schema. Default: MigrateAdditive.
	Migrate MigrateMode

	// AcceptTimestamps lets new resources bring created_at and updated_at, and computed attributes that depend on auth, now
	// or previous, which the interface does not allow: for a program that imports resources with their history. Do not let
	// clients reach such a server. Default: the server sets them.
	AcceptTimestamps bool

	// ForceStates lets writes give resources any state of a lifecycle, whatever the transitions allow: for a program that imports
	// resources. The change log has import:force-state as who made the changes. Do not let clients reach such a server. Default: the
	// transitions hold.
	ForceStates bool

	// Hooks are code of yours that takes part in changes, in this order.
	Hooks []Hook

	// MaxHookTime bounds the total time of all hooks of a request, also of an array of a thousand, in
	// each phase: before, in and after its transaction. The function of a Transaction has as much.
	// Default: 30 s.
	MaxHookTime time.Duration

	// Prefix is the path under which the server is mounted in another one, such as /api/v1. It is
	// part of request paths, and of every Location and Link. A prefix removed by http.StripPrefix
	// is detected without it. Default: none.
	Prefix string

	// Logger gets the access log and errors. Default: slog.Default().
	Logger *slog.Logger

	// Tracer gets spans of what the server does. Package otel has one for OpenTelemetry. Default: none.
	Tracer Tracer

	// DefaultLimit is how many resources a list has when the request gives no limit. Default: 100,
	// or MaxLimit if that is smaller.
	DefaultLimit int64

	// MaxLimit is the largest limit a request may give. Default: none.
	MaxLimit int64

	// MaxBody is the largest request body in bytes. Default: 1 MiB.
	MaxBody int64

	// MaxBodyMemory bounds the bytes of all request bodies in flight. Requests that need more wait
	// for 5 s, and are then refused with 503; slow bodies are cancelled first. Default: 64 MiB, or
	// MaxBody if that is larger.
	MaxBodyMemory int64

	// MaxWriteMemory bounds the bytes of the resources that all requests which write many (arrays, ranges,
	// upserts, transactions) read and return, calls of the program included, and of recorded responses that are
	// sent again. Requests that find no room are refused with 503. A caller gets
	// at most half of it, and a request that needs more is refused with 413. Default: 256 MiB.
	MaxWriteMemory int64

	// MaxDepth is how deeply a body may be nested. Default: 64.
	MaxDepth int

	// MaxItems is how many resources one request may write: the items of an array, the resources of a
	// range, the steps of a transaction. Default: 1,000.
	MaxItems int

	// QueryTimeout is how long the database may take to find each piece of a response, and to execute the transaction of
	// a write of more than one resource, or a deletion. What hooks take is not counted. Default: 30 s. Negative: no limit.
	QueryTimeout time.Duration

	// SlowQuery is how long the database may take to find a piece of a list, or a relation for it, before that is logged,
	// with the plan of its statement and without values. Default: 1 s. Negative: none is logged.
	SlowQuery time.Duration

	// MaxRequests is how many requests are answered at the same time; more are refused
	// with 503, and more than half of them from one address with 429. Default: 10,000.
	MaxRequests int64

	// MaxStreams is how many streams of changes, and long polls, are open at the same time; more are refused with
	// 429. Streams do not count as requests. Default: 10,000.
	MaxStreams int

	// MaxStreamsPerCaller is how many of them one caller may have, or one address without
	// credentials. Default: 100.
	MaxStreamsPerCaller int

	// StreamHeartbeat is how often a stream without events sends a comment, so that proxies keep the
	// connection. Every fourth time, and at least every 60 s, it sends a bookmark. Default: 15 s.
	StreamHeartbeat time.Duration

	// Agents makes the handler of the messages of agents at /-/mcp, such as agents.Handler, which brings the SDK of the Model
	// Context Protocol. The handler gets requests whose caller was identified, and sends its own, on behalf of the same caller, to
	// the handler that it is given. Default: none, and /-/mcp is not found.
	Agents func(http.Handler) http.Handler

	// AgentWrites lets agents write where Access is nil, or the program has authenticated the caller (WithCaller).
	// For callers with API keys, the key says it; all others only read. Default: agents only read.
	AgentWrites bool

	// RateLimit bounds the requests from one address; more are refused with 429. Access has the
	// limits of callers. Default: none.
	RateLimit schema.Rate

	// TrustedProxies are the proxies whose X-Forwarded-For header gives the client address.
	// Default: none.
	TrustedProxies []netip.Prefix

	// AllowedOrigins are the origins that may use the API from browsers (CORS), such as
	// https://app.example.com, or * for all. Default: none.
	AllowedOrigins []string

	// CertFile and KeyFile are a certificate chain and its private key, in PEM, for TLS. They are
	// read again when they change. Default: no TLS.
	CertFile, KeyFile string

	// HeaderTimeout is how long a client may take to send a request's header.
	// Default: 10 s.
	HeaderTimeout time.Duration

	// ReadTimeout is how long a client may take to send a whole request. Default: 30 s.
	ReadTimeout time.Duration

	// WriteTimeout is how long a client may take to receive each piece of a response, about 32
	// KiB. Default: 30 s.
	WriteTimeout time.Duration

	// MinThroughput is how many bytes per second, on average, a client must receive of a list that
	// is longer than one piece, once WriteTimeout is over: until the end of the list, the database
	// keeps its snapshot. Default: 64 KiB. Negative: no minimum.
	MinThroughput int64

	// IdleTimeout is how long a connection is kept for the next request.
	// Default: 2 min.
	IdleTimeout time.Duration

	// DrainDelay is how long /-/ready fails when the server is to stop, while all requests are still
	// served, before Stop closes the listener: long enough for a load balancer to notice. Default: none.
	DrainDelay time.Duration

	// ShutdownTimeout is how long Stop waits for requests that were accepted, after DrainDelay.
	// Default: 30 s.
	ShutdownTimeout time.Duration

	// ChangeRetention is how long the change log has a change, and with it the place in the order of a
	// deleted resource. Default: 7 days. Negative: forever.
	ChangeRetention time.Duration

	// IdempotencyQuota bounds the bytes of the idempotency records of one caller together; callers without a name share one quota.
	// A write whose record would exceed it is refused with 413. Default: 64 MiB.
	IdempotencyQuota int64

	// IdempotencyRetention is how long idempotency records are kept. Default: 24 h. Negative:
	// forever.
	IdempotencyRetention time.Duration

	// Workers bounds concurrent asynchronous operations. Default: 8. Negative: none, other servers
	// execute them.
	Workers int

	// MaxOperations bounds unfinished operations; more are refused with 503. Default: 10,000.
	MaxOperations int64

	// MaxOperationsPerCaller bounds the unfinished operations of one caller; more are refused with 429. Callers without
	// credentials are one caller. Without access control it has no effect. Default: half of MaxOperations.
	MaxOperationsPerCaller int64

	// OperationRetention is how long finished operations are kept. Default: 7 days.
	// Negative: forever.
	OperationRetention time.Duration
}

// model is the compiled form of Schema.
func (c *Config) model() *model.Schema { return (*model.Schema)(c.Schema) }

// WithDefaults returns the configuration with the default of every field that is zero.
func (c Config) WithDefaults() Config {
	if c.Schema == nil {
		c.Schema = schema.Example()
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	c.Database = cmp.Or(c.Database, "sqlite:plural.db")
	c.Migrate = cmp.Or(c.Migrate, MigrateAdditive)
	if c.DefaultLimit == 0 {
		c.DefaultLimit = 100
		if c.MaxLimit > 0 {
			c.DefaultLimit = min(c.DefaultLimit, c.MaxLimit)
		}
	}
	c.MaxBody = cmp.Or(c.MaxBody, 1<<20)
	c.MaxBodyMemory = cmp.Or(c.MaxBodyMemory, max(64<<20, c.MaxBody+1))
	c.MaxWriteMemory = cmp.Or(c.MaxWriteMemory, 256<<20)
	c.MaxDepth = cmp.Or(c.MaxDepth, 64)
	c.MaxItems = cmp.Or(c.MaxItems, 1000)
	c.QueryTimeout = cmp.Or(c.QueryTimeout, 30*time.Second)
	c.SlowQuery = cmp.Or(c.SlowQuery, time.Second)
	c.MaxRequests = cmp.Or(c.MaxRequests, 10_000)
	c.MaxStreams = cmp.Or(c.MaxStreams, 10_000)
	c.MaxStreamsPerCaller = cmp.Or(c.MaxStreamsPerCaller, 100)
	c.StreamHeartbeat = cmp.Or(c.StreamHeartbeat, 15*time.Second)
	c.MaxHookTime = cmp.Or(c.MaxHookTime, 30*time.Second)
	c.HeaderTimeout = cmp.Or(c.HeaderTimeout, 10*time.Second)
	c.ReadTimeout = cmp.Or(c.ReadTimeout, 30*time.Second)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 30*time.Second)
	c.MinThroughput = cmp.Or(c.MinThroughput, 64<<10)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, 2*time.Minute)
	c.ShutdownTimeout = cmp.Or(c.ShutdownTimeout, 30*time.Second)
	c.ChangeRetention = cmp.Or(c.ChangeRetention, 7*24*time.Hour)
	c.IdempotencyQuota = cmp.Or(c.IdempotencyQuota, 64<<20)
	c.IdempotencyRetention = cmp.Or(c.IdempotencyRetention, 24*time.Hour)
	c.Workers = cmp.Or(c.Workers, 8)
	c.MaxOperations = cmp.Or(c.MaxOperations, 10_000)
	c.MaxOperationsPerCaller = cmp.Or(c.MaxOperationsPerCaller, (c.MaxOperations+1)/2)
	c.OperationRetention = cmp.Or(c.OperationRetention, 7*24*time.Hour)
	return c
}

// mayBeNegative are the numbers that have a meaning below zero.
var mayBeNegative = []string{"QueryTimeout", "SlowQuery", "MinThroughput", "DrainDelay", "ChangeRetention", "IdempotencyRetention", "Workers", "OperationRetention"}

// validate reports all invalid fields.
func (c Config) validate() error {
	var problems refusals
	fields := reflect.ValueOf(c)
	for i := range fields.NumField() {
		value, name := fields.Field(i), fields.Type().Field(i).Name
		problems.addIf(value.CanInt() && value.Int() < 0 && !slices.Contains(mayBeNegative, name), "%s must not be negative, but is %v", name, value)
	}
	if wrong := c.Info.Check(); wrong != nil {
		problems = append(problems, wrong)
	}
	problems.addIf(c.MaxLimit > 0 && c.DefaultLimit > c.MaxLimit, "the default limit, %d, must not exceed the largest limit, %d", c.DefaultLimit, c.MaxLimit)
	problems.addIf(c.MaxBodyMemory >= 0 && c.MaxBodyMemory <= c.MaxBody, "the memory for bodies, %d bytes, must be more than the largest body, %d", c.MaxBodyMemory, c.MaxBody)
	problems.addIf(c.Prefix != "" && !isPrefix(c.Prefix), "the Prefix must be a path such as /api/v1, but is %q", c.Prefix)
	problems.addIf((c.CertFile == "") != (c.KeyFile == ""), "a CertFile needs a KeyFile, and the other way round")
	for _, origin := range c.AllowedOrigins {
		problems.addIf(!isOrigin(origin), "an allowed origin must be * or as browsers send it, such as https://app.example.com, without a path or a slash at its end, but is %q", origin)
	}
	for _, proxy := range c.TrustedProxies {
		problems.addIf(!proxy.IsValid() || proxy.Addr().Is4In6(), "a trusted proxy must be an address or a block of addresses, and of IPv4 as in 10.0.0.0/8, but is %s", proxy)
	}
	problems.addIf(c.Migrate != MigrateAdditive && c.Migrate != MigrateOff, "Migrate must be %s or %s, but is %q", MigrateAdditive, MigrateOff, c.Migrate)
	return errors.Join(problems...)
}

// refusals is what is wrong with a configuration.
type refusals []error

func (r *refusals) addIf(wrong bool, format string, args ...any) {
	if wrong {
		*r = append(*r, fmt.Errorf(format, args...))
	}
}

// isPrefix reports whether a server can be mounted under a path.
func isPrefix(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.HasSuffix(path, "/") && !strings.ContainsAny(path, "?#%") && !strings.Contains(path, "//")
}

// isOrigin reports whether a text is what browsers send as the origin of a page, or all of them.
func isOrigin(text string) bool {
	parsed, err := url.Parse(text)
	return text == "*" || err == nil && parsed.Scheme != "" && parsed.Host != "" && parsed.User == nil &&
		!strings.Contains(text, "*") && text == strings.ToLower(parsed.Scheme+"://"+parsed.Host)
}
