/**
 * Converts a server's response to a tool result: an MCP result as such (unless the server is a plain API), other JSON and text as text,
 * images of an API as images, and errors as text.
 */
import * as z from 'zod';
import { isDeeperThan, isRecord, tryParse } from '../core/json/wire-value.ts';
import { limits } from '../core/limits/limits.ts';
import { toBase64 } from '../core/text/bytes.ts';
import { ContentBlock, errorResult, textResult, type ToolResult } from '../core/tools/tool.ts';
import type { BoundedBody } from '../net/read-bounded.ts';
import { describeBytes, textOf } from '../net/text-body.ts';

/** Names only the fields in use. A content block of an unknown type makes the response ordinary JSON. */
const CallToolResult = z.object({
  content: z.array(ContentBlock),
  isError: z.boolean().nullish(),
  structuredContent: z.unknown().optional(),
});

/** `isPlain`: the response of an HTTP API, in which `content` is a field like any other. */
export function toHttpToolResult(
  canonical: string,
  { status, ok, headers }: Pick<Response, 'status' | 'ok' | 'headers'>,
  body: BoundedBody,
  { isPlain = false }: { isPlain?: boolean } = {},
): ToolResult {
  const type = headers.get('content-type') ?? '';
  const text = textOf(body.bytes, type);
  if (!ok) {
    const excerpt = text === null ? describeBytes(body.bytes, type) : text.trim();
    return errorResult('tool_error', `${canonical} failed: its server returned status ${status}.${excerpt === '' ? '' : `\n${excerpt}`}`);
  }
  if (body.truncated) {
    const limit = `${limits.maxToolReplyBytes} bytes`;
    return errorResult(
      'tool_error',
      `${canonical} returned more than ${limit}, so the result was discarded. Request less data, or a part of it.`,
    );
  }
  if (text === null) return (isPlain ? mediaResult(body.bytes, type) : null) ?? textResult(describeBytes(body.bytes, type));
  if (text.trim() === '') return { isError: false, content: [] };
  return isJson(type) || /^\s*[{[]/.test(text) ? readJson(canonical, text, type, isPlain) : textResult(text);
}

/** Returns the content that models can be shown directly (images), or null. */
function mediaResult(bytes: Uint8Array, type: string): ToolResult | null {
  const [, mimeType, kind] = /^((image|audio)\/[a-z0-9.+-]{1,50})\s*(?:;|$)/i.exec(type) ?? [];
  if (mimeType === undefined || bytes.byteLength === 0) return null;
  const block = { data: toBase64(bytes), mimeType: mimeType.toLowerCase() };
  return { isError: false, content: [kind?.toLowerCase() === 'image' ? { type: 'image', ...block } : { type: 'audio', ...block }] };
}

function readJson(canonical: string, text: string, type: string, isPlain: boolean): ToolResult {
  const value = tryParse(text);
  // Text that merely starts like JSON is text, unless its content type is JSON.
  if (value === undefined)
    return isJson(type) ? errorResult('tool_error', `${canonical} returned invalid JSON:\n${text}`) : textResult(text);
  if (isDeeperThan(value, limits.maxJsonDepth))
    return errorResult('tool_error', `${canonical} returned JSON nested deeper than ${limits.maxJsonDepth} levels, which is not accepted.`);
  if (!isRecord(value)) return textResult(text);
  const parsed = isPlain ? null : CallToolResult.safeParse(value);
  if (!parsed?.success) return { ...textResult(text), structuredContent: value };
  const { content, isError, structuredContent } = parsed.data;
  return {
    isError: isError === true,
    ...(isError === true && { code: 'tool_error' as const }),
    content,
    // Many frameworks write null for what there is not.
    ...(structuredContent != null && { structuredContent }),
  };
}

function isJson(type: string): boolean {
  return /[/+]json\b/i.test(type);
}
