/** Why a YAML text is invalid, and where. Callers convert it to a problem with a message that fits the document. */

/** `aliases`: they expand to too much, or are not allowed; `parts` and `depth`: too many or too deeply nested values. */
export type YamlFaultKind = 'syntax' | 'aliases' | 'parts' | 'depth';

/** Both start at 1. */
export type YamlPosition = { line: number; column: number };

export class YamlFault extends Error {
  readonly kind: YamlFaultKind;
  readonly place: YamlPosition | null;

  constructor(kind: YamlFaultKind, message: string, place: YamlPosition | null = null) {
    super(message);
    this.kind = kind;
    this.place = place;
  }
}

/** Returns the position of an offset. Only for reported faults, since it scans all the text before the offset. */
export function positionAt(text: string, offset: number): YamlPosition {
  const lines = text.slice(0, offset).split(/\r\n?|\n/);
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
