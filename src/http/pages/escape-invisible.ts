/**
 * Text that somebody else chose, as HTML that shows what is there: nothing is markup, and characters that are invisible or
 * change how others are shown stand as their code points. Used where a person decides by what they read.
 */
import { escapeHtml } from './html.ts';

/** Line ends stay; a carriage return, which may hide what stands before it, does not. */
export function escapeInvisible(text: string): string {
  let html = '';
  let from = 0;
  for (const match of text.matchAll(hidden)) {
    html += `${escapeHtml(text.slice(from, match.index))}${codePoints(match[0])}`;
    from = match.index + match[0].length;
  }
  return html + escapeHtml(text.slice(from));
}

/**
 * Controls, formats (bidirectional ones among them), lone surrogates, private and unassigned ones, odd spaces and separators,
 * and all that is drawn as nothing. Tab and line feed are what they look like.
 */
const hidden = /(?:(?![\t\n ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}])+/gu;

/** A long run is told by its first ones and a count: it must not push away what stands behind it. */
function codePoints(run: string): string {
  const points = [...run];
  const shown = points.slice(0, maxShown).map((point) => `U+${(point.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`);
  const rest = points.length > maxShown ? ` and ${points.length - maxShown} more` : '';
  return `<span class="hidden-character">${shown.join(' ')}${rest}</span>`;
}

const maxShown = 16;
