/** As tests call the parameter that ava and tape give them: `t`, and `st` and `s2t` in subtests. */
const PARAMETER = String.raw`(?:s?\d?t|tt)`;

const ASSERT = /^(?:(?:chai|t|test|ctx|context)\.)?assert(?:\.strict)?$/;
const CONTEXT = new RegExp(`^(?:${PARAMETER}|assert)$`);
const ASSERT_OF_CONTEXT = new RegExp(String.raw`^${PARAMETER}(?:\.assert)?$`);

/** Whether these are the functions of `node:assert`, or chai's `assert`. */
export const isAssert = (owner: string): boolean => ASSERT.test(owner);

/** Whether a parameter of this name may be the one by which a test of ava or tape asserts. */
export const isContextName = (name: string): boolean => CONTEXT.test(name);

/** Whether a call of a method of this may be an assertion. */
export const isAsserter = (owner: string): boolean => isAssert(owner) || ASSERT_OF_CONTEXT.test(owner);
