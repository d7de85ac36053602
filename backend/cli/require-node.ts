/* Imported first, so that an older Node hears this sentence and not about whatever it lacks. */

/** The first Node with node:sqlite and without a flag for it. */
const OLDEST = { major: 22, minor: 13 };

const found = process.versions.node;
const [major = 0, minor = 0] = found.split('.').map(Number);
if (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor)) {
  console.error(
    `Conductor's command line needs Node ${OLDEST.major}.${OLDEST.minor} or later; this is Node ${found}. ` +
      'In a checkout, "npm run -s conductor" uses its own.',
  );
  process.exit(1);
}
