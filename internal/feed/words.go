package feed

import (
	"sync"

	"github.com/plural-go/plural/internal/words"
)

// wordSets finds the words of texts. It keeps those that it has found last, as all shapes with a search look for
// words in the same texts, and the state before a change is the one after the change before.
type wordSets struct {
	find func(text string) words.Set

	mutex  sync.Mutex
	byText map[string]*wordSet
	all    []*wordSet // the oldest first
	bytes  int        // of their texts
}

type wordSet struct {
	text  string
	once  sync.Once
	words words.Set
}

// mostWordBytes is how many bytes of texts are kept, unless a single one has more. Their words take a few times
// as much, at most.
const mostWordBytes = 4 << 20

func newWordSets() *wordSets {
	return &wordSets{find: words.SetOf, byText: map[string]*wordSet{}}
}

// of returns the words of a text, which are found once, however many ask for them at the same time.
func (w *wordSets) of(text string) words.Set {
	w.mutex.Lock()
	set := w.byText[text]
	if set == nil {
		set = &wordSet{text: text}
		w.byText[text], w.all = set, append(w.all, set)
		for w.bytes += len(text); w.bytes > mostWordBytes && len(w.all) > 1; {
			oldest := w.all[0]
			w.bytes -= len(oldest.text)
			delete(w.byText, oldest.text)
			w.all[0], w.all = nil, w.all[1:]
		}
	}
	w.mutex.Unlock()
	set.once.Do(func() { set.words = w.find(text) })
	return set.words
}
