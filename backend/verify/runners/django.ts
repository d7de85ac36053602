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

/** The command of a project with Django's script. */
export async function djangoCommand(folder: ProjectFolder): Promise<string | undefined> {
  return /\bdjango\b/.test((await folder.text(MANAGE)) ?? '') ? `python3 ${MANAGE} test` : undefined;
}
