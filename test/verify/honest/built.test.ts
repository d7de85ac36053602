import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { afterAll, describe, it } from 'vitest';
import { tryProgram } from '../runners/setup.ts';
import { makeScratch, trySandbox } from '../setup.ts';
import { expectHonest, TIMEOUT_MS, type HonestFix } from './setup.ts';

const { available, note } = await trySandbox();
const cmake = tryProgram('cmake', '--version');
const compiler = tryProgram('c++', '--version');

const CMAKE: HonestFix = {
  files: {
    'CMakeLists.txt': `cmake_minimum_required(VERSION 3.16)
project(shapes CXX)
set(CMAKE_CXX_STANDARD 17)
add_library(shapes src/shapes.cpp)
target_include_directories(shapes PUBLIC include)
enable_testing()
add_subdirectory(tests)
`,
    'include/shapes.hpp': '#pragma once\nint area(int width, int height);\nint border(int width, int height);\n',
    'src/shapes.cpp': '#include "shapes.hpp"\nint area(int width, int height) { return width + height; }\nint border(int width, int height) { return 2 * (width + height); }\n',
    'tests/CMakeLists.txt': `foreach(name area border refuses)
  add_executable(\${name}_test \${name}.cpp)
  target_link_libraries(\${name}_test shapes)
  add_test(NAME \${name} COMMAND \${name}_test \${CMAKE_CURRENT_SOURCE_DIR}/data.txt)
endforeach()
set_tests_properties(refuses PROPERTIES WILL_FAIL TRUE)
add_test(NAME says COMMAND area_test --say)
set_tests_properties(says PROPERTIES PASS_REGULAR_EXPRESSION "area 12")
add_test(NAME later COMMAND area_test)
set_tests_properties(later PROPERTIES DISABLED TRUE)
`,
    'tests/data.txt': '3 4 12\n',
    'tests/area.cpp': `#include "shapes.hpp"
#include <fstream>
#include <iostream>
#include <string>
int main(int count, char **arguments) {
  if (count > 1 && std::string(arguments[1]) == "--say") {
    std::cout << "area " << area(3, 4) << std::endl;
    return 0;
  }
  std::ifstream data(arguments[1]);
  int width, height, expected;
  data >> width >> height >> expected;
  return area(width, height) == expected ? 0 : 1;
}
`,
    'tests/border.cpp': '#include "shapes.hpp"\n#include <cassert>\nint main() { assert(border(1, 2) == 6); }\n',
    'tests/refuses.cpp': 'int main() { return 1; }\n',
  },
  fix: { 'src/shapes.cpp': ['return width + height;', 'return width * height;'] },
  command: 'cmake -S . -B conductor-build && cmake --build conductor-build && ctest --test-dir conductor-build',
  mended: ['area', 'says'],
  noControl: 'there is no control for C++',
};

describe.skipIf(!available || !cmake.isHere || !compiler.isHere)(
  `an honest fix of a C++ project is verified (${note}, ${cmake.note}, ${compiler.note})`,
  { timeout: TIMEOUT_MS },
  () => {
    it('with tests of ctest that pass by their exit code, by their output and by failing, and one that is off', async () => {
      await expectHonest(CMAKE);
    });
  },
);

const junit = '<dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>5.11.4</version><scope>test</scope></dependency>';
const plugin = (name: string, version: string): string => `<plugin><artifactId>maven-${name}-plugin</artifactId><version>${version}</version></plugin>`;
const plugins = [plugin('compiler', '3.13.0'), plugin('surefire', '3.5.2'), plugin('resources', '3.3.1')].join('');
const pom = (artifact: string, rest: string): string => `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.example</groupId>
  <artifactId>${artifact}</artifactId>
  <version>1</version>
  <properties><maven.compiler.release>17</maven.compiler.release><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
  ${rest}
</project>
`;
const child = (artifact: string, dependencies: string): string => `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <parent><groupId>com.example</groupId><artifactId>all</artifactId><version>1</version></parent>
  <artifactId>${artifact}</artifactId>
  <dependencies>${dependencies}${junit}</dependencies>
</project>
`;

const scratch = await makeScratch();
afterAll(async () => await scratch[Symbol.asyncDispose]());
/** Below a home folder of the test's own: nothing is written to the user's. */
const repository = path.join(scratch.home, '.m2/repository');
const MAVEN: HonestFix = {
  files: {
    'pom.xml': pom('all', `<packaging>pom</packaging><modules><module>core</module><module>app</module></modules><build><plugins>${plugins}</plugins></build>`),
    'core/pom.xml': child('core', ''),
    'core/src/main/java/com/example/Ends.java': `package com.example;

import java.util.List;

public final class Ends {
    private Ends() {}

    public static <T> T last(List<T> items) {
        if (items.isEmpty()) throw new IllegalArgumentException("no items");
        return items.get(0);
    }
}
`,
    'core/src/test/java/com/example/EndsTest.java': `package com.example;

import static org.junit.jupiter.api.Assertions.*;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.*;

class EndsTest {
    private List<Integer> items;

    @BeforeEach
    void fill() {
        items = List.of(1, 2, 3);
    }

    @Test
    void last() {
        assertEquals(3, Ends.last(items));
    }

    @Test
    void empty() {
        var error = assertThrows(IllegalArgumentException.class, () -> Ends.last(List.of()));
        assertEquals("no items", error.getMessage());
    }

    @ParameterizedTest
    @CsvSource({"a b, b", "c, c"})
    void lastWord(String text, String word) {
        assertEquals(word, Ends.last(List.of(text.split(" "))));
    }

    @Test
    @Disabled("later")
    void later() {
        fail();
    }

    @Test
    void elsewhere() {
        assumeTrue(System.getenv("NO_SUCH_VARIABLE") != null);
        fail();
    }

    @Nested
    class WithOne {
        @Test
        @DisplayName("is that one")
        void one() {
            assertAll(() -> assertEquals(7, Ends.last(List.of(7))), () -> assertNotNull(items));
        }
    }

    @TestFactory
    Stream<DynamicTest> made() {
        return Stream.of(1, 2).map(count -> DynamicTest.dynamicTest("of " + count, () -> assertEquals(count, Ends.last(items.subList(0, count)))));
    }
}
`,
    'core/src/test/java/com/example/UnusualTest.java': `package com.example;

import static org.junit.jupiter.api.Assertions.*;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of which an expectation, altered in a simple way, would hold all the same, or would never be come to. */
class UnusualTest {
    private static final Object ANYTHING = new Object() {
        @Override
        public boolean equals(Object other) {
            return true;
        }

        @Override
        public int hashCode() {
            return 0;
        }
    };

    private static void check(int found, int expected) {
        assertEquals(expected, found, "not " + expected);
    }

    @Test
    void byAHelper() {
        check(Ends.last(List.of(1, 2)), 2);
    }

    @Test
    void expectsAnAssertionToFail() {
        assertThrows(AssertionError.class, () -> assertEquals(1, Ends.last(List.of(1, 2))));
        assertThrows(AssertionError.class, () -> check(Ends.last(List.of(1, 2)), 5));
    }

    @Test
    void catchesAnAssertion() {
        try {
            assertEquals(1, Ends.last(List.of(1, 2)));
        } catch (AssertionError error) {
            return;
        }
        fail("one is not the last");
    }

    @Test
    void returnsEarly() {
        for (int number = 1; ; number++) {
            if (Ends.last(List.of(0, number)) == 3) return;
            if (number > 5) fail("never");
        }
    }

    @Test
    void withTolerance() {
        assertEquals(2.1, Ends.last(List.of(1.0, 2.0)), 0.5);
    }

    @Test
    void equalsEverything() {
        assertEquals(ANYTHING, Ends.last(List.of("a", "b")));
        assertEquals("b", Ends.last(List.of("a", "b")));
    }

    @Test
    void withoutAnAssertion() {
        if (Ends.last(List.of(1, 2)) != 2) throw new IllegalStateException("not two");
    }
}
`,
    'app/pom.xml': child('app', '<dependency><groupId>com.example</groupId><artifactId>core</artifactId><version>1</version></dependency>'),
    'app/src/main/java/com/example/App.java': 'package com.example;\n\nimport java.util.List;\n\npublic class App {\n    public String run(String... words) {\n        return "last is " + Ends.last(List.of(words));\n    }\n}\n',
    'app/src/test/java/com/example/AppTest.java': 'package com.example;\n\nimport static org.junit.jupiter.api.Assertions.assertTrue;\n\nimport org.junit.jupiter.api.Test;\n\nclass AppTest {\n    @Test\n    void runs() {\n        assertTrue(new App().run("a", "b").endsWith("b"));\n    }\n}\n',
  },
  fix: { 'core/src/main/java/com/example/Ends.java': ['items.get(0)', 'items.get(items.size() - 1)'] },
  command: `mvn -Dmaven.repo.local=${repository} test`,
  mended: [
    ...['AppTest > runs', 'EndsTest > last', 'EndsTest > lastWord(String, String)[1]', 'EndsTest > made()[2]'],
    ...['byAHelper', 'expectsAnAssertionToFail', 'catchesAnAssertion', 'returnsEarly', 'withTolerance', 'equalsEverything', 'withoutAnAssertion'].map(
      (name) => `UnusualTest > ${name}`,
    ),
  ].map((name) => `com.example.${name}`),
};
const maven = await fetchForMaven();

/** Everything that the tests need, so that they run offline: as on a machine where somebody has built the project before. */
async function fetchForMaven(): Promise<{ isHere: boolean; note: string }> {
  const found = tryProgram('mvn', '--version');
  if (!available || !found.isHere) return found;
  const cwd = await scratch.project(MAVEN.files, 'built before');
  try {
    const options = ['-q', '-B', '-fae', `-Dmaven.repo.local=${repository}`, '-Dmaven.test.failure.ignore=true', 'test'];
    execFileSync('mvn', options, { cwd, stdio: 'ignore', timeout: 240_000 });
    return { isHere: true, note: 'by the real mvn' };
  } catch {
    return { isHere: false, note: 'not tried, mvn could not fetch what the tests need' };
  }
}

describe.skipIf(!available || !maven.isHere)(`an honest fix of a Java project is verified (${note}, ${maven.note})`, { timeout: TIMEOUT_MS }, () => {
  it('with two modules of Maven, tests from tables, nested, made by a method, skipped and assumed', async () => {
    await expectHonest(MAVEN, { homeFolder: scratch.home });
  });
});
