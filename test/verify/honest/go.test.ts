import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findTestCommands } from '../../../backend/verify/runners/find-tests.ts';
import { tryProgram } from '../runners/setup.ts';
import { makeScratch, trySandbox } from '../setup.ts';
import { compileWithGo, expectVerified, judgeFix, TIMEOUT_MS, type HonestFix } from './setup.ts';

const { available, note } = await trySandbox();
const go = tryProgram('go', 'version');

const WORDS = `package words

import (
	"fmt"
	"strings"
)

// Error says what is wrong with a text.
type Error struct{ Text string }

func (e *Error) Error() string { return fmt.Sprintf("no words in %q", e.Text) }

// Count counts the words of a text.
func Count(text string) (int, error) {
	words := strings.Split(text, " ")
	if strings.TrimSpace(text) == "" {
		return 0, &Error{text}
	}
	return len(words), nil
}

// Reverse turns the words around.
func Reverse(text string) string {
	words := strings.Fields(text)
	for i, j := 0, len(words)-1; i < j; i, j = i+1, j-1 {
		words[i], words[j] = words[j], words[i]
	}
	return strings.Join(words, " ")
}
`;
const MODULE = 'module example.com/words\n\ngo 1.21\n';

const PROJECTS: Record<string, HonestFix & { readonly found?: readonly string[] }> = {
  'tables, subtests, helpers, parallel tests, examples, fuzz seeds, properties, set-up of all tests and data in files': {
    files: {
      'go.mod': MODULE,
      'words.go': WORDS,
      'testdata/counts.txt': 'a b=2\na  b=2\n',
      'words_test.go': `package words

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/quick"
)

var started bool

func TestMain(m *testing.M) {
	started = true
	os.Exit(m.Run())
}

func check(t *testing.T, text string, want int) {
	t.Helper()
	got, err := Count(text)
	if err != nil {
		t.Fatalf("Count(%q): %v", text, err)
	}
	if got != want {
		t.Errorf("Count(%q) = %d, want %d", text, got, want)
	}
}

func TestCount(t *testing.T) {
	tests := []struct {
		name string
		text string
		want int
	}{
		{"one", "a", 1},
		{"two", "a b", 2},
		{name: "wide gap", text: "a   b", want: 2},
		{"ünïcode/slash", " ä ", 1},
	}
	for _, tt := range tests {
		tt := tt
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check(t, tt.text, tt.want)
		})
	}
}

func TestMap(t *testing.T) {
	for text, want := range map[string]int{"x": 1, "x y z": 3, "x\\ty": 2} {
		t.Run(text, func(t *testing.T) { check(t, text, want) })
	}
}

func TestEmpty(t *testing.T) {
	_, err := Count("  ")
	var found *Error
	if !errors.As(err, &found) || found.Text != "  " {
		t.Fatalf("got %v", err)
	}
	if err.Error() != "no words in \\"  \\"" {
		t.Error(err)
	}
}

func TestFile(t *testing.T) {
	content, err := os.ReadFile("testdata/counts.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(content)), "\\n") {
		text, count, _ := strings.Cut(line, "=")
		if got, _ := Count(text); fmt.Sprint(got) != count {
			t.Errorf("%q: %d", text, got)
		}
	}
}

func TestQuick(t *testing.T) {
	twice := func(text string) bool { return Reverse(Reverse(text)) == strings.Join(strings.Fields(text), " ") }
	if err := quick.Check(twice, nil); err != nil {
		t.Error(err)
	}
}

func TestStarted(t *testing.T) {
	t.Setenv("WORDS", "yes")
	t.Cleanup(func() {})
	if !started || os.Getenv("WORDS") != "yes" {
		t.Fail()
	}
	if testing.Short() {
		t.Skip("short")
	}
}

func TestLater(t *testing.T) { t.Skip("later") }

func FuzzCount(f *testing.F) {
	f.Add("a b")
	f.Add(" a ")
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := Count(text); err == nil && got != len(strings.Fields(text)) {
			t.Errorf("%q: %d", text, got)
		}
	})
}

func BenchmarkCount(b *testing.B) {
	for i := 0; i < b.N; i++ {
		_, _ = Count("a b")
	}
}

func ExampleCount() {
	count, err := Count("two  words")
	fmt.Println(count, err)
	// Output: 2 <nil>
}

func ExampleReverse() {
	for _, word := range strings.Fields(Reverse("b a")) {
		fmt.Println(word)
	}
	// Unordered output:
	// b
	// a
}
`,
    },
    fix: { 'words.go': ['strings.Split(text, " ")', 'strings.Fields(text)'] },
    command: 'go test -v -race=false ./...',
    mended: [
      ...['TestCount', 'TestCount/wide_gap', 'TestCount/ünïcode/slash', 'TestMap', 'TestMap/x_y', 'TestFile', 'FuzzCount', 'FuzzCount/seed#1', 'ExampleCount'],
    ].map((name) => `example.com/words > ${name}`),
  },

  'tests outside the package, internal packages, embedded files, a loopback server, a helper process, build tags and cgo': {
    files: {
      'go.mod': MODULE,
      'words.go': WORDS.replace('i < j;', 'i+1 < j;'),
      'internal/page/page.go': `package page

import (
	"embed"
	"fmt"
	"net/http"

	"example.com/words"
)

//go:embed *.txt
var files embed.FS

// Handler answers with the words turned around.
func Handler() http.Handler {
	head, _ := files.ReadFile("head.txt")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s%s", head, words.Reverse(r.URL.Query().Get("q")))
	})
}
`,
      'internal/page/head.txt': '> ',
      'internal/page/page_test.go': `package page_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"example.com/words/internal/page"
)

func TestServer(t *testing.T) {
	server := httptest.NewServer(page.Handler())
	defer server.Close()
	answer, err := http.Get(server.URL + "/?q=a+b+c+d")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	if string(body) != "> d c b a" {
		t.Errorf("%q", body)
	}
}

func TestProcess(t *testing.T) {
	if os.Getenv("HELPER") == "1" {
		os.Exit(3)
	}
	command := exec.Command(os.Args[0], "-test.run=TestProcess")
	command.Env = append(os.Environ(), "HELPER=1")
	if err := command.Run(); err == nil || command.ProcessState.ExitCode() != 3 {
		t.Errorf("%v", err)
	}
}

func TestFiles(t *testing.T) {
	if err := os.WriteFile(filepath.Join(t.TempDir(), "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("here.txt", nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
`,
      'internal/page/other_test.go': '//go:build never\n\npackage page_test\n\nfunc init() { panic("never") }\n',
      'cmd/words/main.go': 'package main\n\nimport (\n\t"fmt"\n\t"os"\n\t"strings"\n\n\t"example.com/words"\n)\n\nfunc main() { fmt.Println(words.Reverse(strings.Join(os.Args[1:], " "))) }\n',
    },
    fix: { 'words.go': ['i+1 < j;', 'i < j;'] },
    command: 'go vet ./... && go test ./...',
    mended: ['example.com/words/internal/page > TestServer'],
  },

  'a package that could not be built for want of a function, beside others': {
    files: {
      'go.mod': MODULE,
      'words.go': WORDS,
      'words_test.go': 'package words\n\nimport "testing"\n\nfunc TestTitle(t *testing.T) {\n\tif got := Title("a b"); got != "A B" {\n\t\tt.Error(got)\n\t}\n}\n\nfunc TestReverse(t *testing.T) {\n\tif Reverse("a b") != "b a" {\n\t\tt.Fail()\n\t}\n}\n',
      'other/other_test.go': 'package other\n\nimport "testing"\n\nfunc TestOther(t *testing.T) {}\n',
    },
    fix: { 'title.go': 'package words\n\nimport "strings"\n\n// Title makes the first letters of a text large.\nfunc Title(text string) string {\n\twords := strings.Fields(text)\n\tfor i, word := range words {\n\t\twords[i] = strings.ToUpper(word[:1]) + word[1:]\n\t}\n\treturn strings.Join(words, " ")\n}\n' },
    command: 'go test ./...',
    mended: ['example.com/words > TestTitle', 'example.com/words > TestReverse'],
  },

  'a workspace of several modules, which is no module itself': {
    files: {
      'go.work': 'go 1.21\n\nuse (\n\t./core\n\t./app\n)\n',
      'core/go.mod': 'module example.com/core\n\ngo 1.21\n',
      'core/core.go': 'package core\n\n// Double doubles.\nfunc Double(number int) int { return number + 2 }\n',
      'core/core_test.go': 'package core\n\nimport "testing"\n\nfunc TestDouble(t *testing.T) {\n\tif Double(2) != 4 {\n\t\tt.Fail()\n\t}\n}\n',
      'app/go.mod': 'module example.com/app\n\ngo 1.21\n\nrequire example.com/core v0.0.0\n',
      'app/app.go': 'package app\n\nimport "example.com/core"\n\n// Four quadruples.\nfunc Four(number int) int { return core.Double(core.Double(number)) }\n',
      'app/app_test.go': 'package app\n\nimport "testing"\n\nfunc TestFour(t *testing.T) {\n\tif got := Four(3); got != 12 {\n\t\tt.Errorf("got %d", got)\n\t}\n}\n',
    },
    fix: { 'core/core.go': ['number + 2', 'number * 2'] },
    found: ['go test ./core/... ./app/...', 'cd app && go test ./...', 'cd core && go test ./...'],
    command: 'go test ./core/... ./app/...',
    mended: ['example.com/app > TestFour'],
  },

  'dependencies that are vendored': {
    files: {
      'go.mod': `${MODULE}\nrequire example.org/dash v1.0.0\n`,
      'vendor/modules.txt': '# example.org/dash v1.0.0\n## explicit; go 1.21\nexample.org/dash\n',
      'vendor/example.org/dash/dash.go': 'package dash\n\n// Of is a dash.\nconst Of = "-"\n',
      'join.go': 'package words\n\nimport (\n\t"strings"\n\n\t"example.org/dash"\n)\n\n// Join joins words.\nfunc Join(words ...string) string { return strings.Join(words, "") + dash.Of }\n',
      'join_test.go': 'package words\n\nimport "testing"\n\nfunc TestJoin(t *testing.T) {\n\tif got := Join("a", "b"); got != "a-b" {\n\t\tt.Fatal(got)\n\t}\n}\n',
    },
    fix: { 'join.go': ['strings.Join(words, "") + dash.Of', 'strings.Join(words, dash.Of)'] },
    found: ['go test ./...'],
    command: 'env GOFLAGS=-mod=vendor go test $(go list ./... | grep -v /e2e) # all but those',
    mended: ['example.com/words > TestJoin'],
  },
};

describe.skipIf(!available || !go.isHere)(`an honest fix of a go project is verified, with (${note}, ${go.note})`, { timeout: TIMEOUT_MS }, () => {
  it.each(Object.entries(PROJECTS))('%s', async (_, honest) => {
    await using scratch = await makeScratch();
    expectVerified(await judgeFix(scratch, honest, { before: compileWithGo }), honest);
    if (honest.found === undefined) return;
    const found = await findTestCommands(path.join(scratch.folder, 'project'));
    expect(found.map(({ command }) => command)).toEqual(honest.found);
  });
});

