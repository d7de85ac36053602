type Triangle = readonly (readonly number[])[];

/** L of LLᵀ = A, both as lower triangles. @param matrix positive definite */
export function cholesky(matrix: Triangle): number[][] {
  const factor: number[][] = [];
  for (const [index, row] of matrix.entries()) {
    const own: number[] = [];
    factor.push(own);
    for (const [column, value] of row.entries()) {
      let rest = value;
      const other = factor[column]!;
      for (let k = 0; k < column; k += 1) rest -= own[k]! * other[k]!;
      own.push(column === index ? Math.sqrt(rest) : rest / other[column]!);
    }
  }
  return factor;
}

/** x of LLᵀx = b. */
export function solved(factor: Triangle, b: readonly number[]): number[] {
  const x = [...b];
  for (const [row, values] of factor.entries()) {
    for (let k = 0; k < row; k += 1) x[row]! -= values[k]! * x[k]!;
    x[row]! /= values[row]!;
  }
  return solvedTransposed(factor, x);
}

/** x of Lᵀx = b. */
export function solvedTransposed(factor: Triangle, b: readonly number[]): number[] {
  const x = [...b];
  for (let row = x.length - 1; row >= 0; row -= 1) {
    x[row]! /= factor[row]![row]!;
    for (let k = 0; k < row; k += 1) x[k]! -= factor[row]![k]! * x[row]!;
  }
  return x;
}
