import { afterEach, expect, it } from 'vitest';
import { FORMATS, post } from './formats.ts';
import { served } from './served.ts';

/* What an answer says of simulated workers, in all formats alike. */

const place = served();

afterEach(() => { simulate(); });
/** @param ids of the workers that are simulated */
function simulate(...ids: readonly string[]): void {
  place.file = { ...place.file, workers: place.file.workers.map((worker) => ({ ...worker, simulated: ids.includes(worker.id) })) };
}

const FINGERPRINT = '"system_fingerprint":"conductor-simulated"';

it.each(FORMATS)('says in $name that a worker of it is simulated, streamed or not, and nothing of real ones', async ({ name, path, ask }) => {
  for (const stream of [false, true]) {
    const more = { stream, ...(stream && name === 'Chat Completions' && { stream_options: { include_usage: true } }) };
    const told = async (model: string): Promise<string> => await (await post(place, path, ask(`Mend ${model} ${String(stream)} ${place.file.workers.filter(({ simulated }) => simulated).length}`, { model, ...more }))).text();
    const answers = async (): Promise<string[]> => [await told('first'), await told('second'), await told('conductor')];
    simulate();
    for (const text of await answers()) expect(text).not.toMatch(/"simulated"|system_fingerprint/);
    simulate('first');
    const [first, second, planned] = await answers();
    for (const text of [first, planned]) expect([text?.split('"simulated":true').length, text?.split(FINGERPRINT).length]).toEqual([2, name === 'Chat Completions' ? 2 : 1]);
    expect(second).not.toMatch(/"simulated"|system_fingerprint/);
  }
});
