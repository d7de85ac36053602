import { DATA_GENERATORS } from './data.ts';
import type { GymGenerator } from './generator.ts';
import { INTERVAL_GENERATORS } from './intervals.ts';
import { MACHINE_GENERATORS } from './machines.ts';
import { NUMBER_GENERATORS } from './numbers.ts';
import { PARSING_GENERATORS } from './parsing.ts';
import { STRING_GENERATORS } from './strings.ts';

export const GYM_GENERATORS: readonly GymGenerator[] = [
  ...STRING_GENERATORS, ...NUMBER_GENERATORS, ...PARSING_GENERATORS, ...INTERVAL_GENERATORS, ...DATA_GENERATORS,
    ...MACHINE_GENERATORS,
];
