package resource

import (
	"os"
	"testing"

	"github.com/plural-go/plural/internal/pgtest"
)

// MinByLink is set by tests from outside.
var MinByLink = &minByLink

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }
