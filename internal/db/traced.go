package db

import (
	"context"
	"log/slog"
	"strings"
	"unicode/utf8"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/tracing"
)

// Traced returns a connection whose statements are spans within that of a context, if it is sampled; the same connection otherwise.
// The database has a name.
func Traced(ctx context.Context, t tracing.Tracer, name string, c Conn) Conn {
	if tracing.Sampled(t, ctx) == "" {
		return c
	}
	return &traced{Conn: c, ctx: ctx, tracer: t, name: name}
}

// WithSpan makes the following statements of a connection parts of the span of another context, until back is called.
func WithSpan(c Conn, ctx context.Context) (back func()) {
	t, ok := c.(*traced)
	if !ok {
		return func() {}
	}
	before := t.ctx
	t.ctx = ctx
	return func() { t.ctx = before }
}

// traced is a connection whose statements are spans. Values of statements are in no span.
type traced struct {
	Conn
	ctx    context.Context
	tracer tracing.Tracer
	name   string
}

// maxSpanSQL bounds the text of a statement in a span.
const maxSpanSQL = 2 << 10

// start starts the span of a statement, or of several that are sent together.
func (t *traced) start(sql string, statements int) tracing.Span {
	verb, table := summary(sql)
	name := verb
	if table != "" {
		name += " " + table
	}
	attributes := []slog.Attr{slog.String("db.system.name", t.name), slog.String("db.operation.name", verb), slog.String("db.query.summary", name)}
	if table != "" {
		attributes = append(attributes, slog.String("db.collection.name", table))
	}
	if statements > 1 {
		name = "BATCH " + name
		attributes = append(attributes, slog.Int("db.operation.batch.size", statements))
	}
	_, span := t.tracer.Start(t.ctx, tracing.Client, name, append(attributes, slog.String("db.query.text", bounded(sql)))...)
	return span
}

// summary is the first word of a statement, and the first table that it names.
func summary(sql string) (verb, table string) {
	before := ""
	for word := range strings.FieldsSeq(sql) {
		switch {
		case verb == "":
			verb = word
		case (before == "FROM" || before == "INTO" || before == "UPDATE") && !strings.Contains(word, "(") && word != "SET" && word != "SKIP":
			return verb, strings.Trim(word, `"),;`)
		}
		before = word
	}
	return verb, ""
}

func bounded(sql string) string {
	if len(sql) <= maxSpanSQL {
		return sql
	}
	end := maxSpanSQL
	for !utf8.RuneStart(sql[end]) {
		end--
	}
	return sql[:end] + "…"
}

func (t *traced) Query(sql string, args ...model.Value) (Rows, error) {
	span := t.start(sql, 1)
	rows, err := t.Conn.Query(sql, args...)
	return tracedRowsOf(rows, span, err)
}

func (t *traced) Cursor(sql string, args ...model.Value) (Rows, error) {
	span := t.start(sql, 1)
	rows, err := t.Conn.Cursor(sql, args...)
	return tracedRowsOf(rows, span, err)
}

func (t *traced) Exec(sql string, args ...model.Value) (changed int, err error) {
	span := t.start(sql, 1)
	changed, err = t.Conn.Exec(sql, args...)
	tracing.End(span, err)
	return changed, err
}

func (t *traced) Batch(statements ...Statement) error { return t.several(t.Conn.Batch, statements) }

// Defer: where deferred statements are sent later, the span only says that there are some.
func (t *traced) Defer(statements ...Statement) error { return t.several(t.Conn.Defer, statements) }

func (t *traced) several(run func(...Statement) error, statements []Statement) error {
	if len(statements) == 0 {
		return run()
	}
	span := t.start(statements[0].SQL, len(statements))
	err := run(statements...)
	tracing.End(span, err)
	return err
}

func (t *traced) Insert(n *Insertion) error {
	if len(n.Records) == 0 {
		return t.Conn.Insert(n)
	}
	span := t.start("INSERT INTO "+n.Collection.Base().Name, len(n.Records))
	err := t.Conn.Insert(n)
	tracing.End(span, err)
	return err
}

// tracedRows are rows whose span ends when they are closed.
type tracedRows struct {
	Rows
	span tracing.Span
	err  error
}

func tracedRowsOf(rows Rows, span tracing.Span, err error) (Rows, error) {
	if err != nil || span == nil {
		tracing.End(span, err)
		return rows, err
	}
	return &tracedRows{Rows: rows, span: span}, nil
}

func (r *tracedRows) Next() (bool, error) {
	found, err := r.Rows.Next()
	if err != nil {
		r.err = err
	}
	return found, err
}

func (r *tracedRows) Close() {
	r.Rows.Close()
	tracing.End(r.span, r.err)
	r.span = nil
}
