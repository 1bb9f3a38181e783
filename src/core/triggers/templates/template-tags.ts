/** A template's text cut into what stands there as it is and what stands between `{{` and `}}`. What the tags mean is `parse-template.ts`. */

/** `inner`: what stands between the braces, without blanks around it, and where that begins. */
export type Tag = { kind: 'tag'; inner: string; innerAt: number; at: number };
type Piece = { kind: 'text'; text: string } | Tag | { kind: 'fault'; message: string; at: number };
/** `end`: where its text ends. */
type Found = (Tag | { kind: 'comment' }) & { end: number };

/** In order. After a fault nothing more comes. */
export function* readTags(text: string): Generator<Piece> {
  let at = 0;
  while (at < text.length) {
    const begin = text.indexOf('{{', at);
    if (begin < 0) {
      yield { kind: 'text', text: text.slice(at) };
      return;
    }
    const slashes = backslashesBefore(text, begin, at);
    const before = slashes === 0 ? '' : text.slice(at, begin - slashes) + '\\'.repeat(Math.floor(slashes / 2));
    if (before !== '') yield { kind: 'text', text: before };
    if (slashes % 2 === 1) {
      yield { kind: 'text', text: '{{' };
      at = begin + 2;
      continue;
    }
    const found = readTag(text, begin);
    if (found.kind === 'fault') {
      yield found;
      return;
    }
    const line = lineAround(text, begin, found, at);
    const textEnd = line?.from ?? begin;
    if (slashes === 0 && textEnd > at) yield { kind: 'text', text: text.slice(at, textEnd) };
    if (found.kind === 'tag') yield found;
    at = line?.to ?? found.end;
  }
}

function backslashesBefore(text: string, begin: number, from: number): number {
  let count = 0;
  while (begin - count > from && text.charAt(begin - count - 1) === '\\') count += 1;
  return count;
}

function readTag(text: string, at: number): Found | Extract<Piece, { kind: 'fault' }> {
  if (text.startsWith('{{!', at)) return readComment(text, at);
  if (text.startsWith('{{{', at))
    return {
      kind: 'fault',
      message: 'three braces have no meaning, since nothing is escaped: write {{path}}, with a blank after a brace of your own',
      at,
    };
  const close = closeOf(text, at + 2);
  if (close < 0)
    return { kind: 'fault', message: 'this {{ is never closed: write }} behind it, or \\{{ for the two braces themselves', at };
  const between = text.slice(at + 2, close);
  const inner = between.trim();
  const fault = markFault(inner);
  if (fault !== null) return { kind: 'fault', message: fault, at };
  return { kind: 'tag', inner, innerAt: at + 2 + (between.length - between.trimStart().length), at, end: close + 2 };
}

function readComment(text: string, at: number): Found | Extract<Piece, { kind: 'fault' }> {
  const isLong = text.startsWith('{{!--', at);
  const close = text.indexOf(isLong ? '--}}' : '}}', at + (isLong ? 5 : 3));
  if (close < 0) return { kind: 'fault', message: `this comment is never closed: write ${isLong ? '--}}' : '}}'} behind it`, at };
  return { kind: 'comment', end: close + (isLong ? 4 : 2) };
}

/** Where the braces close: not within quotes in brackets. -1: nowhere, or only after another tag has begun. */
function closeOf(text: string, from: number): number {
  const stop = /\}\}|\{\{|\["(?:[^"\\]|\\.)*"\]|\['(?:[^'\\]|\\.)*'\]/g;
  stop.lastIndex = from;
  for (let found = stop.exec(text); found !== null; found = stop.exec(text)) {
    if (found[0] === '}}') return found.index;
    if (found[0] === '{{') return -1;
  }
  return -1;
}

/** Marks that other languages of templates have. */
function markFault(inner: string): string | null {
  if (inner.startsWith('~') || inner.endsWith('~')) return 'blanks are not taken away by ~: a tag of a block alone on its line leaves none';
  if (inner.startsWith('>')) return 'there are no templates within templates ({{> …}})';
  if (inner.startsWith('^')) return '{{^…}} has no meaning: write {{#if path}}{{else}}…{{/if}}';
  if (inner.startsWith('&')) return '{{&…}} has no meaning: nothing is escaped, so {{path}} is enough';
  return null;
}

/** The whole line of a block's tag or a comment that has nothing but blanks beside it; null for all others. `least`: what is read already. */
function lineAround(text: string, begin: number, found: Found, least: number): { from: number; to: number } | null {
  if (found.kind === 'tag' && !/^(?:[#/]|else$)/.test(found.inner)) return null;
  let from = begin;
  while (from > least && isBlank(text.charAt(from - 1))) from -= 1;
  if (from > 0 && text.charAt(from - 1) !== '\n') return null;
  let to = found.end;
  while (isBlank(text.charAt(to))) to += 1;
  if (text.startsWith('\r\n', to)) return { from, to: to + 2 };
  if (to < text.length && text.charAt(to) !== '\n') return null;
  return { from, to: Math.min(text.length, to + 1) };
}

function isBlank(character: string): boolean {
  return character === ' ' || character === '\t';
}
