/// <reference types="mocha" />
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { ConductorApi, TestParts } from '../../../extension/extension.ts';

const NAME = 'CONDUCTOR_TEST_KEY';

describe('keys', () => {
  afterEach(async () => (await testParts()).keys.remove(NAME));

  it('come back from the secret storage as they were stored', async () => {
    const { keys } = await testParts();
    await keys.set(NAME, 'sk-1234 äöü "');
    assert.equal(await keys.get(NAME), 'sk-1234 äöü "');
  });

  it('are gone once they are removed', async () => {
    const { keys } = await testParts();
    await keys.set(NAME, 'sk-1234');
    await keys.remove(NAME);
    assert.equal(await keys.get(NAME), undefined);
  });

  it('tell by name that they changed', async () => {
    const { keys } = await testParts();
    const changed = new Promise<string>((resolve) => {
      const end = keys.changed.on((name) => {
        end();
        resolve(name);
      });
    });
    await keys.set(NAME, 'sk-5678');
    assert.equal(await changed, NAME);
  });
});

/** What only an extension that is being tested hands out. */
async function testParts(): Promise<TestParts> {
  const extension = vscode.extensions.getExtension<ConductorApi>('conductor.conductor');
  assert.ok(extension, 'VS Code has loaded the extension');
  const { test } = await extension.activate();
  assert.ok(test, 'the extension knows that it is being tested');
  return test;
}
