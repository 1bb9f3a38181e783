/** Comparing secret text. Below everything that holds a secret: keys, sealed values, signatures. */

/** Compares texts of equal length without telling where they differ. Different lengths are told. */
export function equalInConstantTime(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let index = 0; index < a.length; index++) difference |= a.charCodeAt(index) ^ b.charCodeAt(index);
  return difference === 0;
}
