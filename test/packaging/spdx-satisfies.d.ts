// For packaging/notices.ts. It stands here because tsconfig.json includes the tests, and what they import.
declare module 'spdx-satisfies' {
  /** Whether an SPDX expression can be met with the licences of the list. @throws Error when it is none. */
  function satisfies(expression: string, approved: readonly string[]): boolean;
  export = satisfies;
}
