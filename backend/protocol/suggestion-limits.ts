// Kept apart from the schemas, which the extension loads only with its first connection.

/** The maximum text on each side of the cursor in a request, in UTF-16 units. Far less is sent to a worker. */
export const MAX_TOLD_BEFORE = 32_000;
export const MAX_TOLD_AFTER = 8_000;

/** Other files that are open, and what was edited last: far more than is looked at. */
export const MAX_OPEN_FILES = 20;
export const MAX_EDITS = 8;
/** The text of an edit before and after it, each. Longer edits are not told. */
export const MAX_EDIT_LENGTH = 1_000;
