/** Finds members that an object of a JSON text has twice, of which parsers silently take the last one. Linear, without recursion. */
import { stringEnd } from './json-text.ts';
import { issuePath } from '../problem.ts';
import { tryParse } from './wire-value.ts';

/** `keys`: of an object; null: an array. `place`: the member or the index that is being read. */
type Frame = { keys: Set<string> | null; place: string | number };

/** Returns the paths of repeated members, at most `most`, of objects at most `depth` levels deep. The text may be damaged JSON. */
export function repeatedMembers(text: string, most: number, depth = Number.POSITIVE_INFINITY): string[] {
  const found: string[] = [];
  const open: Frame[] = [];
  const colon = /\s*:/y;
  for (let index = 0; index < text.length && found.length < most; index += 1) {
    const frame = open.at(-1);
    switch (text[index]) {
      case '"': {
        const end = stringEnd(text, index);
        if (end === -1) return found;
        colon.lastIndex = end + 1;
        if (frame !== undefined && frame.keys !== null && colon.test(text)) {
          const written = text.slice(index, end + 1);
          const name = String(tryParse(written) ?? written);
          frame.place = name;
          if (frame.keys.has(name) && open.length <= depth) found.push(issuePath(open.map(({ place }) => place)));
          frame.keys.add(name);
        }
        index = end;
        break;
      }
      case '{':
        open.push({ keys: new Set(), place: '' });
        break;
      case '[':
        open.push({ keys: null, place: 0 });
        break;
      case ',':
        if (frame?.keys === null) frame.place = Number(frame.place) + 1;
        break;
      case '}':
      case ']':
        open.pop();
        break;
      default:
        break;
    }
  }
  return found;
}
