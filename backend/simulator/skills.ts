import { KINDS, type Kind } from './families/family.ts';
import { ROLES, type Role } from './roles.ts';

/** A worker's hidden skill, 0 to 1, by kind and role. */
export type Skills = Readonly<Record<Kind, Readonly<Record<Role, number>>>>;

/** Skill in planning, writing and checking, in this order. */
export type SkillRow = readonly [plan: number, write: number, check: number];

/** The same skill for every kind, except the named kinds. */
export function skillsOf(usual: SkillRow, special: Partial<Record<Kind, SkillRow>> = {}): Skills {
  const entries = KINDS.map((kind) => {
    const row = special[kind] ?? usual;
    return [kind, Object.fromEntries(ROLES.map((role, index) => [role, row[index]]))];
  });
  return Object.fromEntries(entries) as Skills;
}
