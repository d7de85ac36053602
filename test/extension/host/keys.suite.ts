import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'mocha';
import { openExtension } from './open-extension.ts';

const NAME = 'CONDUCTOR_TEST_KEY';

export function keysSuite(): void {
  describe('keys', () => {
    afterEach(async () => (await openExtension()).test.keys.remove(NAME));

    it('come back from the secret storage as they were stored', async () => {
      const { keys } = (await openExtension()).test;
      await keys.set(NAME, 'sk-1234 äöü "');
      assert.equal(await keys.get(NAME), 'sk-1234 äöü "');
    });

    it('are gone once they are removed', async () => {
      const { keys } = (await openExtension()).test;
      await keys.set(NAME, 'sk-1234');
      await keys.remove(NAME);
      assert.equal(await keys.get(NAME), undefined);
    });

    it('tell by name that they changed', async () => {
      const { keys } = (await openExtension()).test;
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
}
