/**
 * Cleans a result of an external tool for models, terminals and pages: removes escape sequences, characters that reorder text, and
 * invisible characters that can carry hidden text. The structured form is data and stays unchanged; `visibleJson` cleans it where it
 * is rendered as text. Links are plain text here and are never followed. Used by the call path before secrets are removed, since
 * cleaning can join the parts of a split secret.
 */
import { cleanOutput } from './listing-text.ts';
import type { ContentBlock, ToolResult } from './tool.ts';
import { isDeeperThan, mapTexts } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import type { ServerNotice, ProgressUpdate } from './mcp-input.ts';

export function cleanResult<Result extends ToolResult>(result: Result): Result {
  const { meta, protocolError } = result;
  return {
    ...result,
    content: result.content.map((block) => ({ ...cleanBlock(block), ...(block._meta && { _meta: cleanData(block._meta) }) })),
    ...(meta && { meta: cleanData(meta) }),
    ...(protocolError && { protocolError: cleanData(protocolError) }),
  };
}

function cleanBlock(block: ContentBlock): ContentBlock {
  switch (block.type) {
    case 'text':
      return { ...block, text: cleanOutput(block.text) };
    case 'image':
    case 'audio':
      return { ...block, mimeType: cleanOutput(block.mimeType) };
    case 'resource_link':
      return {
        ...block,
        uri: cleanOutput(block.uri),
        name: cleanOutput(block.name),
        ...(block.title !== undefined && { title: cleanOutput(block.title) }),
        ...(block.description !== undefined && { description: cleanOutput(block.description) }),
        ...(block.mimeType !== undefined && { mimeType: cleanOutput(block.mimeType) }),
      };
    case 'resource': {
      const { uri, mimeType, text } = block.resource;
      const resource = {
        ...block.resource,
        uri: cleanOutput(uri),
        ...(mimeType !== undefined && { mimeType: cleanOutput(mimeType) }),
        ...(text !== undefined && { text: cleanOutput(text) }),
        ...(block.resource._meta && { _meta: cleanData(block.resource._meta) }),
      };
      return { ...block, resource };
    }
    default:
      return block satisfies never;
  }
}

/**
 * Returns data of an external server that people or models read (prompts, resources, listings, log lines) in the same shape, with every text
 * in visible form, including member names. Not for data that programs compare or sign. At most `limits.maxJsonDepth` deep, which the caller
 * checks.
 */
export function cleanData<Value>(value: Value): Value {
  // Strings are replaced by strings, so the shape is the same.
  return mapTexts(value, cleanOutput) as Value;
}

/** A log line of a server, as an MCP client may print it. */
export function cleanNotice({ level, logger, data }: ServerNotice): ServerNotice {
  const isTooDeep = isDeeperThan(data, limits.maxJsonDepth);
  const told = isTooDeep ? `[left out: it nests deeper than ${limits.maxJsonDepth} levels]` : cleanData(data);
  return { level, ...(logger !== undefined && { logger: cleanOutput(logger) }), data: told };
}

/** Progress updates of one call that become events, and their minimum interval. */
export const maxProgressEvents = 200;
const progressIntervalMs = 250;
export const maxProgressMessageLength = 500;

/** Returns null for an update without a usable number. */
export function sanitizeProgress({ progress, total, message }: ProgressUpdate): ProgressUpdate | null {
  if (!Number.isFinite(progress)) return null;
  const isText = typeof message === 'string' && message !== '';
  // Cut before it is cleaned, since the server may send any length.
  const text = isText ? cleanOutput(message.slice(0, maxProgressMessageLength).toWellFormed()) : '';
  return { progress, ...(Number.isFinite(total) && { total: total as number }), ...(text !== '' && { message: text }) };
}

/** Returns a gate that passes the progress updates of one call at the rate set above: the first at once, then one per interval. */
export function createProgressGate(now: () => number): () => boolean {
  let passed = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (passed >= maxProgressEvents || now() - lastAt < progressIntervalMs) return false;
    passed += 1;
    lastAt = now();
    return true;
  };
}
