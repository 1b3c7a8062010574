package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/plural-go/plural/internal/db"
)

// parseConfig parses a URL. Its errors name the part that is wrong, but do not quote it: any part
// of a URL that cannot be parsed may contain the password.
func parseConfig(text string) (*pgxpool.Config, error) {
	parsed, err := url.Parse(text)
	if err == nil {
		_, err = url.ParseQuery(parsed.RawQuery)
	}
	if err != nil {
		return nil, wrongURL(partOf(err))
	}
	config, err := pgxpool.ParseConfig(text)
	var wrong *pgconn.ParseConfigError
	switch {
	case errors.As(err, &wrong): // it begins with the URL, in these quotes
		return nil, wrongURL(err.Error()[strings.LastIndex(err.Error(), "`: ")+len("`: "):])
	case err != nil:
		return nil, wrongURL("it is not a PostgreSQL URL")
	}
	if !parsed.Query().Has("pool_max_conns") {
		config.MaxConns = defaultConns
	}
	params := config.ConnConfig.RuntimeParams
	if given, ok := params["client_encoding"]; ok && !isUTF8(given) {
		return nil, wrongURL("client_encoding is " + given + ", but only UTF8 is supported. Remove it")
	}
	params["client_encoding"] = "UTF8" // overrides the defaults of the database and the role
	// A server that is gone or hangs must not keep its locks. Hooks may take their time within a
	// transaction, but no longer than this.
	for name, value := range map[string]string{
		"idle_in_transaction_session_timeout": "40s",
		"tcp_keepalives_idle":                 "20",
		"tcp_keepalives_interval":             "5",
		"tcp_keepalives_count":                "4",
	} {
		if _, set := params[name]; !set {
			params[name] = value
		}
	}
	// A statement without a transaction must see what was committed while it waited for its locks.
	params["default_transaction_isolation"] = "read committed"
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = db.MaxWait
	}
	// Rows are read in binary form, which prepared statements provide.
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
	config.ConnConfig.OnNotice = noteWarning
	prepareSessions(&config.ConnConfig.Config)
	config.ConnConfig.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler { return &canceller{conn: c} }
	return config, nil
}

func wrongURL(reason string) error {
	return fmt.Errorf("the database URL cannot be used: %s. It should be like postgres://user@host/database", reason)
}

// partOf says which part of a URL is wrong, without quoting it.
func partOf(err error) string {
	var escape url.EscapeError
	switch {
	case errors.As(err, &escape):
		return "a % is not followed by two hexadecimal digits. Write %25 for a percent sign"
	case strings.Contains(err.Error(), "invalid port"):
		return "the port after the host is not a number. If that is part of the password, write its / as %2F, ? as %3F and # as %23"
	case strings.Contains(err.Error(), "invalid userinfo"):
		return "the user or the password has a character that must be escaped, such as @ as %40"
	default:
		return "it is not a URL"
	}
}

func isUTF8(encoding string) bool {
	name := strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(encoding))
	return name == "utf8" || name == "unicode"
}

// checkSettings refuses a database that would lose characters or digits: the change log has numbers that
// the database has written as text.
func checkSettings(ctx context.Context, pool *pgxpool.Pool) error {
	acquired, err := pool.Acquire(ctx)
	if errors.Is(err, errShared) {
		return errShared
	}
	if err != nil {
		return fmt.Errorf("connecting to PostgreSQL: %w", err)
	}
	defer acquired.Release()
	if encoding := acquired.Conn().PgConn().ParameterStatus("server_encoding"); !isUTF8(encoding) {
		return fmt.Errorf("the database has the encoding %s, which cannot store every character. It must be UTF8: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0", encoding)
	}
	var digits int
	if err := acquired.QueryRow(ctx, "SELECT current_setting('extra_float_digits')::int").Scan(&digits); err != nil {
		return fmt.Errorf("connecting to PostgreSQL: %w", err)
	}
	if digits < 1 {
		return fmt.Errorf("the setting extra_float_digits of the database is %d, so that it rounds numbers. It must be 1, its default, or more", digits)
	}
	return nil
}

// Address returns the database and host that a URL names.
func Address(url string) (database, host string, ok bool) {
	config, err := pgconn.ParseConfig(url)
	if err != nil || !strings.HasPrefix(url, "postgres") {
		return "", "", false
	}
	return config.Database, config.Host, true
}
