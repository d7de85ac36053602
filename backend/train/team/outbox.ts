import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile } from '../../common/replace-file.ts';
import { type GivenGroup, givenGroupSchema } from './team-messages.ts';

const NAME = /^(\d+)\.(\d+)\.json$/;

/**
 * The groups that this machine has judged, as they leave it, in a folder (absolute): whoever wants to know what left finds it here. They stay until they are too old
 * to be handed in again. Each file is written whole or not at all.
 */
export class Outbox {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async keep(groups: readonly GivenGroup[]): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for (const group of groups) await replaceFile(path.join(this.#folder, `${group.step}.${group.place}.json`), JSON.stringify(group));
  }

  /** The last step for which all groups are there; -1 without one. Those of a step that was cut off are judged again. */
  async last(): Promise<number> {
    const steps = new Set((await this.#names(() => true)).map(stepOf));
    for (const step of [...steps].sort((one, other) => other - one)) if (await this.of(step)) return step;
    return -1;
  }

  /** The groups for a step, if all are there. */
  async of(step: number): Promise<readonly GivenGroup[] | undefined> {
    const groups: GivenGroup[] = [];
    for (const name of await this.#names((one) => one === step)) groups.push(groupIn(await readFile(path.join(this.#folder, name), 'utf8')));
    return groups.length > 0 && groups.length === groups[0]?.of ? groups.sort((a, b) => a.place - b.place) : undefined;
  }

  /** Removes those for steps before this one. */
  async forgetBefore(step: number): Promise<void> {
    for (const name of await this.#names((one) => one < step)) await rm(path.join(this.#folder, name), { force: true });
  }

  async #names(isWanted: (step: number) => boolean): Promise<string[]> {
    const names = await readdir(this.#folder).catch(() => []);
    return names.filter((name) => NAME.test(name) && isWanted(stepOf(name)));
  }
}

/** Before there were versions apart from steps, both were the same. */
const groupIn = (text: string): GivenGroup => {
  const group = JSON.parse(text) as { readonly step?: unknown };
  return givenGroupSchema.parse({ version: group.step, ...group });
};

const stepOf = (name: string): number => Number(NAME.exec(name)?.[1]);
