/**
 * Cleans data of an external server that people or models read (prompts, resources, listings, log lines): the same shape, with every
 * text in visible form. Not for data that programs compare or sign, and not for tool results, whose blocks are known
 * (`clean-result.ts`).
 */
import { isDeeperThan } from '../json/json-depth.ts';
import { limits } from '../limits.ts';
import { cleanOutput } from '../listing/listing-text.ts';
import type { ServerNotice } from './mcp-input.ts';

/** Also cleans member names. At most `limits.maxJsonDepth` deep, which the caller checks. */
export function cleanData<Value>(value: Value): Value {
  // Strings are replaced by strings, so the shape is the same.
  return cleanPart(value) as Value;
}

function cleanPart(value: unknown): unknown {
  if (typeof value === 'string') return cleanOutput(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cleanPart);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [cleanOutput(name), cleanPart(member)]));
}

/** A log line of a server, as an MCP client may print it. */
export function cleanNotice({ level, logger, data }: ServerNotice): ServerNotice {
  const isTooDeep = isDeeperThan(data, limits.maxJsonDepth);
  const told = isTooDeep ? `[left out: it nests deeper than ${limits.maxJsonDepth} levels]` : cleanData(data);
  return { level, ...(logger !== undefined && { logger: cleanOutput(logger) }), data: told };
}
