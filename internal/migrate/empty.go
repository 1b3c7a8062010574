package migrate

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// easeEmpty makes the steps additive that affect no value: no resource has one there, no change in the log and no pending
// operation. Under the locks of a migration this cannot change before the commit. Where several servers share a database,
// the way back to an earlier schema is not eased: a node that restarts during a rolling upgrade would undo the upgrade.
func (s *survey) easeEmpty() error {
	if s.plan.earlier != 0 && s.traits.ManyWriters || s.plan.additive() {
		return nil
	}
	numbers, err := s.plan.state.Numbers.Tables(s.plan.from)
	if err != nil {
		return err
	}
	for _, step := range s.plan.steps {
		if step.Class == Additive || step.affects == nil {
			continue
		}
		empty, err := s.isEmpty(*step.affects, numbers[step.affects.collection])
		if err != nil {
			return err
		}
		if empty {
			step.Class = Additive
		}
	}
	return nil
}

// isEmpty reports whether no resource, no change and no pending operation has a value in a place.
func (s *survey) isEmpty(at affected, numbers *catalog.NumberedTable) (bool, error) {
	table := db.NewTable(s.dialect, at.collection)
	stored := "SELECT 1 FROM " + table.Name
	if at.column != allResources {
		stored += " WHERE " + table.Columns[at.column] + " IS NOT NULL"
	}
	for _, query := range []db.Statement{
		{SQL: "SELECT 1 FROM " + db.QueueTable + " WHERE collection = $1 LIMIT 1", Args: []model.Value{model.TextValue(at.collection.Name)}},
		{SQL: stored + " LIMIT 1"},
	} {
		if found, err := db.One(s.conn, nil, query.SQL, query.Args...); err != nil || found {
			return false, err
		}
	}
	if at.column == allResources {
		found, err := db.One(s.conn, nil, "SELECT 1 FROM "+db.ChangesTable+" WHERE collection = $1 LIMIT 1", model.IntValue(numbers.Number))
		return !found, err
	}
	return s.neverChanged(numbers.Number, strconv.FormatInt(numbers.Columns[at.column].Number, 10))
}

// neverChanged reports whether no entry of the log has a former value of a column. The database finds the entries that name the
// number of the column; inside an object, it can also be the name of a property.
func (s *survey) neverChanged(collection int64, column string) (bool, error) {
	rows, err := s.conn.Query("SELECT previous FROM "+db.ChangesTable+" WHERE collection = $1 AND previous LIKE $2",
		model.IntValue(collection), model.TextValue(`%"`+column+`":%`))
	if err != nil {
		return false, err
	}
	defer rows.Close()
	for {
		more, err := rows.Next()
		if err != nil || !more {
			return err == nil, err
		}
		if mayHaveValue(rows.AppendText(nil, 0), column) {
			return false, nil
		}
	}
}

// mayHaveValue reports whether an object has a member with a value other than null, or cannot be read.
func mayHaveValue(object []byte, name string) bool {
	d := jsontext.NewDecoder(bytes.NewBuffer(object), jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		return true
	}
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return true
		}
		found := token.String() == name
		value, err := d.ReadValue()
		if err != nil || found && value.Kind() != 'n' {
			return true
		}
	}
	return false
}
