/* Imported first, so that an older Node fails with this message and not with a missing module. */

/** The first version with node:sqlite without a flag. */
const OLDEST = { major: 22, minor: 13 };

const found = process.versions.node;
const [major = 0, minor = 0] = found.split('.').map(Number);
if (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor)) {
  console.error(
    `Conductor's command line needs Node ${OLDEST.major}.${OLDEST.minor} or later; this is Node ${found}. ` +
      'In a checkout, "npm run -s conductor" uses the checkout\'s own Node.',
  );
  process.exit(1);
}
