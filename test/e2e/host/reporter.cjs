// Mocha's usual report for people, and the counts in a file for `.ci/run`.
// CommonJS, because Mocha takes the module itself for the reporter.
const { mkdirSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const Mocha = require('mocha');

module.exports = class CountingReporter extends Mocha.reporters.Spec {
  done(failures, end) {
    const { passes, failures: failed, pending } = this.stats;
    const folder = process.env.CONDUCTOR_TEST_RESULTS;
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'extension-host.json'), JSON.stringify({ passed: passes, failed, skipped: pending }));
    end(failures);
  }
};
