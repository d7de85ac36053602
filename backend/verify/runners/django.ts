import type { ProjectFolder } from './project-folder.ts';
import { simpleCommands, type Edit } from './shell-words.ts';

/*
 * Django runs tests by unittest, from a script of the project or from a program of its own: `python manage.py test`, `./manage.py test`,
 * `python -m django test`, `django-admin test` (Django, "Testing in Django"). `conductor_unittest` starts these so that unittest reports.
 */

const MANAGE = 'manage.py';
const PYTHON = /^(?:python[\d.]*|py)$/;

const baseName = (word: string): string => word.split('/').at(-1) ?? '';

/** What has a command start Django's tests by our module; none where it starts none. */
export function djangoEdits(command: string): readonly Edit[] {
  return simpleCommands(command).flatMap(({ words }): readonly Edit[] => {
    const at = words.findIndex(({ text }) => ['django', 'django-admin', MANAGE].includes(baseName(text)));
    const [word, before, verb] = [words[at], words[at - 1]?.text, words.slice(at + 1).find(({ text }) => !text.startsWith('-'))];
    if (word === undefined || verb?.text !== 'test') return [];
    const { text, start, end } = word;
    if (before === '-m') return text === 'django' ? [{ start, end, text: 'conductor_unittest --module django' }] : [];
    const isOfPython = words.slice(0, at).some((one) => PYTHON.test(baseName(one.text)));
    const starter = `${isOfPython ? '' : 'python3 '}-m conductor_unittest`;
    if (baseName(text) === MANAGE) return [{ start, end: start, text: `${starter} --script ` }];
    return text === 'django-admin' && !isOfPython ? [{ start, end, text: `${starter} --module django` }] : [];
  });
}

/** Files in which an application without a script of its own says how it is tested. */
const SAYS_HOW = ['tox.ini', 'Makefile', 'pyproject.toml', 'noxfile.py', 'setup.cfg'];
/** The words after `test`: the first that is no option, or the default of a variable of tox, make or a shell. */
const STARTS = /(?:-m django|django-admin) test\b(?:[ \t]+(?:--settings[= ]\S+|-\S+))*(?:[ \t]+(?:\{posargs:|\$*\{\w+:-)?(\w[\w./]*))?/;
const SETTINGS = /DJANGO_SETTINGS_MODULE["']?\s*[=:]\s*["']?(\w[\w.]*)|--settings[= ](\w[\w.]*)/;

/** How Django starts the tests of a folder: by the script of a project, or as an application says. */
export async function djangoCommand(folder: ProjectFolder): Promise<string | undefined> {
  if (/\bdjango\b/.test((await folder.text(MANAGE)) ?? '')) return `python3 ${MANAGE} test`;
  for (const file of SAYS_HOW) {
    const text = (await folder.text(file)) ?? '';
    const [started, label] = STARTS.exec(text) ?? [];
    const settings = SETTINGS.exec(text)?.slice(1).find((found) => found !== undefined);
    if (started !== undefined && settings !== undefined) return `DJANGO_SETTINGS_MODULE=${settings} python3 -m django test${label === undefined ? '' : ` ${label}`}`;
  }
  return undefined;
}
