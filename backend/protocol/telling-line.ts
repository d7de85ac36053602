/** The line of a test's message that says most: the error that ends a traceback of Python, and otherwise the first. */
export function tellingLine(message: string): string {
  const lines = message.split('\n').map((line) => line.trim()).filter((line) => line !== '');
  return (message.includes('Traceback (most recent call last):') ? lines.at(-1) : lines[0]) ?? '';
}
