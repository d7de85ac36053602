/** The name under which VS Code lists Conductor's models, and those of its workers. */
export const VENDOR = 'conductor';
