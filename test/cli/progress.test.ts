import { expect, it } from 'vitest';
import { downloadProgress } from '../../backend/cli/download-text.ts';
import { ProgressPrinter } from '../../backend/cli/progress-printer.ts';
import { StatusLine } from '../../backend/cli/status-line.ts';
import type { Terminal } from '../../backend/cli/terminal.ts';

function terminalOf(status?: (text: string) => void) {
  const said: string[] = [];
  const style: Terminal['style'] = (_format, text) => text;
  const terminal: Terminal = { result: () => {}, write: () => {}, say: (text) => void said.push(text), style, resultStyle: style, status };
  return { said, terminal };
}

it('rewrites one line on a terminal, and takes it away at the end', () => {
  const shown: string[] = [];
  const { said, terminal } = terminalOf((text) => void shown.push(text));
  const progress = new ProgressPrinter(terminal);
  progress.tell({ label: 'Loading' });
  progress.tell({ label: 'Fetching \u001b[2Jmodel', fraction: 0.005 });
  progress.tell({ label: 'Fetching', fraction: 0.999, detail: '1 MB' });
  progress.end();
  expect(shown).toEqual(['Loading …', 'Fetching [2Jmodel: 0 %', 'Fetching: 99 %, 1 MB', '']);
  expect(said).toEqual([]);
});

it('writes a line into a log when something begins, and then every ten seconds', () => {
  const { said, terminal } = terminalOf();
  let nowMs = 5_000;
  const progress = new ProgressPrinter(terminal, () => nowMs);
  for (let percent = 0; percent <= 100; percent += 1) {
    progress.tell({ label: 'Fetching', fraction: percent / 100 });
    nowMs += 250;
  }
  progress.tell({ label: 'Loading' });
  progress.end();
  expect(said).toEqual(['Fetching: 0 %', 'Fetching: 40 %', 'Fetching: 80 %', 'Loading …']);
});

it.each([
  [{ receivedBytes: 0, totalBytes: 2e9, bytesPerSecond: 0 }, '0 kB of 2.0 GB'],
  [{ receivedBytes: 5e8, totalBytes: 2e9, bytesPerSecond: 1e7 }, '500 MB of 2.0 GB, 10 MB/s, 2 min 30 s left'],
  [{ receivedBytes: 2e9, totalBytes: 2e9, bytesPerSecond: 1e7 }, '2.0 GB of 2.0 GB, 10 MB/s'],
])('says of a download of %j how far it is', (progress, detail) => {
  expect(downloadProgress('Fetching', progress)).toEqual({ label: 'Fetching', fraction: progress.receivedBytes / progress.totalBytes, detail });
});

it('cuts the line to the terminal, and clears it only where it stands', () => {
  const written: string[] = [];
  const stream = { columns: 10, write: (text: string) => { written.push(text); return true; } } as unknown as NodeJS.WriteStream;
  const line = new StatusLine(stream);
  line.clear();
  line.show('0123456789abc');
  line.show('short');
  line.clear();
  line.clear();
  expect(written).toEqual(['012345678', '\r\u001b[2K', 'short', '\r\u001b[2K']);
});
