/** Where the words of a name begin, as its letters tell: what suggestions, advice, findings and searches look for in names. Equal names are `fold.ts`. */

/** `getHTTPPage_v2` → `get HTTP Page_v2`: a space before each word that only its capital sets apart. */
export function spaceWords(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/([A-Z])([A-Z][a-z])/g, '$1 $2');
}
