import { expect, it } from 'vitest';
import { ModelList } from '../../backend/serve/model-list.ts';

it('says of simulated workers, and of the Conductor with them, that they are simulated', () => {
  const owners = (list: ModelList): unknown[] => (list.openAi as { data: { owned_by: string }[] }).data.map(({ owned_by }) => owned_by);
  const shown = (list: ModelList): unknown[] => (list.anthropic as { data: { display_name: string }[] }).data.map(({ display_name }) => display_name);
  const real = new ModelList([{ id: 'mine', simulated: false }]);
  expect([owners(real), shown(real)]).toEqual([['conductor', 'conductor'], ['Conductor', 'mine (Conductor)']]);
  const both = new ModelList([{ id: 'mine', simulated: false }, { id: 'sim', simulated: true }]);
  expect(owners(both)).toEqual(['conductor (simulated)', 'conductor', 'conductor (simulated)']);
  expect(shown(both)).toEqual(['Conductor (simulated)', 'mine (Conductor)', 'sim (Conductor, simulated)']);
});
