/** The first three names, and how many there are besides. */
export function listed(names: readonly string[]): string {
  const shownNames = names.slice(0, 3).join(', ');
  return names.length > 3 ? `${shownNames} and ${names.length - 3} more` : shownNames;
}
