// Apart from the schemas, which the extension loads with its first connection.

/** The most of a document that is told on either side of the cursor, in UTF-16 units; far less of it is sent to a worker. */
export const MAX_TOLD_BEFORE = 32_000;
export const MAX_TOLD_AFTER = 8_000;
