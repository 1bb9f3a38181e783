/**
 * Converts content blocks of a Messages request to neutral parts. Unsupported blocks are reported with their path; blocks that only a
 * provider of this API can read are preserved for it (`blocks.ts`). Wire: API reference "Create a Message", `ContentBlockParam`
 * of @anthropic-ai/sdk 1.12; guides "Vision", "PDF support" and "Citations".
 */
import * as z from 'zod';
import type { Dropped } from '../../core/model/dropped.ts';
import type { AssistantPart, ClientResult, InputPart } from '../../core/model/message.ts';
import { quoted, type Issue, issuePath } from '../../core/problem.ts';
import { type AnswerBlock, fromBlock, fromSignature, isShownSearch } from './blocks.ts';
import { toBase64 } from '../../core/text/bytes.ts';
import { lastMark, marked, type ReadMark, readFile, readImage, parseRequestPart, toCallPart, toContentBlocks } from '../conversation.ts';

type Path = readonly PropertyKey[];

/** The position of the blocks, and the faults found in them. */
export type ContentContext = {
  body: unknown;
  issues: Issue[];
  /** The provider of provider-specific blocks, from the request's model; null if the model is an agent. */
  provider: string | null;
  dropped?: Dropped | undefined;
  mark: ReadMark;
};

const Text = z.looseObject({ text: z.string() });
const Image = z.looseObject({
  source: z.looseObject({
    type: z.string(),
    media_type: z.string().optional(),
    data: z.string().optional(),
    url: z.string().optional(),
  }),
});
const Document = z.looseObject({
  source: z.looseObject({
    type: z.string(),
    media_type: z.string().optional(),
    data: z.string().optional(),
    url: z.string().optional(),
    content: z.unknown().optional(),
  }),
  title: z.string().nullish(),
  context: z.string().nullish(),
  citations: z.looseObject({ enabled: z.boolean().nullish() }).nullish(),
});
const SearchResult = z.looseObject({ source: z.string(), title: z.string(), content: z.array(z.looseObject({ text: z.string() })) });
const ToolUse = z.looseObject({ id: z.string().min(1), name: z.string().min(1), input: z.unknown().optional() });
const Thinking = z.looseObject({ thinking: z.string(), signature: z.string().optional() });
const ToolResult = z.looseObject({
  tool_use_id: z.string().min(1),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).nullish(),
  is_error: z.boolean().nullish(),
});

function refuse(path: Path, message: string, { issues }: ContentContext): [] {
  issues.push({ path: issuePath(path), message });
  return [];
}

/** Converts user content: text, images and documents. */
export function toInputContent(block: AnswerBlock, path: Path, reading: ContentContext): InputPart[] {
  return marked(readInput(block, path, reading), reading.mark(block));
}

function readInput(block: AnswerBlock, path: Path, reading: ContentContext): InputPart[] {
  switch (block.type) {
    case 'text': {
      const text = parseRequestPart(Text, block, path, reading);
      return text === null ? [] : [{ type: 'text', text: text.text }];
    }
    case 'image':
      return toImage(block, path, reading);
    case 'document':
      return toDocument(block, path, reading);
    case 'search_result': {
      const found = parseRequestPart(SearchResult, block, path, reading);
      return found === null
        ? []
        : [{ type: 'text', text: [found.title, found.source, ...found.content.map(({ text }) => text)].join('\n') }];
    }
    default:
      return refuse(
        [...path, 'type'],
        `${quoted(block.type)} blocks are not supported: send text, image, document or tool_result`,
        reading,
      );
  }
}

function toImage(block: AnswerBlock, path: Path, reading: ContentContext): InputPart[] {
  const image = parseRequestPart(Image, block, path, reading);
  if (image === null) return [];
  const { type, media_type: mediaType, data, url } = image.source;
  if (type !== 'base64' && type !== 'url')
    return refuse([...path, 'source', 'type'], 'must be base64 or url: stored files are not supported', reading);
  const given = type === 'url' ? { url: url ?? '' } : { mediaType, data };
  return readImage(given, (message) => refuse([...path, 'source'], message, reading));
}

function toDocument(block: AnswerBlock, path: Path, reading: ContentContext): InputPart[] {
  const document = parseRequestPart(Document, block, path, reading);
  if (document === null) return [];
  const { source, title, context, citations } = document;
  const about = {
    ...(title != null && title !== '' && { name: title }),
    ...(context != null && context !== '' && { context }),
    ...(citations?.enabled === true && { citations: true }),
  };
  const fault = (message: string): [] => refuse([...path, 'source'], message, reading);
  if (source.type === 'base64')
    return readFile({ source: source.data ?? '', mediaType: source.media_type ?? 'application/pdf', ...about }, fault);
  if (source.type === 'url') return readFile({ source: source.url ?? '', ...about }, fault);
  const text = source.type === 'text' ? source.data : source.type === 'content' ? textOfContent(source.content) : null;
  if (text != null) {
    if (citations?.enabled === true)
      return readFile({ source: toBase64(new TextEncoder().encode(text)), mediaType: 'text/plain', ...about }, fault);
    return [...headOf(title, context), { type: 'text', text }];
  }
  if (source.type === 'content' && Array.isArray(source.content)) {
    const at = [...path, 'source', 'content'];
    const blocks = source.content.flatMap((inner: unknown, index) => inputBlock(inner, [...at, index], reading));
    return [...headOf(title, context), ...blocks];
  }
  return refuse([...path, 'source', 'type'], 'must be base64, url, text or content: only a provider of this API has stored files', reading);
}

function headOf(title: string | null | undefined, context: string | null | undefined): InputPart[] {
  const head = [title, context].filter((text) => text != null && text !== '').join('\n');
  return head === '' ? [] : [{ type: 'text', text: head }];
}

/** null: not text alone. */
function textOfContent(content: unknown): string | null {
  return typeof content === 'string' ? content : null;
}

function inputBlock(block: unknown, path: Path, reading: ContentContext): InputPart[] {
  const known = parseRequestPart(z.looseObject({ type: z.enum(['text', 'image']) }), block, path, reading);
  return known === null ? [] : toInputContent(known, path, reading);
}

/** null: not a tool result. */
export function toToolResultInput(block: AnswerBlock, path: Path, reading: ContentContext): ClientResult | null {
  const result = parseRequestPart(ToolResult, block, path, reading);
  if (result === null) return null;
  const { content, is_error } = result;
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  return {
    ...lastMark(blocks.map(reading.mark)),
    ...reading.mark(block),
    callId: result.tool_use_id,
    isError: is_error === true,
    content: blocks.flatMap((inner, index) =>
      toInputContent(named(inner), [...path, 'content', index], reading).flatMap((part) => toContentBlocks(part, reading.dropped)),
    ),
  };
}

/** A tool that a search found. All tools of a request are offered, so only its name is needed. Guide "Tool search tool". */
function named(block: AnswerBlock): AnswerBlock {
  return block.type === 'tool_reference' ? { type: 'text', text: `[tool: ${String(block.tool_name)}]` } : block;
}

/** Converts assistant content, in order. */
export function toAssistantParts(block: AnswerBlock, path: Path, reading: ContentContext): AssistantPart[] {
  switch (block.type) {
    case 'text': {
      const text = parseRequestPart(Text, block, path, reading);
      return text === null || text.text === '' ? [] : [{ type: 'text', text: text.text, ...reading.mark(block) }];
    }
    case 'thinking': {
      const thought = parseRequestPart(Thinking, block, path, reading);
      if (thought === null) return [];
      const native = fromSignature(thought.signature, reading.provider);
      return [
        ...(thought.thinking === '' ? [] : [{ type: 'reasoning' as const, text: thought.thinking }]),
        ...(native === null ? [] : [native]),
      ];
    }
    case 'tool_use': {
      const call = parseRequestPart(ToolUse, block, path, reading);
      return call === null ? [] : [{ ...toCallPart(call.id, call.name, call.input ?? {}), ...reading.mark(block) }];
    }
    default: {
      if (isShownSearch(block)) return [];
      if (!isProviders(block.type)) return refuse([...path, 'type'], `${quoted(block.type)} blocks are not supported`, reading);
      const native = fromBlock(block, reading.provider);
      if (native === null) reading.dropped?.add(`messages[].content[].${block.type}`, 'only the provider that created it understands it');
      return native === null ? [] : [native];
    }
  }
}

/** Results of a provider's own tools, and hidden content: only a provider of this API can use them, and others do not need them. */
function isProviders(type: string): boolean {
  return /^(redacted_thinking|server_tool_use|mcp_tool_use|compaction|[a-z_]+_tool_result)$/.test(type);
}
