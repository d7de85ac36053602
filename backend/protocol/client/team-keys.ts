import path from 'node:path';
import * as z from 'zod';
import { HashedKeys } from '../../common/hashed-keys.ts';

/** The keys of members of teams that this machine coordinates. @param home Conductor's folder, absolute */
export const teamKeys = (home: string): HashedKeys => new HashedKeys(path.join(home, 'team'), { idPrefix: 'member', notes: z.object({}) });
