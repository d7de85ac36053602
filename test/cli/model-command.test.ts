import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { adapterFolder, modelFolder } from '../golden/golden.ts';
import { FakeHub, type FakeFile, type Faults } from '../lm/hub/fake-hub.ts';
import { conductorCommand, NO_STACK } from './run-conductor.ts';

const { places, start, run } = conductorCommand();
const WEIGHTS = 'storage:model.safetensors';

/** A hub with a tiny model in it, as `HF_ENDPOINT` names one. */
async function tinyHub(faults: Faults = {}) {
  const folder = modelFolder('qwen2-tiny');
  const files = await Promise.all((await readdir(folder)).toSorted().map(async (name): Promise<FakeFile> => ({
    name, content: await readFile(path.join(folder, name)), isLarge: name.endsWith('.safetensors'),
  })));
  const hub = await FakeHub.start(files, faults);
  return { hub, environment: { HF_ENDPOINT: hub.url }, [Symbol.asyncDispose]: () => hub[Symbol.asyncDispose]() };
}

const rangesOf = (hub: FakeHub): (string | undefined)[] => hub.stored.map(({ range }) => range);

describe('conductor model pull', () => {
  it('fetches a model, prints its folder, and the model is known by its name from then on', async () => {
    await using it = await tinyHub();
    const { repo, commit } = it.hub;
    const folder = path.join(places.home, 'models', 'acme--small-model', commit);
    const pulled = await run(['model', 'pull', repo], { environment: it.environment });
    expect(pulled).toMatchObject({ code: 0, stdout: `${folder}\n` });
    expect(pulled.stderr).toContain(`Fetching ${repo}: 0 %`);
    expect(pulled.stderr).toContain(commit);

    const asked = it.hub.asked.length;
    const again = await run(['model', 'pull', repo, '--revision', commit, '--json'], { environment: it.environment });
    expect(JSON.parse(again.stdout)).toEqual({ repo, commit, folder, sizeBytes: expect.any(Number) });
    expect(it.hub.asked).toHaveLength(asked);

    const { stdout } = await run(['model', 'list', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ storage: places.home, pulled: [{ repo, commit, folder }] });
    expect((await run(['model'])).stdout).toMatch(new RegExp(`${repo} +${commit.slice(0, 8)} .*${folder}\n`));
    const input = '{"sequences": [[1, 2, 3]], "prompt_lengths": [1]}';
    const scored = await run(['logprobs', '--model', repo, '--device', 'cpu', '--input', '-'], { input });
    expect(scored).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\{"completion_logprobs":\[\[-[^,]+,-[^,]+\]\]\}\n$/) });
    // The backend wants a home that is its owner's alone.
    expect((await stat(places.home)).mode & 0o077).toBe(0);
  });

  it('goes on by itself after a cut connection', async () => {
    await using it = await tinyHub({ [WEIGHTS]: [{ cutAfterBytes: 200_000 }] });
    const { code } = await run(['model', 'pull', it.hub.repo, '--storage', 'cut'], { environment: it.environment });
    expect(code).toBe(0);
    // What was on its way when the connection was cut may be lost.
    expect(rangesOf(it.hub)).toEqual([undefined, expect.stringMatching(/^bytes=[1-9]\d*-$/)]);
  });

  it('keeps what it has at Ctrl+C, says so, and goes on from there the next time', async () => {
    await using it = await tinyHub({ [WEIGHTS]: [{ silentAfterBytes: 150_000 }] });
    const args = ['model', 'pull', it.hub.repo, '--storage', 'stopped'];
    const { child, result } = start(args, { environment: it.environment });
    const models = path.join(places.folder, 'stopped', 'models', 'acme--small-model');
    await vi.waitFor(async () => expect((await stat(path.join(models, '.part', 'model.safetensors.part'))).size).toBe(150_000), { timeout: 20_000 });
    child.kill('SIGINT');
    const stopped = await result;
    expect(stopped).toMatchObject({ code: 130, stdout: '' });
    expect(stopped.stderr).toContain('the same command goes on from there');
    expect((await run(['model', 'list', '--storage', 'stopped', '--json'])).stdout).toContain('"pulled": []');

    expect(await run(args, { environment: it.environment })).toMatchObject({ code: 0, stdout: `${path.join(models, it.hub.commit)}\n` });
    expect(rangesOf(it.hub)).toEqual([undefined, 'bytes=150000-']);
  }, 60_000);

  it('gives the hub the token that the environment holds, and tells it to nobody else', async () => {
    await using it = await tinyHub();
    it.hub.token = 'hf_secret';
    const args = ['model', 'pull', it.hub.repo, '--storage', 'gated'];
    const refused = await run(args, { environment: it.environment });
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/accept its terms/) });
    const { code, stdout, stderr } = await run(args, { environment: { ...it.environment, HF_TOKEN: 'hf_secret' } });
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain('hf_secret');
    expect(new Set(it.hub.stored.map(({ authorization }) => authorization))).toEqual(new Set([undefined]));
  });

  it('without a name says which one suits this machine, and fetches nothing without consent', async () => {
    await using it = await tinyHub();
    const { code, stdout, stderr } = await run(['model', 'pull'], { environment: it.environment });
    expect(stderr).toMatch(/is the largest that fits.*\nTo fetch it: conductor model pull Qwen\/\S+\n$/);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(it.hub.asked).toEqual([]);
  });
});

describe('conductor model inspect', () => {
  const model = modelFolder('qwen2-tiny');

  it('prints what a model is, what it takes in each precision, and which adapters fit it', async () => {
    const adapters = path.dirname(adapterFolder('qwen2-tiny-all'));
    const { code, stdout } = await run(['model', 'inspect', model, '--adapter', adapters, '--adapter', adapterFolder('qwen2-tiny-attention')]);
    expect(code).toBe(0);
    expect(stdout).toContain(`${model}\nModel:     qwen2, 183,104 parameters\nWeights:   bfloat16, 367 kB in 1 file, embeddings tied\n`);
    expect(stdout).toMatch(/Tokenizer: with a chat template\n/);
    expect(stdout).toMatch(/Memory: +precision +cpu +cuda +webgpu\n +full +\d+ MB +\d+ MB +\d+ MB\n +8-bit +\d+ MB +\d+ MB +\d+ MB\n +4-bit +\d+ MB +\d+ MB +\d+ MB\n/);
    expect(stdout).toContain('Adapter:   qwen2-tiny-all: fits; rank 4, scaling 2, q_proj k_proj v_proj');
    expect(stdout).toMatch(/Adapter: {3}qwen3-tiny-all: .*was trained for this model\.\n/);
    expect(stdout.match(/qwen2-tiny-attention/g)).toHaveLength(2);
  });

  it('prints the same as JSON, in bytes', async () => {
    const { stdout } = await run(['model', 'inspect', modelFolder('qwen2-tiny-untied'), '--json', '--adapter', adapterFolder('qwen2-tiny-all')]);
    const printed = JSON.parse(stdout) as { memory: { precision: string; device: string; totalBytes: number }[] };
    expect(printed).toMatchObject({
      architecture: 'qwen2', types: ['float32'], shards: 5, tiedEmbeddings: false, layers: 2, contextLength: expect.any(Number),
      tokenizer: { usable: false, problem: expect.stringContaining('only token ids') },
      adapters: [{ name: 'qwen2-tiny-all', compatible: false, problem: expect.any(String) }],
    });
    expect(printed.memory.map(({ precision, device }) => `${precision} ${device}`)).toEqual([
      'full cpu', 'full cuda', 'full webgpu', '8-bit cpu', '8-bit cuda', '8-bit webgpu', '4-bit cpu', '4-bit cuda', '4-bit webgpu',
    ]);
    for (const { totalBytes } of printed.memory) expect(totalBytes).toBeGreaterThan(100_000);
  });
});

describe('what is wrong is said in one sentence', () => {
  it.each([
    ['no such action', ['train'], 2, /There is no "model train"; there are list, inspect, pull, choose\./],
    ['an action that only JavaScript knows', ['toString'], 2, /toString/],
    ['an option of another action', ['list', '--revision', 'x'], 2, /"model list" has no option --revision\./],
    ['a list of one', ['list', 'acme/small-model'], 2, /"model list" takes no model\./],
    ['two models', ['inspect', 'a', 'b'], 2, /left over: b/],
    ['no model to inspect', ['inspect'], 2, /conductor model inspect DIR/],
    ['a folder that is not there', ['inspect', 'nowhere'], 1, /There is no model nowhere on this machine, and no folder .*nowhere:/],
    ['a folder that is no model', ['inspect', '.'], 1, /config\.json/],
    ['adapters that are not there', ['inspect', modelFolder('qwen2-tiny'), '--adapter', 'nowhere'], 1, /nowhere/],
    ['a name that no model has', ['pull', 'a/b/c'], 1, /owner\/name/],
    ['a revision that is none', ['pull', 'a/b', '--revision', '../c'], 1, /revision/],
  ])('%s', async (_name, args, expected, says) => {
    const { code, stdout, stderr } = await run(['model', ...args]);
    expect(stderr).toMatch(says);
    expect(stderr).not.toMatch(NO_STACK);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect({ code, stdout }).toEqual({ code: expected, stdout: '' });
  });

  it('a home that is open to others and holds other things is refused before a download', async () => {
    await using it = await tinyHub();
    const open = path.join(places.folder, 'open');
    await mkdir(open);
    await writeFile(path.join(open, 'notes.txt'), 'somebody else\'s');
    await chmod(open, 0o777);
    const { code, stderr } = await run(['model', 'pull', it.hub.repo], { environment: { ...it.environment, CONDUCTOR_HOME: open } });
    expect(stderr).toMatch(/set CONDUCTOR_HOME to a folder of its own/);
    expect(code).toBe(1);
    expect(it.hub.asked).toEqual([]);
  });
});
