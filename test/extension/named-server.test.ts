import { describe, expect, it } from 'vitest';
import * as l10n from '@vscode/l10n';
import { workerConfigSchema, type WorkerConfig } from '../../backend/protocol/worker-config.ts';
import { addressOf, addressProblem, freeKeyName, keyNameOf, modelProblem, serversOf } from '../../extension/workers/named-server.ts';

describe('the address of a server', () => {
  it.each([
    ['https://api.acme.com/v1', 'https://api.acme.com/v1'],
    [' https://api.acme.com/v1/chat/completions ', 'https://api.acme.com/v1'],
    ['https://api.acme.com/v1/models/', 'https://api.acme.com/v1'],
    ['api.acme.com', 'https://api.acme.com'],
    ['localhost:8080/v1', 'http://localhost:8080/v1'],
    ['127.0.0.1:8080', 'http://127.0.0.1:8080'],
  ])('%j is meant as %s', (typed, address) => {
    expect(addressOf(typed)).toBe(address);
    expect(addressProblem(typed, l10n)).toBeUndefined();
  });

  it.each([
    ['', 'Enter the address'],
    ['not an address', 'not a server address'],
    ['ftp://acme.com', 'not a server address'],
    ['http://api.acme.com/v1', 'https://'],
    ['https://me:secret@acme.com', 'user name'],
  ])('%j is refused in words', (typed, words) => {
    expect(addressProblem(typed, l10n)).toContain(words);
  });
});

describe('the name of a model', () => {
  it('is not empty, and no key', () => {
    expect(modelProblem('', l10n)).toBe('Enter the model’s name on the server.');
    expect(modelProblem('sk-proj-0123456789abcdefghij', l10n)).toContain('looks like a key');
    expect(modelProblem('x'.repeat(2_000), l10n)).toContain('too long');
    expect(modelProblem('qwen/qwen3-coder:free', l10n)).toBeUndefined();
  });
});

describe('the name of a key', () => {
  it.each([
    ['https://api.acme.com/v1', 'ACME_KEY'],
    ['https://acme.co.uk', 'ACME_KEY'],
    ['https://my-models.example.org:8443/v1', 'EXAMPLE_KEY'],
    ['https://gpu-box/v1', 'GPU_BOX_KEY'],
    ['https://1min.ai', 'SERVER_1MIN_KEY'],
    ['https://10.0.0.7/v1', 'SERVER_KEY'],
    ['http://127.0.0.1:8080/v1', 'LOCAL_SERVER_KEY'],
  ])('of %s is %s', (address, name) => {
    expect(keyNameOf(address)).toBe(name);
    expect(workerConfigSchema.shape.key.safeParse(name).success).toBe(true);
  });

  const kept = (stored: Record<string, string>, ...taken: string[]) =>
    ({ stored: (name: string) => Promise.resolve(stored[name]), isTaken: (name: string) => taken.includes(name) });

  it('gets a number where another key or another server’s worker has it, and stays with the same key', async () => {
    expect(await freeKeyName('ACME_KEY', 'a', kept({}))).toBe('ACME_KEY');
    expect(await freeKeyName('ACME_KEY', 'a', kept({ ACME_KEY: 'a' }, 'ACME_KEY'))).toBe('ACME_KEY');
    expect(await freeKeyName('ACME_KEY', 'a', kept({ ACME_KEY: 'b' }))).toBe('ACME_KEY_2');
    expect(await freeKeyName('ACME_KEY', 'a', kept({ ACME_KEY_2: 'b' }, 'ACME_KEY'))).toBe('ACME_KEY_3');
  });
});

describe('the servers of a pool', () => {
  const worker = (fields: Partial<WorkerConfig>) => ({
    worker: workerConfigSchema.parse({ id: 'w', provider: 'openai-compatible', model: 'm', baseUrl: 'https://api.acme.com/v1', ...fields }),
    ready: true, priced: false,
  });

  it('are each named once, with their key, and models of VS Code and simulated ones are of none', () => {
    expect(serversOf({ workers: [
      worker({ key: 'ACME_KEY' }), worker({ key: 'ACME_KEY', model: 'n' }), worker({ provider: 'openai', baseUrl: undefined, key: 'OPENAI_API_KEY' }),
      worker({ provider: 'vscode', baseUrl: undefined }), worker({ simulated: true, baseUrl: 'https://sim.example/v1' }),
    ] })).toEqual([
      { label: 'api.acme.com', provider: 'openai-compatible', baseUrl: 'https://api.acme.com/v1', key: 'ACME_KEY', example: 'n', workers: 2 },
      { label: 'OpenAI', provider: 'openai', key: 'OPENAI_API_KEY', example: 'm', workers: 1 },
    ]);
  });
});
