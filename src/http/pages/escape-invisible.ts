/**
 * Renders untrusted text as HTML that shows every character: no markup is interpreted, and characters that are invisible or change the
 * display of others are shown as code points. Used where a user decides based on the text.
 */
import { escapeHtml } from './html.ts';

/** Keeps line feeds. Carriage returns are shown, since they may hide the text before them. */
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
 * Controls, formats (including bidirectional ones), lone surrogates, private and unassigned characters, unusual spaces and separators, and
 * all characters that are displayed as nothing. Tab and line feed are excluded.
 */
const hidden = /(?:(?![\t\n ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}])+/gu;

/** A long run is shown as its first characters and a count: it must not push the following text away. */
function codePoints(run: string): string {
  const points = [...run];
  const shown = points.slice(0, maxShown).map((point) => `U+${(point.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`);
  const rest = points.length > maxShown ? ` and ${points.length - maxShown} more` : '';
  return `<span class="hidden-character">${shown.join(' ')}${rest}</span>`;
}

const maxShown = 16;
