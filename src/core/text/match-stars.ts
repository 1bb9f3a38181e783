/** Patterns in which each `*` stands for any text. Used for names of models and operations. */

/**
 * Whether the text is the `pieces` of a pattern, split at its stars, with any text between them. Takes the first occurrence of each piece, so
 * the time is linear apart from the search of one piece, unlike a regular expression with many stars.
 */
export function matchesPieces([first = '', ...rest]: readonly string[], text: string): boolean {
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= text.length - last.length;
}
