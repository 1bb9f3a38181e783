/** Pretty JSON in lines, of which those that differ are marked. Pure. */
import { isJsonRecord } from '../../text/json.ts';

export type JsonLine = { text: string; isMarked: boolean };

/** Returns the lines of the value. `paths`: JSON Pointers (RFC 6901); all lines of a value at one of them are marked. */
export function markedJson(value: unknown, paths: readonly string[]): JsonLine[] {
  const marked = new Set(paths);
  const linesOf = (one: unknown, at: string, indent: string, head: string, tail: string, isWithin: boolean): JsonLine[] => {
    const isMarked = isWithin || marked.has(at);
    const isList = Array.isArray(one);
    const members: [string, unknown][] = isList || isJsonRecord(one) ? Object.entries(one) : [];
    const line = (text: string): JsonLine => ({ text: indent + text, isMarked });
    if (members.length === 0) return [line(`${head}${JSON.stringify(one)}${tail}`)];
    return [
      line(`${head}${isList ? '[' : '{'}`),
      ...members.flatMap(([name, member], index) =>
        linesOf(
          member,
          `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
          `${indent}  `,
          isList ? '' : `${JSON.stringify(name)}: `,
          index === members.length - 1 ? '' : ',',
          isMarked,
        ),
      ),
      line(`${isList ? ']' : '}'}${tail}`),
    ];
  };
  return linesOf(value, '', '', '', '', false);
}
