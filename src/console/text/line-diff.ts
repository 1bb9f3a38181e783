/** Differences of two texts by lines. Pure. */

export type DiffLine = { kind: 'same' | 'added' | 'removed'; text: string };
/** `skipped`: how many unchanged lines are left out at this place. */
export type DiffPart = DiffLine | { kind: 'skipped'; count: number };

/** Longer texts, after their common beginning and end, are shown as replaced: the table of the comparison would not fit into memory. */
const maxCells = 4_000_000;
const contextLines = 3;

/** `null`: there is no text, thus no lines. */
export function lineDiff(before: string | null, after: string | null): DiffLine[] {
  const from = before?.split('\n') ?? [];
  const to = after?.split('\n') ?? [];
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start += 1;
  let end = 0;
  while (end < from.length - start && end < to.length - start && from.at(-1 - end) === to.at(-1 - end)) end += 1;
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ kind: 'same', text }));
  return [
    ...same(from.slice(0, start)),
    ...compare(from.slice(start, from.length - end), to.slice(start, to.length - end)),
    ...same(from.slice(from.length - end)),
  ];
}

export type ChangedWords = { start: string; changed: string; end: string };

/**
 * Of two lines, the words that differ and what is common before and after them. null: too little is common for the comparison to help, or
 * they are equal.
 */
export function changedWords(before: string, after: string): [before: ChangedWords, after: ChangedWords] | null {
  const from = before.match(/\s+|\S+/g) ?? [];
  const to = after.match(/\s+|\S+/g) ?? [];
  const shorter = Math.min(from.length, to.length);
  let start = 0;
  while (start < shorter && from[start] === to[start]) start += 1;
  let end = 0;
  while (end < shorter - start && from.at(-1 - end) === to.at(-1 - end)) end += 1;
  if ((start + end) * 4 < shorter || (start + end === from.length && start + end === to.length)) return null;
  const split = (words: readonly string[]): ChangedWords => ({
    start: words.slice(0, start).join(''),
    changed: words.slice(start, words.length - end).join(''),
    end: words.slice(words.length - end).join(''),
  });
  return [split(from), split(to)];
}

/** Leaves out unchanged lines that are far from a change. */
export function withContext(lines: readonly DiffLine[]): DiffPart[] {
  const isNear = lines.map(() => false);
  for (const [index, { kind }] of lines.entries())
    if (kind !== 'same') isNear.fill(true, Math.max(0, index - contextLines), index + contextLines + 1);
  const parts: DiffPart[] = [];
  for (const [index, line] of lines.entries()) {
    const last = parts.at(-1);
    if (isNear[index]) parts.push(line);
    else if (last?.kind === 'skipped') last.count += 1;
    else parts.push({ kind: 'skipped', count: 1 });
  }
  return parts;
}

/** By the longest common subsequence. */
function compare(from: readonly string[], to: readonly string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ kind: 'removed', text });
  const added = (text: string): DiffLine => ({ kind: 'added', text });
  if (from.length * to.length > maxCells) return [...from.map(removed), ...to.map(added)];
  const width = to.length + 1;
  /** Lengths for the rest of both texts, by their positions. */
  const lengths = new Uint32Array((from.length + 1) * width);
  const lengthAt = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = from.length - 1; row >= 0; row -= 1)
    for (let column = to.length - 1; column >= 0; column -= 1)
      lengths[row * width + column] =
        from[row] === to[column] ? lengthAt(row + 1, column + 1) + 1 : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
  const lines: DiffLine[] = [];
  let row = 0;
  let column = 0;
  while (row < from.length && column < to.length) {
    const text = from[row] ?? '';
    if (text === to[column]) {
      lines.push({ kind: 'same', text });
      row += 1;
      column += 1;
    } else if (lengthAt(row + 1, column) >= lengthAt(row, column + 1)) {
      lines.push(removed(text));
      row += 1;
    } else {
      lines.push(added(to[column] ?? ''));
      column += 1;
    }
  }
  return [...lines, ...from.slice(row).map(removed), ...to.slice(column).map(added)];
}
