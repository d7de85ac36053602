// Apart from the schemas, which the extension loads with its first connection.

/** People are told of a limit when so many hundredths of it are spent, unless workers.json says otherwise. */
export const DEFAULT_WARN_AT_PERCENT = 80;
