// Kept apart from the schemas, which the extension loads only with its first connection.

/** The maximum text on each side of the cursor in a request, in UTF-16 units. Far less is sent to a worker. */
export const MAX_TOLD_BEFORE = 32_000;
export const MAX_TOLD_AFTER = 8_000;
