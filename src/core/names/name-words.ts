/** Splits a name into words. Used by suggestions, warnings and searches. `fold.ts` decides which names are equal. */
import { limits } from '../limits/limits.ts';

/** `getHTTPPage_v2` → `get HTTP Page_v2`: inserts a space before each word that starts only with a capital. */
export function spaceWords(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/([A-Z])([A-Z][a-z])/g, '$1 $2');
}

/** `create_mindmap` and `createMindmap` → `mindmap`; null: the name does not begin with one of the verbs. */
export function withoutVerb(name: string): string | null {
  const [verb = '', ...rest] = spaceWords(name.slice(0, limits.maxToolNameLength)).split(/[-_ .]+/);
  return rest.length > 0 && verbs.has(verb.toLowerCase()) ? rest.join('_') : null;
}

export function isVerb(word: string): boolean {
  return verbs.has(word);
}

/** Verbs that say little about a tool. Verbs such as delete, write and send are not ignored: a list must name these. */
const verbs: ReadonlySet<string> = new Set(
  'create do fetch find generate get lookup make open perform read run search show start use view'.split(' '),
);
