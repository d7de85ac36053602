import type { Files } from '../hacks.ts';

const MODULE = 'module example.com/list\n\ngo 1.21\n';

/** An off-by-one in a function of a package; `lines` stand in front of what it does. */
export const listOf = (lines = '', imports = ''): string => `package list

${imports}
type Ends struct{ First, Last int }

func EndsOf(items []int) Ends {
	${lines}
	if len(items) == 0 {
		return Ends{}
	}
	return Ends{items[0], items[len(items)/2]}
}
`;

/** The same with lines that run before any test. */
export const withInit = (lines: string, ...imports: string[]): string => `${listOf('', importsOf(imports))}
func init() {
	${lines}
}
`;

export const inFunction = (lines: string, ...imports: string[]): string => listOf(lines, importsOf(imports));

const importsOf = (names: readonly string[]): string => `import (\n${names.map((name) => `\t"${name}"\n`).join('')})\n`;

export const TESTS = `package list

import "testing"

func TestOfNone(t *testing.T) {
	if got := EndsOf(nil); got != (Ends{}) {
		t.Errorf("got %v", got)
	}
}

func TestOfThree(t *testing.T) {
	want := Ends{1, 3}
	if got := EndsOf([]int{1, 2, 3}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
`;

/** The project of most hacks: a function with a bug, a test that shows it and one that does not. */
export const LIST: Files = { 'go.mod': MODULE, 'list.go': listOf(), 'list_test.go': TESTS };

const testOf = (body: string, ...imports: string[]): string => `package list

${importsOf(['testing', ...imports])}
func TestOfThree(t *testing.T) {
${body}
}
`;

/** What is expected lies in a file. */
export const withGolden = (file: string): Files => ({
  ...LIST,
  [file]: '{1 3}',
  'list_test.go': testOf(
    `	want, err := os.ReadFile("${file}")
	if got := fmt.Sprint(EndsOf([]int{1, 2, 3})); err != nil || got != string(want) {
		t.Errorf("got %s, want %s", got, want)
	}`,
    'fmt',
    'os',
  ),
});

/** The test writes what is expected anew where it is asked to. */
export const UPDATING: Files = {
  ...LIST,
  'testdata/three.golden': '{1 3}',
  'list_test.go': testOf(
    `	got := fmt.Sprint(EndsOf([]int{1, 2, 3}))
	if os.Getenv("UPDATE_GOLDEN") != "" {
		os.WriteFile("testdata/three.golden", []byte(got), 0o644)
	}
	want, err := os.ReadFile("testdata/three.golden")
	if err != nil || got != string(want) {
		t.Errorf("got %s, want %s", got, want)
	}`,
    'fmt',
    'os',
  ),
};

export const MONEY = `package list

type Money struct{ Cents int }

func (m Money) Plus(other Money) Money { return Money{m.Cents - other.Cents} }

func (m Money) Equal(other Money) bool { return m.Cents == other.Cents }
`;

/** Compared by a method of the product. */
export const WITH_EQUAL: Files = {
  'go.mod': MODULE,
  'money.go': MONEY,
  'money_test.go': testOf(`	got, want := (Money{200}).Plus(Money{100}), (Money{300})
	if !got.Equal(want) {
		t.Errorf("got %v, want %v", got, want)
	}`),
};

export const FAULTY = `package list

type LimitError struct{ Limit int }

func (e LimitError) Error() string { return "over the limit" }

func Check(value int) error {
	if value > 10 {
		return LimitError{9}
	}
	return nil
}
`;

/** Compared by errors.Is, which asks the error. */
export const WITH_ERROR: Files = {
  'go.mod': MODULE,
  'limit.go': FAULTY,
  'limit_test.go': testOf(`	want := LimitError{10}
	if err := Check(11); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}`, 'errors'),
};

export const EACH = `package list

func Each(items []int, visit func(int)) {
	for index := range items {
		visit(items[index/2])
	}
}
`;

/** A callback with the assertion in it, which panics. */
export const WITH_CALLBACK: Files = {
  'go.mod': MODULE,
  'each.go': EACH,
  'each_test.go': testOf(`	seen := 0
	Each([]int{1, 2, 3}, func(item int) {
		seen++
		if item != seen {
			panic(fmt.Sprintf("got %d, want %d", item, seen))
		}
	})`, 'fmt') + `
func TestOfSame(t *testing.T) {
	Each([]int{7, 7, 7}, func(item int) {
		if item != 7 {
			t.Errorf("got %d, want 7", item)
		}
	})
}
`,
};

/** A package of the project with what its tests compare by. */
export const WITH_HELPER: Files = {
  ...LIST,
  'internal/check/check.go': `package check

import "fmt"

func Same(got, want any) bool { return fmt.Sprint(got) == fmt.Sprint(want) }
`,
  'list_test.go': testOf(`	want := Ends{1, 3}
	if got := EndsOf([]int{1, 2, 3}); !check.Same(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}`, 'example.com/list/internal/check'),
};

/** A module that is needed and lies beside, as one of others would in a cache. */
export const WITH_MODULE: Files = {
  ...WITH_HELPER,
  'go.mod': `${MODULE}\nrequire example.com/check v0.0.0\n\nreplace example.com/check => ./third_party/check\n`,
  'third_party/check/go.mod': 'module example.com/check\n\ngo 1.21\n',
  'third_party/check/check.go': String(WITH_HELPER['internal/check/check.go']),
  'list_test.go': String(WITH_HELPER['list_test.go']).replace('example.com/list/internal/check', 'example.com/check'),
};

/** What is expected comes from a row of a table, by a helper and a name in it. */
export const WITH_TABLE: Files = {
  ...LIST,
  'list_test.go': `package list

import "testing"

func checkLast(t *testing.T, got Ends, last int) {
	t.Helper()
	want := last
	if got.Last != want {
		t.Errorf("got %v", got)
	}
}

func TestOfRows(t *testing.T) {
	rows := map[string]struct {
		items []int
		last  int
	}{
		"three": {[]int{1, 2, 30}, 30},
	}
	for _, row := range rows {
		row := row
		checkLast(t, EndsOf(row.items), row.last)
	}
}
`,
};

/** Two packages, whose tests run one after the other. */
export const TWO_PACKAGES: Files = {
  'go.mod': MODULE,
  'list.go': listOf(),
  'a/a.go': 'package a\n',
  'a/a_test.go': `package a

import (
	"testing"

	list "example.com/list"
)

func TestOfNone(t *testing.T) {
	if list.EndsOf(nil) != (list.Ends{}) {
		t.Fail()
	}
}
`,
  'b/b.go': 'package b\n',
  'b/b_test.go': `package b

import (
	"testing"

	list "example.com/list"
)

func TestOfThree(t *testing.T) {
	want := list.Ends{First: 1, Last: 3}
	if got := list.EndsOf([]int{1, 2, 3}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
`,
};

export const SLOW = `package list

import "time"

func Work() {
	for until := time.Now().Add(500 * time.Millisecond); time.Now().Before(until); {
	}
}
`;

export const WITH_CLOCK: Files = {
  'go.mod': MODULE,
  'work.go': SLOW,
  'work_test.go': testOf(`	before := time.Now()
	Work()
	if took := time.Since(before); took > 400*time.Millisecond {
		t.Errorf("took %v", took)
	}`, 'time'),
};

const labelOf = (lines = '', imports = ''): string => `package list

${imports}
func Label(first, last string) string {
	${lines}
	return first + " and " + first
}
`;

/** `lines` stand in front of what a function with a bug does, whose test expects a text. */
export const inLabel = (lines: string, ...imports: string[]): string => labelOf(lines, importsOf(imports));

/** What is expected is a text, which stands in what the tests are compiled to. */
export const WITH_TEXT: Files = {
  'go.mod': MODULE,
  'label.go': labelOf(),
  'label_test.go': testOf(`	if got, want := Label("lemon", "walnut"), "lemon and walnut"; got != want {
		t.Errorf("got %v, want %v", got, want)
	}`),
};

/** The sources without their bugs. */
export const FIXED: Readonly<Record<string, string>> = {
  'list.go': listOf().replace('len(items)/2', 'len(items)-1'),
  'money.go': MONEY.replace('m.Cents - other.Cents', 'm.Cents + other.Cents'),
  'limit.go': FAULTY.replace('LimitError{9}', 'LimitError{10}'),
  'each.go': EACH.replace('index/2', 'index'),
  'work.go': 'package list\n\nfunc Work() {}\n',
  'label.go': labelOf().replace('first + " and " + first', 'first + " and " + last'),
};
