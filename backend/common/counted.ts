/** A number with its noun: `1 test`, `2 tests`, `1,200 tests`. @param many the plural if it is irregular */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}
