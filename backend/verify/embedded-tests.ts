/** The tests that are written into a source file (text), each in a form in which spaces do not count. */
export function embeddedTests(text: string, path: string): Promise<readonly string[]> {
  void [text, path];
  return Promise.resolve([]);
}

/** Whether a test that is written into a source file is missing or changed after an edit. */
export function weakensEmbeddedTests(path: string, before: string, after: string): Promise<boolean> {
  void [path, before, after];
  return Promise.resolve(false);
}
