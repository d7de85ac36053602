/* The lines around a change of the form "search and replace", with the marks and words that models use for them. */

export const SEARCH_MARK = /^\s*(?:<{5,9}|-{5,9})\s*(?:SEARCH|ORIGINAL|OLD|BEFORE|CURRENT|HEAD)\b.*$/;
export const DIVIDER_MARK = /^\s*={5,9}\s*$/;
export const REPLACE_MARK = /^\s*(?:>{5,9}\s*\S.*|\+{5,9}\s*(?:REPLACE|UPDATED|NEW|AFTER)\b.*)$/;
