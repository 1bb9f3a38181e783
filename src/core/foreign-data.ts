/**
 * Data of somebody else's server that is passed on for people or models to read (prompts, resources, what it offers, lines of its log): the
 * same shape, with every text in it as it can be seen. Not for data that programs compare or sign, and not for results of tools, whose
 * blocks are known (`foreign-result.ts`).
 */
import { isDeeperThan } from './json-depth.ts';
import { limits } from './limits.ts';
import { cleanOutput } from './listing/listing-text.ts';
import type { ServerNotice } from './mcp-input.ts';

/** Names of members too. At most `limits.maxJsonDepth` deep, which the caller has looked at. */
export function cleanData<Value>(value: Value): Value {
  // Texts for texts: the shape is the same.
  return cleanPart(value) as Value;
}

function cleanPart(value: unknown): unknown {
  if (typeof value === 'string') return cleanOutput(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cleanPart);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [cleanOutput(name), cleanPart(member)]));
}

/** A line of a server's log, as an MCP client may print it. */
export function cleanNotice({ level, logger, data }: ServerNotice): ServerNotice {
  const isTooDeep = isDeeperThan(data, limits.maxJsonDepth);
  const told = isTooDeep ? `[left out: it nests deeper than ${limits.maxJsonDepth} levels]` : cleanData(data);
  return { level, ...(logger !== undefined && { logger: cleanOutput(logger) }), data: told };
}
