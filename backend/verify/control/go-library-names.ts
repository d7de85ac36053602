/** Libraries of assertions other than testify and those that are called like it, by a part of their import path. */
const LIBRARIES = { 'frankban/quicktest': 'quicktest', 'go-quicktest/qt': 'quicktest', 'gotest.tools/': 'gotest.tools', 'matryer/is': 'is' } as const;

export type GoLibrary = (typeof LIBRARIES)[keyof typeof LIBRARIES];

export const librariesIn = (text: string): ReadonlySet<GoLibrary> =>
  new Set(Object.entries(LIBRARIES).flatMap(([path, name]) => (text.includes(`"github.com/${path}`) || text.includes(`"${path}`) ? [name] : [])));
