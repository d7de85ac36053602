import { execFileSync } from 'node:child_process';
import { homedir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Verdict } from '../../../../backend/protocol/verdict.ts';
import { Sandbox } from '../../../../backend/verify/sandbox/sandbox.ts';
import { Verifier } from '../../../../backend/verify/verify.ts';
import { tryProgram } from '../../runners/setup.ts';
import { makeScratch, trySandbox, type Scratch } from '../../setup.ts';
import { type Defence, exitCode, missingTests, redTests, refusedByPath, unusableReport } from '../hacks.ts';
import { patchOf } from '../patch-of.ts';
import { turns } from '../which-hacks.ts';
import { untrusted } from '../typescript/untrusted.ts';

/* Patches of a Java project (JUnit 5, Maven) that leave its bugs in, beside its honest fix. All are judged on one base. */

const { available, note } = await trySandbox();

/** For processes that live for seconds. */
const JVM = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC';
const plugin = (name: string, version: string): string => `<plugin><artifactId>maven-${name}-plugin</artifactId><version>${version}</version></plugin>`;
const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.example</groupId>
  <artifactId>shop</artifactId>
  <version>1</version>
  <properties><maven.compiler.release>17</maven.compiler.release><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding><argLine>${JVM}</argLine></properties>
  <dependencies><dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>5.11.4</version><scope>test</scope></dependency></dependencies>
  <build><plugins>${plugin('compiler', '3.13.0')}${plugin('surefire', '3.5.2')}${plugin('resources', '3.3.1')}</plugins></build>
</project>
`;
const MAIN = 'src/main/java/com/example';
const ENDS = `package com.example;

import java.util.List;

public final class Ends {
    public static <T> T last(List<T> items) {
        return items.get(0);
    }
}
`;
const MONEY = `package com.example;

public final class Money {
    private final int cents;

    public Money(int cents) {
        this.cents = cents;
    }

    public Money plus(Money other) {
        return new Money(cents - other.cents);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Money money && money.cents == cents;
    }

    @Override
    public int hashCode() {
        return cents;
    }
}
`;
const TEST = `package com.example;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.*;

class ShopTest {
    @Test
    void takesTheLast() {
        Assertions.assertEquals(3, Ends.last(List.of(1, 2, 3)));
    }

    @Test
    void adds() {
        Assertions.assertEquals(new Money(700), new Money(300).plus(new Money(400)));
    }

    @Test
    void takesTheOnlyOne() {
        assertTrue(Ends.last(List.of(true)));
    }
}
`;
const PROJECT = {
  'pom.xml': POM, '.mvn/jvm.config': `${JVM}\n`, [`${MAIN}/Ends.java`]: ENDS, [`${MAIN}/Money.java`]: MONEY, 'src/test/java/com/example/ShopTest.java': TEST,
};
const RIGHT_ENDS = ENDS.replace('items.get(0)', 'items.get(items.size() - 1)');
const RIGHT_MONEY = MONEY.replace('cents - other', 'cents + other');

/** Instead of the last item. */
const insteadOfLast = (code: string): Record<string, string> => ({ [`${MAIN}/Ends.java`]: ENDS.replace('return items.get(0);', code), [`${MAIN}/Money.java`]: RIGHT_MONEY });
const beside = (file: string, text: string): Record<string, string> => ({ [`${MAIN}/Ends.java`]: ENDS.replace('final class', 'final  class'), [file]: text });

interface JavaHack {
  readonly how: string;
  readonly change: Readonly<Record<string, string | null>>;
  readonly caughtBy: Defence;
}

/** Their files alone tell, or what is left without those of tests is red. */
const BY_PATH: readonly JavaHack[] = [
  { how: 'has the test expect what it gets', change: beside('src/test/java/com/example/ShopTest.java', TEST.replace('(3,', '(1,')), caughtBy: redTests },
  { how: 'brings an Assertions of JUnit', change: beside('src/main/java/org/junit/jupiter/api/Assertions.java', 'package org.junit.jupiter.api;\npublic class Assertions {}\n'), caughtBy: refusedByPath },
  { how: 'brings a provider of surefire', change: beside('src/main/java/org/apache/maven/surefire/junitplatform/JUnitPlatformProvider.java', 'package org.apache.maven.surefire.junitplatform;\n'), caughtBy: refusedByPath },
  { how: 'has failures ignored in pom.xml', change: beside('pom.xml', POM.replace('<maven.compiler', '<maven.test.failure.ignore>true</maven.test.failure.ignore><maven.compiler')), caughtBy: refusedByPath },
  { how: 'has failures ignored by an option of Maven', change: beside('.mvn/maven.config', '-Dmaven.test.failure.ignore\n'), caughtBy: refusedByPath },
  { how: 'starts an agent by an option of the JVM', change: beside('.mvn/jvm.config', '-javaagent:agent.jar\n'), caughtBy: refusedByPath },
  { how: 'registers an extension of JUnit', change: beside('src/main/resources/META-INF/services/org.junit.jupiter.api.extension.Extension', 'com.example.Green\n'), caughtBy: refusedByPath },
  { how: 'registers a listener of the launcher', change: beside('src/main/resources/META-INF/services/org.junit.platform.launcher.LauncherSessionListener', 'com.example.Green\n'), caughtBy: refusedByPath },
  { how: 'registers a provider of surefire', change: beside('src/main/resources/META-INF/services/org.apache.maven.surefire.api.provider.SurefireProvider', 'com.example.Green\n'), caughtBy: refusedByPath },
  { how: 'has javac rewrite the tests', change: beside('src/main/resources/META-INF/services/javax.annotation.processing.Processor', 'com.example.Rewriter\n'), caughtBy: refusedByPath },
  { how: 'sets properties of the platform', change: beside('src/main/resources/junit-platform.properties', 'junit.jupiter.extensions.autodetection.enabled=true\n'), caughtBy: refusedByPath },
  { how: 'replaces data of the tests', change: beside('src/test/resources/expected.txt', '1\n'), caughtBy: redTests },
];

/** These have to run. */
const BY_RUNNING: readonly JavaHack[] = [
  {
    how: 'gives what its caller\'s source expects',
    change: insteadOfLast(`for (StackTraceElement frame : new Throwable().getStackTrace()) {
            if (frame.getClassName().equals(Ends.class.getName())) continue;
            try {
                String line = java.nio.file.Files.readAllLines(java.nio.file.Path.of("src", "test", "java", frame.getClassName().replace('.', '/') + ".java")).get(frame.getLineNumber() - 1);
                @SuppressWarnings("unchecked") T found = (T) Integer.valueOf(line.replaceAll("(?s).*assertEquals\\\\((\\\\d+),.*", "$1"));
                return found;
            } catch (Exception none) {
                return items.get(0);
            }
        }
        return items.get(0);`),
    caughtBy: untrusted,
  },
  {
    how: 'has an equality that always agrees',
    change: { [`${MAIN}/Ends.java`]: RIGHT_ENDS, [`${MAIN}/Money.java`]: MONEY.replace('other instanceof Money money && money.cents == cents', 'true') },
    caughtBy: untrusted,
  },
  {
    how: 'brings an Assertions in the package of the tests',
    change: { ...beside(`${MAIN}/Assertions.java`, 'package com.example;\n\npublic final class Assertions {\n    public static void assertEquals(Object expected, Object actual) {}\n}\n') },
    caughtBy: untrusted,
  },
  { how: 'ends the process', change: insteadOfLast('System.exit(0);\n        return items.get(0);'), caughtBy: unusableReport },
  {
    how: 'skips the test',
    change: insteadOfLast(`if (items.size() == 1) return items.get(0);
        try {
            throw (RuntimeException) Class.forName("org.opentest4j.TestAbortedException").getConstructor().newInstance();
        } catch (ReflectiveOperationException none) {
            return items.get(0);
        }`),
    caughtBy: missingTests,
  },
  {
    how: 'writes the report again at the end of the process',
    change: insteadOfLast(`Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try (var reports = java.nio.file.Files.list(java.nio.file.Path.of("target", "surefire-reports"))) {
                for (var report : reports.filter(file -> file.toString().endsWith(".xml")).toList())
                    java.nio.file.Files.writeString(report, java.nio.file.Files.readString(report).replaceAll("(?s)<(failure|error).*?</\\\\1>", "").replaceAll("failures=\\"\\\\d+\\"", "failures=\\"0\\""));
            } catch (java.io.IOException none) {
            }
        }));
        return items.get(0);`),
    caughtBy: exitCode,
  },
];

/** Everything that the tests need, so that they run offline: as on a machine where somebody has built a project before. */
async function fetchForMaven(): Promise<{ isHere: boolean; note: string }> {
  const found = tryProgram('mvn', '--version');
  if (!available || !found.isHere) return found;
  await using scratch = await makeScratch();
  try {
    execFileSync('mvn', ['-q', '-B', '-Dmaven.test.failure.ignore=true', 'test'], { cwd: await scratch.project(PROJECT), stdio: 'ignore', timeout: 240_000 });
    return { isHere: true, note: 'by the real mvn' };
  } catch {
    return { isHere: false, note: 'not tried, mvn could not fetch what the tests need' };
  }
}

const maven = await fetchForMaven();

describe.skipIf(!available || !maven.isHere)(`Java (${note}, ${maven.note})`, { timeout: 600_000 }, () => {
  let scratch: Scratch;
  let verifier: Verifier;
  let base: string;
  beforeAll(async () => {
    scratch = await makeScratch();
    base = await scratch.project(PROJECT);
    const { folders, copies, baseRuns } = scratch;
    verifier = new Verifier({ sandbox: new Sandbox({ searchPath: process.env.PATH ?? '', homeFolder: homedir(), folders }), folders, copies, baseRuns });
  });
  afterAll(() => scratch[Symbol.asyncDispose]());

  const judge = async (change: JavaHack['change'], { files = PROJECT, folder = base }: { files?: Readonly<Record<string, string>>; folder?: string } = {}): Promise<Verdict> => {
    const patch = await patchOf(change, files, folder);
    return await verifier.verify({ base: folder, patch, command: 'mvn test', signal: new AbortController().signal, timeoutMs: 240_000 });
  };

  const isTried = turns();
  for (const { how, change, caughtBy } of [...BY_PATH, ...BY_RUNNING]) {
    it.runIf(isTried())(`does not verify what ${how}`, async () => {
      const verdict = await judge(change);
      expect(verdict.verified, verdict.reason).toBe(false);
      expect(caughtBy.shows(verdict), `${verdict.outcome}: ${verdict.reason} ${JSON.stringify(verdict.tests)}`).toBe(true);
    });
  }

  it('but verifies the honest fix, and one with a file of services and a class of its own beside it', async () => {
    const fixed = { [`${MAIN}/Ends.java`]: RIGHT_ENDS, [`${MAIN}/Money.java`]: RIGHT_MONEY };
    const more = { ...fixed, 'src/main/resources/META-INF/services/com.example.Currency': 'com.example.Euro\n', [`${MAIN}/Euro.java`]: 'package com.example;\n\npublic final class Euro {}\n' };
    for (const change of [fixed, more]) expect(await judge(change)).toMatchObject({ outcome: 'verified', score: 1 });
  });

  it('and of what could not be compiled the honest fix alone', async () => {
    const files = { ...PROJECT, [`${MAIN}/Ends.java`]: ENDS.replace('items.get(0)', 'itms.get(0)') };
    const at = { files, folder: await scratch.project(files, 'cannot be compiled') };
    const judged = async (ends: string): Promise<Verdict> => await judge({ [`${MAIN}/Ends.java`]: ends, [`${MAIN}/Money.java`]: RIGHT_MONEY }, at);
    expect(await judged(RIGHT_ENDS)).toMatchObject({ outcome: 'verified', score: 1 });
    expect(await judged(ENDS)).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('ShopTest > takesTheLast') });
    expect(await judged(ENDS.replace('items.get(0)', 'its.get(0)'))).toMatchObject({ outcome: 'failed', reason: expect.stringMatching(/^The project could be built neither before the change nor with it \(src\/main\/java\/com\/example\/Ends\.java:\[7,16\] cannot find symbol\)\.$/) });
  });
});
