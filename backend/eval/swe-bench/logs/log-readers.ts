import { djangoLog } from './django-log.ts';
import { matplotlibLog, pytestLog, seabornLog } from './pytest-log.ts';
import { sympyLog } from './sympy-log.ts';
import type { TestLog } from './test-log.ts';

/** What reads the log of a row's tests. Without one it is pytest's. */
export const LOG_READERS = { django: djangoLog, matplotlib: matplotlibLog, pytest: pytestLog, seaborn: seabornLog, sympy: sympyLog } as const satisfies Readonly<Record<string, (log: string) => TestLog>>;
export type LogReader = keyof typeof LOG_READERS;

/** The names that swebench 5 has for readers of logs of Python projects. The many of pytest read the same summary. */
const NAMES: Readonly<Record<LogReader, readonly string[]>> = {
  django: ['django'],
  matplotlib: ['matplotlib'],
  pytest: [
    'pytest', 'pytest_v2', 'pytest_options', 'astroid', 'flask', 'marshmallow', 'pvlib', 'pyvista', 'sqlfluff', 'xarray', 'pydicom', 'requests', 'pylint', 'astropy', 'scikit', 'sphinx',
  ],
  seaborn: ['seaborn'],
  sympy: ['sympy'],
};
const BY_NAME = new Map(Object.entries(NAMES).flatMap(([reader, names]) => names.map((name) => [`parse_log_${name}`, reader as LogReader] as readonly [string, LogReader])));

/** The reader that a row's `log_parser` names; undefined for those of other languages. */
export const logReaderNamed = (parser: string): LogReader | undefined => BY_NAME.get(parser);
