import { describe, it } from 'vitest';
import { tryProgram } from '../runners/setup.ts';
import { trySandbox } from '../setup.ts';
import { compileWithGo, expectHonest, TIMEOUT_MS, type HonestFix } from './setup.ts';

const { available, note } = await trySandbox();
const go = tryProgram('go', 'version');

const BROKEN = `package calc

// Twice doubles.
func Twice(number int) int { return number }

// Half halves what is even.
func Half(number int) (int, error) { return number / 2, nil }

// MustHalf is Half for what is known to be even.
func MustHalf(number int) int {
	half, _ := Half(number)
	return half
}
`;
const CALC = `package calc

import "fmt"

// OddError says which number is odd.
type OddError struct{ Number int }

func (e OddError) Error() string { return fmt.Sprintf("odd: %d", e.Number) }

// Twice doubles.
func Twice(number int) int { return number * 2 }

// Half halves what is even.
func Half(number int) (int, error) {
	if number%2 != 0 {
		return 0, OddError{number}
	}
	return number / 2, nil
}

// MustHalf is Half for what is known to be even.
func MustHalf(number int) int {
	half, err := Half(number)
	if err != nil {
		panic(err)
	}
	return half
}
`;

/** Tests of which an expectation, altered in a simple way, would hold all the same, or would never be come to. */
const TESTS = `package calc

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/quick"
)

func equal(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func must[T comparable](t *testing.T, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func TestPlain(t *testing.T) {
	if got := Twice(2); got != 4 {
		t.Errorf("Twice(2) = %d", got)
	}
	if got, want := Twice(3), 6; got != want {
		t.Errorf("got %d, want %d", got, want)
	}
	if !(Twice(100) > 150) || Twice(1) == 1 {
		t.Fatal("too small")
	}
}

func TestWantErr(t *testing.T) {
	tests := []struct {
		name    string
		in      int
		want    int
		wantErr bool
	}{
		{name: "even", in: 4, want: 2},
		{name: "odd", in: 3, wantErr: true},
		{"zero", 0, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Half(tt.in)
			if (err != nil) != tt.wantErr {
				t.Fatalf("Half(%d) error = %v, wantErr %v", tt.in, err, tt.wantErr)
			}
			if tt.wantErr {
				return
			}
			if got != tt.want {
				t.Errorf("Half(%d) = %d, want %d", tt.in, got, tt.want)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	_, err := Half(5)
	if err == nil {
		t.Fatal("expected an error")
	}
	if !strings.Contains(err.Error(), "odd") {
		t.Errorf("unexpected: %v", err)
	}
	if errors.Is(err, errors.New("odd: 5")) {
		t.Error("is another")
	}
}

func TestPanics(t *testing.T) {
	defer func() {
		if recovered := recover(); recovered == nil {
			t.Error("did not panic")
		}
	}()
	MustHalf(3)
}

type row struct{ in, want int }

func twiceIs(t *testing.T, r row) {
	t.Helper()
	expected := r.want
	if got := Twice(r.in); got != expected {
		t.Errorf("got %d, want %d", got, expected)
	}
}

func TestRowsGivenToHelpers(t *testing.T) {
	for name, r := range map[string]row{"one": {1, 2}, "ten": {in: 10, want: 20}, "none": {}} {
		t.Run(name, func(t *testing.T) {
			twiceIs(t, r)
		})
		equal(t, Twice(r.in), r.want)
	}
}

func TestThereAndBack(t *testing.T) {
	numbers := []struct{ even int }{{4}, {6}}
	for _, n := range numbers {
		if got := MustHalf(Twice(n.even)); got != n.even {
			t.Error(got)
		}
		equal(t, MustHalf(Twice(n.even)), n.even)
	}
	text := "  four "
	must(t, strings.TrimSpace(fmt.Sprint(text)), strings.TrimSpace(text))
	equal(t, Twice(2), 4)
}

func TestHelpers(t *testing.T) {
	equal(t, Twice(1), 2)
	equal(t, []int{Twice(1), Twice(2)}, []int{2, 4})
	must(t, fmt.Sprint(Twice(1)), "2")
	check := func(got int) {
		if got != 2 {
			t.Error(got)
		}
	}
	check(Twice(1))
}

func TestReturnsEarly(t *testing.T) {
	for i := 0; i < 5; i++ {
		if Twice(i) == 6 && i == 3 {
			return
		}
	}
	t.Fatal("never")
}

func TestEitherWay(t *testing.T) {
	for name, tc := range map[string]struct {
		number int
		fails  bool
	}{"even": {4, false}, "odd": {5, true}, "odd and negative": {-5, true}} {
		t.Run(name, func(t *testing.T) {
			_, err := Half(tc.number)
			if err != nil && !tc.fails {
				t.Error(err)
			}
			if err == nil && tc.fails {
				t.Error("it has to fail")
			}
		})
	}
	if half, err := Half(Twice(3)); err == nil && half != 3 {
		t.Error(half)
	}
}

func TestTriesUntilItHolds(t *testing.T) {
	var last error
	for i := 0; i < 10; i++ {
		if Twice(i) != 18 {
			last = fmt.Errorf("%d is not", i)
			continue
		}
		last = nil
		break
	}
	if last != nil {
		t.Fatal(last)
	}
}

func TestMapped(t *testing.T) {
	want := map[int]int{1: 2, 2: 4}
	for in, out := range want {
		if got := Twice(in); got != out {
			t.Errorf("%d: %d", in, got)
		}
	}
	got := map[int]int{}
	for in := range want {
		got[in] = Twice(in)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error(got)
	}
}

func TestGoroutines(t *testing.T) {
	var group sync.WaitGroup
	results := make(chan int, 3)
	for i := 1; i <= 3; i++ {
		group.Add(1)
		go func(number int) {
			defer group.Done()
			results <- Twice(number)
		}(i)
	}
	group.Wait()
	close(results)
	sum := 0
	for result := range results {
		sum += result
	}
	if sum != 12 {
		t.Errorf("sum is %d", sum)
	}
}

func TestSwitch(t *testing.T) {
	switch got := Twice(2); {
	case got == 4:
	default:
		t.Errorf("got %d", got)
	}
	switch Twice(1) {
	case 2:
		t.Log("two")
	case 1:
		t.Fatal("one")
	}
}

func TestQuick(t *testing.T) {
	if err := quick.Check(func(number int16) bool { return Twice(int(number)) == int(number)+int(number) }, nil); err != nil {
		t.Error(err)
	}
}

func TestBothSides(t *testing.T) {
	if Twice(Twice(1))-Twice(1) != Twice(1) {
		t.Fail()
	}
}

func TestDeep(t *testing.T) {
	t.Run("group", func(t *testing.T) {
		t.Run("one", func(t *testing.T) {
			t.Parallel()
			if Twice(1) != 2 {
				t.FailNow()
			}
		})
	})
	t.Run(fmt.Sprintf("of %d", 7), func(t *testing.T) { equal(t, Twice(7), 14) })
}
`;

const GO: HonestFix = {
  files: { 'go.mod': 'module example.com/calc\n\ngo 1.21\n', 'calc.go': BROKEN, 'calc_test.go': TESTS },
  fix: { 'calc.go': CALC },
  command: 'go test ./...',
  mended: [
    ...[...TESTS.matchAll(/^func (Test\w+)/gm)].map(([, name]) => name),
    ...['TestRowsGivenToHelpers/one', 'TestRowsGivenToHelpers/ten', 'TestWantErr/odd', 'TestEitherWay/odd', 'TestEitherWay/odd_and_negative', 'TestDeep/group', 'TestDeep/group/one', 'TestDeep/of_7'],
  ].map((name) => `example.com/calc > ${name}`),
};

describe.skipIf(!available || !go.isHere)(
  `an honest fix passes the negative control, whatever its tests look like (${note}, ${go.note})`,
  { timeout: TIMEOUT_MS },
  () => {
    it('of go', async () => {
      await expectHonest(GO, { before: compileWithGo });
    });
  },
);
