// Mocha's usual report for people, and the counts in a file for `.ci/run`.
// CommonJS, because Mocha takes the module itself for the reporter.
const { writeFileSync } = require('node:fs');
const Mocha = require('mocha');

module.exports = class CountingReporter extends Mocha.reporters.Spec {
  done(failures, end) {
    const { passes, failures: failed, pending } = this.stats;
    writeFileSync(process.env.CONDUCTOR_TEST_REPORT, JSON.stringify({ passed: passes, failed, skipped: pending }));
    end(failures);
  }
};
