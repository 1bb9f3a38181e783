/**
 * The content of a tool result as a model reads it. Results are stored and returned to clients unchanged; this is the one place where
 * characters that a person cannot see are removed, since they can carry instructions that only a model reads, or colors that it has no use
 * for. A note says how many of which kind. Used by the conversation of a model (`core/turn/transcript.ts`), and for guards, which judge what
 * a model reads. Structured data is not part of it; `visibleJson` writes it as text.
 */
import { isRecord } from '../json/wire-value.ts';
import { visibleJson } from '../text/visible-text.ts';
import { cleanOutput, type Removed } from './listing-text.ts';
import { contentText, textResult, type ContentBlock, type ToolResult } from './tool.ts';

/** Returns the result without what only clients get: `_meta`, the server's error, icons, and members that we do not know. */
export function forModel({ meta: _meta, protocolError: _error, ...result }: ToolResult): ToolResult {
  return { ...result, content: result.content.map(knownMembers) };
}

const members = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri', 'name', 'title', 'description', 'mimeType', 'size'],
  resource: ['resource'],
} as const;
const resourceMembers = ['uri', 'mimeType', 'text', 'blob'];
const annotationMembers = ['audience', 'priority', 'lastModified'];

function knownMembers(block: ContentBlock): ContentBlock {
  const { type, annotations } = block;
  if (type === 'other') return { type: 'text', text: contentText([block]) };
  const known = {
    ...pick(block, ['type', ...members[type]]),
    ...(type === 'resource' && { resource: pick(block.resource, resourceMembers) }),
    ...(annotations !== undefined && { annotations: pick(annotations, annotationMembers) }),
  };
  // It has every member that the type names.
  return known as ContentBlock;
}

function pick(part: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (part[name] === undefined ? [] : [[name, part[name]]])));
}

type Given = Pick<ToolResult, 'isError' | 'content'> & Partial<Pick<ToolResult, 'structuredContent'>>;

/** Returns at least one block, and the same array for content that is unchanged. */
export function modelContent({ isError, content, structuredContent }: Given): ContentBlock[] {
  if (content.length === 0) return [{ type: 'text', text: textOfEmpty(isError, structuredContent) }];
  const removed: Removed = new Map();
  const cleaned = cleanContent(content, removed);
  // The text of a result describes an object; other data has no other place.
  const isTold = structuredContent === undefined || isRecord(structuredContent) || content.some(({ type }) => type === 'text');
  const told = isTold ? cleaned : [...cleaned, ...textResult(visibleJson(structuredContent)).content];
  return removed.size === 0 ? told : [...told, ...textResult(removalNote(removed)).content];
}

function textOfEmpty(isError: boolean, structuredContent: unknown): string {
  if (structuredContent !== undefined) return visibleJson(structuredContent);
  return isError ? '[The tool failed without an error message.]' : '[The tool returned no content. This is not an error.]';
}

function removalNote(removed: Removed): string {
  const counts = [...removed].map(([kind, times]) => `${times} ${kind}${times === 1 ? '' : 's'}`);
  return `[Removed before you read this result, since a person cannot see them: ${counts.join(', ')}.]`;
}

/** Returns the same array if nothing is removed. */
export function cleanContent(content: ContentBlock[], removed: Removed = new Map()): ContentBlock[] {
  const cleaned = content.map((block) => cleanBlock(block, removed));
  return cleaned.every((block, index) => block === content[index]) ? content : cleaned;
}

/** Media is data, which is not read as text. */
function cleanBlock(block: ContentBlock, removed: Removed): ContentBlock {
  switch (block.type) {
    case 'text':
      return withClean(block, ['text'], removed);
    case 'image':
    case 'audio':
      return withClean(block, ['mimeType'], removed);
    case 'resource_link':
      return withClean(block, ['uri', 'name', 'title', 'description', 'mimeType'], removed);
    case 'resource': {
      const resource = withClean(block.resource, ['uri', 'mimeType', 'text'], removed);
      return resource === block.resource ? block : { ...block, resource };
    }
    case 'other':
      return block;
    default:
      return block satisfies never;
  }
}

/** Returns the same object if none of the texts changes. */
function withClean<Part extends object>(part: Part, members: readonly (keyof Part)[], removed: Removed): Part {
  let clean = part;
  for (const member of members) {
    const text = part[member];
    const seen = typeof text === 'string' ? cleanOutput(text, removed) : text;
    // A text is replaced by a text.
    if (seen !== text) clean = { ...clean, [member]: seen as Part[typeof member] };
  }
  return clean;
}
