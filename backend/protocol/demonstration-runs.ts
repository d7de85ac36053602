/** Where Conductor's home holds the sample projects of demonstrations. */
export const DEMONSTRATION_FOLDER = 'demonstration';

const PROJECT = new RegExp(String.raw`[\\/]${DEMONSTRATION_FOLDER}[\\/]project-\w+$`);

/**
 * Whether a run is a demonstration: simulated workers mend a sample project of Conductor's own. It belongs to no folder that a person has
 * open, so every window shows it.
 */
export function isDemonstration({ workspace, simulated }: { readonly workspace?: string | undefined; readonly simulated: boolean }): boolean {
  return simulated && workspace !== undefined && PROJECT.test(workspace);
}
