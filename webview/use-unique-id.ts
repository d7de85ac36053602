import { useState } from 'preact/hooks';

let made = 0;

/** An id for elements of this component that no other one has. Preact's `useId` gives one twice if the page is drawn anew between two components. */
export function useUniqueId(): string {
  return useState(() => `id-${(made += 1)}`)[0];
}
