/** Texts that are put together from ours and those of others, which may end with a full stop already. */

/** Makes two full stops at the end of a sentence one. Paths (`..`) and ellipses stay. */
export function withSingleStops(text: string): string {
  return text.replace(/(?<=[\p{L}\p{N})"'`’”])\.\.(?=\s|$)/gu, '.');
}
