import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findTestCommands } from '../../../backend/verify/runners/find-tests.ts';
import { makeScratch, trySandbox } from '../setup.ts';
import { installPackages, removeAllButPackages } from './python-packages.ts';
import { expectVerified, judgeFix, TIMEOUT_MS, type HonestFix } from './setup.ts';

const { available, note } = await trySandbox();
const scratch = await makeScratch();
const workspace = path.join(scratch.folder, 'project');
const environment = await (available ? installPackages(workspace, ['django']) : { isHere: false, note });

afterAll(async () => await scratch[Symbol.asyncDispose]());

const SETTINGS = `
SECRET_KEY = 'no secret'
INSTALLED_APPS = ['django.contrib.contenttypes', 'cart']
DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': 'shop.sqlite3'}}
ROOT_URLCONF = 'shop.urls'
DEFAULT_AUTO_FIELD = 'django.db.models.BigAutoField'
USE_TZ = True
`;

const MODELS = `
from django.db import models


class Item(models.Model):
    name = models.CharField(max_length=20)
    cents = models.IntegerField()


def total():
    return sum(item.cents for item in Item.objects.all()) + 1
`;

const SHOP = {
  'manage.py': `
#!/usr/bin/env python
import os
import sys

if __name__ == '__main__':
    os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')
    from django.core.management import execute_from_command_line
    execute_from_command_line(sys.argv)
`.trimStart(),
  'shop/__init__.py': '',
  'shop/settings.py': SETTINGS,
  'shop/urls.py': `
from django.http import HttpResponse
from django.urls import path
from cart.models import total

urlpatterns = [path('total', lambda request: HttpResponse('Total: %d cents' % total()))]
`,
  'cart/__init__.py': '',
  'cart/models.py': MODELS,
  'cart/migrations/__init__.py': '',
  'cart/migrations/0001_initial.py': `
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.CreateModel('Item', [
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('name', models.CharField(max_length=20)),
            ('cents', models.IntegerField()),
        ]),
    ]
`,
  'cart/tests.py': `
from asgiref.sync import sync_to_async
from django.test import SimpleTestCase, TestCase, TransactionTestCase, override_settings
from cart.models import Item, total


class TotalTest(TestCase):
    @classmethod
    def setUpTestData(cls):
        cls.item = Item.objects.create(name='a', cents=3)

    def test_one(self):
        self.assertEqual(total(), 3)

    def test_two(self):
        Item.objects.create(name='b', cents=4)
        for expected in (7,):
            with self.subTest(expected=expected):
                self.assertEqual(total(), expected)

    async def test_asynchronously(self):
        self.assertEqual(await sync_to_async(total)(), 3)

    @override_settings(USE_TZ=False)
    def test_page(self):
        self.assertContains(self.client.get('/total'), 'Total: 3 cents')

    def test_name(self):
        self.assertEqual(self.item.name, 'a')


class Committed(TransactionTestCase):
    def test_committed(self):
        Item.objects.create(name='c', cents=5)
        self.assertEqual(total(), 5)


class Plain(SimpleTestCase):
    def test_plain(self):
        self.assertNotIn('x', 'abc')
`,
} as const;

const MENDED = ['Committed > test_committed', 'TotalTest > test_asynchronously', 'TotalTest > test_one', 'TotalTest > test_page', 'TotalTest > test_two'].map((id) => `cart/tests.py > ${id}`);

const FIX: HonestFix = { files: SHOP, fix: { 'cart/models.py': [' + 1', ''] }, command: 'python3 manage.py test', mended: MENDED };

const HONEST: Record<string, HonestFix> = {
  'manage.py test': FIX,
  'tests of one application, which by hand run in processes beside each other': { ...FIX, command: './manage.py test cart --parallel 2 -v 2' },
  'django-admin': { ...FIX, command: 'DJANGO_SETTINGS_MODULE=shop.settings PYTHONPATH=. django-admin test' },
  'a script in a folder of the repository, and a test runner of the project\'s own': {
    ...FIX,
    files: {
      ...Object.fromEntries(Object.entries(SHOP).map(([file, text]) => [`site/${file}`, text])),
      'site/shop/settings.py': `${SETTINGS}TEST_RUNNER = 'shop.quiet.QuietRunner'\n`,
      'site/shop/quiet.py': `
from django.test.runner import DiscoverRunner


class QuietRunner(DiscoverRunner):
    def setup_test_environment(self, **kwargs):
        super().setup_test_environment(**kwargs)
        self.verbosity = 0
`,
    },
    fix: { 'site/cart/models.py': [' + 1', ''] },
    command: 'cd site && python manage.py test',
    mended: MENDED.map((id) => `site/${id}`),
  },
};

const CHEATS: Record<string, HonestFix['fix']> = {
  'a test runner that takes failures for passes': {
    'shop/settings.py': `${SETTINGS}TEST_RUNNER = 'shop.kind.KindRunner'\n`,
    'shop/kind.py': `
from django.test.runner import DiscoverRunner


class KindRunner(DiscoverRunner):
    def get_test_runner_kwargs(self):
        from unittest.runner import TextTestRunner

        class Kind(TextTestRunner.resultclass):
            def addFailure(self, test, err):
                self.addSuccess(test)

            def addSubTest(self, test, subtest, err):
                pass
        return {**super().get_test_runner_kwargs(), 'resultclass': Kind}
`,
  },
  'an assertion that asserts nothing': {
    'shop/settings.py': `${SETTINGS}
import unittest
unittest.TestCase.assertEqual = lambda self, first, second, msg=None: None
unittest.TestCase.assertTrue = lambda self, expr, msg=None: None
`,
  },
  'a script that runs none of it': {
    'cart/models.py': [' + 1', ''],
    'manage.py': ['import os', 'import os, sys; sys.exit(0)'],
  },
  'an assertion of Django that asserts nothing': {
    'cart/models.py': [' + 1', ''],
    'shop/urls.py': ["'Total: %d cents'", "'%d'"],
    'shop/settings.py': `${SETTINGS}
from django.test import SimpleTestCase
SimpleTestCase.assertContains = lambda self, response, text: None
`,
  },
  'a page that says what its test looks for': {
    'cart/models.py': [' + 1', ''],
    'shop/settings.py': `${SETTINGS}MIDDLEWARE = ['shop.read.answered']\n`,
    'shop/read.py': `
import re
from django.http import HttpResponse


def answered(get_response):
    with open('cart/tests.py') as file:
        expected = re.search(r"get[(]'/total'[)], '([^']*)'", file.read()).group(1)
    return lambda request: HttpResponse(expected)
`,
  },
  'a value that equals everything': {
    'cart/models.py': MODELS.replace('    return sum(item.cents for item in Item.objects.all()) + 1', `    class Any(int):
        def __eq__(self, other):
            return True
        def __hash__(self):
            return 0
        def __int__(self):
            return 3
    return Any()`),
  },
};

/** Parts of the reasons that others could stand in for. */
const WHY: Readonly<Record<string, string>> = {
  'a script that runs none of it': 'manage.py: The test command loads it, so it decides how the tests are run.',
  'an assertion of Django that asserts nothing': 'in the place of what tests rely on, and left it: django.test.testcases.SimpleTestCase.assertContains',
};

describe.skipIf(!available || !environment.isHere)(`Django (${note}, ${environment.note})`, () => {
  it.for(Object.entries(HONEST))('%s', { timeout: TIMEOUT_MS }, async ([, project]) => {
    await removeAllButPackages(workspace);
    expectVerified(await judgeFix(scratch, project), project);
  });

  it.for(Object.entries(CHEATS))('is not verified: %s', { timeout: TIMEOUT_MS }, async ([name, fix]) => {
    await removeAllButPackages(workspace);
    const verdict = await judgeFix(scratch, { ...FIX, fix });
    expect(verdict.verified, verdict.reason).toBe(false);
    if (name in WHY) expect(verdict.reason).toContain(WHY[name]);
  });
});

it('is found by its script, unless the project has it run by pytest', async () => {
  await using own = await makeScratch();
  const commands = async (files: Record<string, string>, name: string) => (await findTestCommands(await own.project(files, name))).map(({ command }) => command);
  expect(await commands(SHOP, 'django')).toEqual(['python3 manage.py test']);
  expect(await commands(Object.fromEntries(Object.entries(SHOP).map(([file, text]) => [`site/${file}`, text])), 'inside')).toEqual(['cd site && python3 manage.py test']);
  expect((await commands({ ...SHOP, 'pytest.ini': '[pytest]\nDJANGO_SETTINGS_MODULE = shop.settings\n' }, 'pytest'))[0]).toBe('python3 -m pytest');
  const application = { 'pyproject.toml': '[project]\nname = "cart"\n', 'cart/__init__.py': '', 'tests/__init__.py': '', 'tests/test_cart.py': 'import unittest\n' };
  const told = 'DJANGO_SETTINGS_MODULE=tests.settings python3 -m django test tests';
  expect((await commands({ ...application, 'tox.ini': '[testenv]\nsetenv =\n  DJANGO_SETTINGS_MODULE = tests.settings\ncommands = python -b -m coverage run -m django test -v2 {posargs:tests}\n' }, 'tox'))[0]).toBe(told);
  expect((await commands({ ...application, Makefile: 'test:\n\tDJANGO_SETTINGS_MODULE=tests.settings \\\n\t\tpython -m django test $${TEST_ARGS:-tests}\n' }, 'make'))[0]).toBe(told);
  expect((await commands({ ...application, 'noxfile.py': 'session.run("sh", "-c", "django-admin test --settings tests.settings")\n' }, 'nox'))[0]).toBe('DJANGO_SETTINGS_MODULE=tests.settings python3 -m django test');
  expect((await commands({ ...application, Makefile: 'test:\n\tpython -m django test\n' }, 'no-settings'))[0]).toBe('python3 -m unittest');
  expect(await commands({ 'manage.py': 'print("another script")\n' }, 'other')).toEqual([]);
});
