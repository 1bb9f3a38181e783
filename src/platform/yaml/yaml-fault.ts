/** Why a text of YAML was not read, and where. Whoever reads one makes a problem of it, in the words of what the text is. */

/** `aliases`: they stand for too much, or are not allowed; `parts` and `depth`: more values, or deeper ones, than are read. */
export type YamlFaultKind = 'syntax' | 'aliases' | 'parts' | 'depth';

/** Both counted from 1. */
export type YamlPlace = { line: number; column: number };

export class YamlFault extends Error {
  readonly kind: YamlFaultKind;
  readonly place: YamlPlace | null;

  constructor(kind: YamlFaultKind, message: string, place: YamlPlace | null = null) {
    super(message);
    this.kind = kind;
    this.place = place;
  }
}

/** Only for a fault that is told: it looks through all of the text before it. */
export function placeAt(text: string, offset: number): YamlPlace {
  const lines = text.slice(0, offset).split(/\r\n?|\n/);
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
