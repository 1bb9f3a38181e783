/** Splits a name into words. Used by suggestions, warnings and searches. `fold.ts` decides which names are equal. */

/** `getHTTPPage_v2` → `get HTTP Page_v2`: inserts a space before each word that starts only with a capital. */
export function spaceWords(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/([A-Z])([A-Z][a-z])/g, '$1 $2');
}
