/** Numbers, of which the smallest comes out first. */
export class NumberHeap {
  readonly #numbers: number[] = [];

  push(number: number): void {
    const numbers = this.#numbers;
    let at = numbers.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (numbers[parent]! <= number) break;
      numbers[at] = numbers[parent]!;
      at = parent;
    }
    numbers[at] = number;
  }

  pop(): number | undefined {
    const numbers = this.#numbers;
    const [smallest] = numbers;
    const last = numbers.pop();
    if (last === undefined || numbers.length === 0) return smallest;
    let at = 0;
    for (let child = 1; child < numbers.length; child = 2 * at + 1) {
      if (child + 1 < numbers.length && numbers[child + 1]! < numbers[child]!) child += 1;
      if (numbers[child]! >= last) break;
      numbers[at] = numbers[child]!;
      at = child;
    }
    numbers[at] = last;
    return smallest;
  }
}
