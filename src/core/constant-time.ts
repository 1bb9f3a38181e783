/** Comparison of secret text. Used for keys, sealed values and signatures. */

/** Compares texts of equal length in constant time. A difference in length is not hidden. */
export function equalInConstantTime(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let index = 0; index < a.length; index++) difference |= a.charCodeAt(index) ^ b.charCodeAt(index);
  return difference === 0;
}
