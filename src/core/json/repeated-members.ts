/** Finds members that an object of a JSON text has twice, of which parsers silently take the last one. Linear, without recursion. */
import { stringEnd } from './json-text.ts';
import { issuePath } from '../problem.ts';

/** `keys`: of an object; null: an array. `place`: the member or the index that is being read. */
type Frame = { keys: Set<string> | null; place: string | number; isKey: boolean };

/** Returns the paths of repeated members, at most `most`. `text`: valid JSON. */
export function repeatedMembers(text: string, most: number): string[] {
  const found: string[] = [];
  const open: Frame[] = [];
  for (let index = 0; index < text.length && found.length < most; index += 1) {
    const frame = open.at(-1);
    switch (text[index]) {
      case '"': {
        const end = stringEnd(text, index);
        if (end === -1) return found;
        if (frame?.isKey === true && frame.keys !== null) {
          const name = String(JSON.parse(text.slice(index, end + 1)));
          frame.place = name;
          if (frame.keys.has(name)) found.push(issuePath(open.map(({ place }) => place)));
          frame.keys.add(name);
        }
        index = end;
        break;
      }
      case '{':
        open.push({ keys: new Set(), place: '', isKey: true });
        break;
      case '[':
        open.push({ keys: null, place: 0, isKey: false });
        break;
      case ':':
        if (frame !== undefined) frame.isKey = false;
        break;
      case ',':
        if (frame?.keys === null) frame.place = Number(frame.place) + 1;
        else if (frame !== undefined) frame.isKey = true;
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
