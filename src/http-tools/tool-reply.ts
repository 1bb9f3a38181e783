/**
 * What a server answered a tool call with, as a result: MCP's shape as such (but not where the server knows nothing of tools), other JSON
 * and text as text, images of an API as images, and faults in words.
 */
import { z } from 'zod';
import { isDeeperThan } from '../core/json-depth.ts';
import { limits } from '../core/limits.ts';
import { toBase64 } from '../core/base64.ts';
import { ContentBlock, errorResult, textResult, type ToolResult } from '../core/tool.ts';
import type { BoundedBody } from '../net/read-bounded.ts';
import { isRecord } from '../core/wire-value.ts';

/** Names only what is used; a block of a type that we do not know makes it ordinary JSON. */
const CallToolResult = z.object({
  content: z.array(ContentBlock),
  isError: z.boolean().nullish(),
  structuredContent: z.record(z.string(), z.unknown()).nullish(),
});

/** `isPlain`: the answer of any HTTP API, in which `content` is a field like others. */
export function toResult(
  canonical: string,
  { status, ok, headers }: Pick<Response, 'status' | 'ok' | 'headers'>,
  body: BoundedBody,
  { isPlain = false }: { isPlain?: boolean } = {},
): ToolResult {
  const type = headers.get('content-type') ?? '';
  const text = textOf(body.bytes, type);
  if (!ok) {
    const said = text === null ? describe(body.bytes, type) : text.trim();
    return errorResult('tool_error', `${canonical} failed: its server answered ${status}.${said === '' ? '' : `\n${said}`}`);
  }
  if (body.truncated) {
    const limit = `${limits.maxToolReplyBytes} bytes`;
    return errorResult(
      'tool_error',
      `${canonical} answered more than ${limit}, which is not read any further. Ask for less, or for a part of it.`,
    );
  }
  if (text === null) return (isPlain ? mediaResult(body.bytes, type) : null) ?? textResult(describe(body.bytes, type));
  if (text.trim() === '') return textResult('[The tool answered nothing, which is no error.]');
  return isJson(type) || /^\s*[{[]/.test(text) ? readJson(canonical, text, type, isPlain) : textResult(text);
}

/** What models may be shown as it is; null: nothing of that. */
function mediaResult(bytes: Uint8Array, type: string): ToolResult | null {
  const [, mimeType, kind] = /^((image|audio)\/[a-z0-9.+-]{1,50})\s*(?:;|$)/i.exec(type) ?? [];
  if (mimeType === undefined || bytes.byteLength === 0) return null;
  const block = { data: toBase64(bytes), mimeType: mimeType.toLowerCase() };
  return { isError: false, content: [kind?.toLowerCase() === 'image' ? { type: 'image', ...block } : { type: 'audio', ...block }] };
}

function readJson(canonical: string, text: string, type: string, isPlain: boolean): ToolResult {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Text that only begins like JSON is text, unless it was said to be more.
    return isJson(type) ? errorResult('tool_error', `${canonical} answered JSON that cannot be read:\n${text}`) : textResult(text);
  }
  if (isDeeperThan(value, limits.maxJsonDepth))
    return errorResult('tool_error', `${canonical} answered JSON that nests deeper than ${limits.maxJsonDepth} levels, which is not read.`);
  if (!isRecord(value)) return textResult(text);
  const parsed = isPlain ? null : CallToolResult.safeParse(value);
  if (!parsed?.success) return { ...textResult(text), structuredContent: value };
  const { content, isError, structuredContent } = parsed.data;
  const structured = structuredContent ?? undefined;
  return {
    isError: isError === true,
    ...(isError === true && { code: 'tool_error' as const }),
    // A model reads texts: an answer of structure alone is told in one.
    content: content.length === 0 ? textResult(JSON.stringify(structured ?? {})).content : content,
    ...(structured !== undefined && { structuredContent: structured }),
  };
}

function isJson(type: string): boolean {
  return /[/+]json\b/i.test(type);
}

/** null: it is no text. What says that it is text may be broken, and is shown all the same. */
function textOf(bytes: Uint8Array, type: string): string | null {
  const isText = isJson(type) || /^text\/|[/+](?:xml|yaml|javascript|csv|x-ndjson)\b/i.test(type);
  if (!isText && type !== '' && !/^application\/octet-stream\b/i.test(type)) return null;
  try {
    // A cut may fall inside a character: `stream` forgives an unfinished one at the end.
    const text = new TextDecoder('utf-8', { fatal: !isText, ignoreBOM: false }).decode(bytes, { stream: true });
    return !isText && text.includes('\0') ? null : text;
  } catch {
    // Not UTF-8, and nobody said that it was text.
    return null;
  }
}

function describe(bytes: Uint8Array, type: string): string {
  return `[${bytes.byteLength} bytes of ${type === '' ? 'binary data' : type.slice(0, 100)}, not shown]`;
}
