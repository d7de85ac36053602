/** A name that is safe in any file system: the number keeps names apart that are alike. */
export function fileNameOf(name: string, index: number): string {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-+|-+$/g, '').slice(0, 60);
  return `${String(index + 1).padStart(2, '0')}-${plain || 'contestant'}`;
}
