/**
 * Markdown as nodes, for text of models: nothing becomes HTML, images are shown by their text and never loaded, links lead to http(s) only and
 * name their host, and hidden characters are shown. Pure.
 */
import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import { type TextNode, visibleProse } from './visible-nodes.ts';

/** Longer text is shown unformatted: parsing it would block the page. */
const maxFormattedLength = 200_000;

export type ParsedMarkdown = { text: string; tokens: Token[] };

/** Parses `text`. If it continues `before`, only its last two blocks are parsed again: answers grow by a few words at a time. */
export function parseMarkdown(text: string, before: ParsedMarkdown | null): ParsedMarkdown {
  const source = text.replaceAll(/\r\n?/g, '\n');
  if (source.length > maxFormattedLength) return { text: source, tokens: [plainToken(source)] };
  const kept = before !== null && source.startsWith(before.text) ? before.tokens.slice(0, -2) : [];
  const offset = kept.reduce((length, { raw }) => length + raw.length, 0);
  return { text: source, tokens: [...kept, ...parse(source.slice(offset))] };
}

function parse(text: string): Token[] {
  try {
    return lexer(text);
  } catch {
    // Nesting that is too deep for the parser.
    return [plainToken(text)];
  }
}

function plainToken(text: string): Tokens.Code {
  return { type: 'code', raw: text, text };
}

type Children = readonly (TextNode | readonly TextNode[])[];

function element(tag: string, attributes: Record<string, string | number>, ...children: Children): TextNode {
  return { tag, attributes, children: children.flat() as TextNode[] };
}

export function markdownNodes({ tokens }: ParsedMarkdown): TextNode[] {
  return blocks(tokens, 0);
}

/** Quotes and lists within each other; deeper ones are shown as they were written. */
const maxDepth = 20;

function blocks(tokens: readonly Token[], depth: number): TextNode[] {
  // Tokens of this lexer: extensions are not used.
  return tokens.flatMap((token) => block(token as MarkedToken, depth));
}

function block(token: MarkedToken, depth: number): TextNode[] {
  if (depth > maxDepth) return visibleProse(token.raw);
  switch (token.type) {
    case 'space':
    case 'def':
    case 'checkbox':
      return [];
    case 'heading':
      // The page has its own headings: those of an answer must not disturb their order.
      return [element('p', { class: `heading level-${token.depth}` }, inline(token.tokens))];
    case 'paragraph':
      return [element('p', {}, inline(token.tokens))];
    case 'code':
      return [codeBlock(token.text)];
    case 'blockquote':
      return [element('blockquote', {}, blocks(token.tokens, depth + 1))];
    case 'list': {
      const items = token.items.map((item) =>
        element('li', {}, item.task ? `${item.checked ? '☑' : '☐'} ` : '', listItem(item, depth + 1)),
      );
      return [token.ordered ? element('ol', { start: Number(token.start) || 1 }, items) : element('ul', {}, items)];
    }
    case 'table':
      return [table(token)];
    case 'hr':
      return [element('hr', {})];
    case 'text':
      return [element('p', {}, token.tokens === undefined ? visibleProse(entities(token.text)) : inline(token.tokens))];
    default:
      // HTML and everything unknown: as it was written.
      return [element('p', { class: 'verbatim' }, visibleProse(token.raw))];
  }
}

/** The text of a tight item stands without a paragraph. */
function listItem({ tokens }: Tokens.ListItem, depth: number): TextNode[] {
  return tokens.flatMap((token) =>
    token.type === 'text' && 'tokens' in token ? [element('span', {}, inline(token.tokens))] : block(token as MarkedToken, depth),
  );
}

function codeBlock(text: string): TextNode {
  return element('pre', { tabIndex: 0 }, element('code', {}, visibleProse(text)));
}

function table({ header, rows }: Tokens.Table): TextNode {
  const head = header.map((cell) => element('th', { scope: 'col' }, inline(cell.tokens)));
  const body = rows.map((row) =>
    element(
      'tr',
      {},
      row.map((cell) => element('td', {}, inline(cell.tokens))),
    ),
  );
  return element(
    'div',
    { class: 'table', tabIndex: 0 },
    element('table', {}, element('thead', {}, element('tr', {}, head)), element('tbody', {}, body)),
  );
}

function inline(tokens: readonly Token[] = []): TextNode[] {
  return tokens.flatMap((token) => inlineToken(token as MarkedToken));
}

function inlineToken(token: MarkedToken): TextNode[] {
  switch (token.type) {
    case 'strong':
    case 'em':
    case 'del':
      return [element(token.type, {}, inline(token.tokens))];
    case 'codespan':
      return [element('code', {}, visibleProse(token.text))];
    case 'br':
      return [element('br', {})];
    case 'link':
      return [link(token)];
    case 'image':
      return [element('span', { class: 'not-loaded' }, 'Image, not loaded: ', visibleProse(token.text || token.href))];
    case 'escape':
      return visibleProse(token.text);
    case 'text':
      return token.tokens === undefined ? visibleProse(entities(token.text)) : inline(token.tokens);
    default:
      return visibleProse(token.raw);
  }
}

function link({ href, tokens, text }: Tokens.Link): TextNode {
  const url = URL.canParse(href) ? new URL(href) : null;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    return element('span', {}, inline(tokens), element('span', { class: 'muted' }, ' (', visibleProse(href.slice(0, 100)), ')'));
  }
  const host = text.includes(url.host) ? '' : element('span', { class: 'muted' }, ` (${url.host})`);
  return element('span', {}, element('a', { href: url.href, target: '_blank', rel: 'noopener noreferrer nofollow' }, inline(tokens)), host);
}

const named: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&nbsp;': '\u00a0' };

function entities(text: string): string {
  return text.includes('&') ? text.replaceAll(/&(?:amp|lt|gt|quot|nbsp|#39);/g, (entity) => named[entity] ?? entity) : text;
}
