/** The folder in Conductor's home with the sample projects of demonstrations. */
export const DEMONSTRATION_FOLDER = 'demonstration';

const PROJECT = new RegExp(String.raw`[\\/]${DEMONSTRATION_FOLDER}[\\/]project-\w+$`);

/**
 * Whether a run is a demonstration: simulated workers fix a bug in a generated sample project. It belongs to no open folder, so every window
 * shows it.
 */
export function isDemonstration({ workspace, simulated }: { readonly workspace?: string | undefined; readonly simulated: boolean }): boolean {
  return simulated && workspace !== undefined && PROJECT.test(workspace);
}
