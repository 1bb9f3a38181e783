/**
 * Text from the network with its hidden characters shown: controls (ANSI sequences too), bidirectional overrides, zero-width characters. Pure:
 * `parts/visible.ts` makes elements of the nodes.
 */
import { codePointName, hiddenCharacter, readCharacter } from '../../core/text/visible-text.ts';

/** An element, or text. */
export type TextNode = string | { tag: string; attributes: Readonly<Record<string, string | number>>; children: readonly TextNode[] };

/** A long run is shown as its first characters and a count. */
const maxShown = 8;

/** Names, arguments and results: every hidden character is shown. */
const strict = new RegExp(`(?:${hiddenCharacter}|[\\p{Co}\\p{Cs}])+`, 'gu');
/** Prose: what emoji and scripts need, and soft hyphens, are ordinary. */
const lenient = new RegExp(`(?:(?!\\u00ad|${readCharacter})(?:${hiddenCharacter}|[\\p{Co}\\p{Cs}]))+`, 'gu');

export function visibleNodes(text: string): TextNode[] {
  return mark(text, strict);
}

export function visibleProse(text: string): TextNode[] {
  return mark(text, lenient);
}

function mark(text: string, pattern: RegExp): TextNode[] {
  const parts: TextNode[] = [];
  let from = 0;
  for (const match of text.matchAll(pattern)) {
    const points = [...match[0]];
    const rest = points.length > maxShown ? ` and ${points.length - maxShown} more` : '';
    const shown = points.slice(0, maxShown).map(codePointName).join(' ') + rest;
    parts.push(text.slice(from, match.index), { tag: 'span', attributes: { class: 'hidden-character' }, children: [shown] });
    from = match.index + match[0].length;
  }
  return [...parts, text.slice(from)];
}
