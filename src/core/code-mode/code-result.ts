/**
 * Conversions between tool results and code that calls tools: a tool result as the code sees it, and the end of a run as the caller
 * of the code sees it. Shared by the executor of made tools and by code mode. `ports/sandbox.ts` runs the code.
 */
import type { JsonValue } from '../json/json-value.ts';
import { contentText, errorResult, textResult, type ToolResult } from '../tools/tool.ts';

/** The limit that the run reached. */
export type SandboxLimit = 'fuel' | 'memory' | 'stack' | 'jobs' | 'calls' | 'arguments' | 'output' | 'never_settles' | 'queue';

/**
 * `console`: the printed output, bounded. `threw`: the message includes the line if it is known. `suspended`: all calls that the code
 * waits for are waiting themselves.
 */
export type SandboxEnd = { console: string } & (
  | { end: 'returned'; value: JsonValue }
  | { end: 'threw'; message: string }
  | { end: 'limit'; limit: SandboxLimit; message: string }
  | { end: 'suspended' }
  | { end: 'aborted' }
);

/**
 * The result of an inner call, as the code sees it. `output` is also set on failure, so that code that ignores `success` reads the
 * error and not "undefined".
 */
export type CodeCallResult = {
  success: boolean;
  output: string;
  error?: string;
  code?: string;
  structured?: Record<string, unknown>;
};

export function toCodeCallResult({ isError, code, content, structuredContent }: ToolResult): CodeCallResult {
  const output = contentText(content);
  return {
    success: !isError,
    output,
    ...(isError && { error: output }),
    ...(isError && code !== undefined && { code }),
    ...(structuredContent !== undefined && { structured: structuredContent }),
  };
}

/**
 * Returns the result of a run. `what`: the name of what ran, used at the start of messages: `made.report`. A returned value that
 * looks like a tool result is treated as any other data. A string is returned unchanged, any other value as JSON. null: the code
 * waits, so there is no result yet.
 */
export function resultOfCode(run: SandboxEnd, what: string): ToolResult | null {
  switch (run.end) {
    case 'returned':
      return withConsole(returned(run.value), run.console);
    case 'threw':
      return withConsole(errorResult('tool_error', `${what} failed: ${run.message}`), run.console);
    case 'limit':
      return withConsole(errorResult(run.limit === 'fuel' ? 'timeout' : 'limit_reached', `${what}: ${run.message}`), run.console);
    case 'aborted':
      return withConsole(errorResult('aborted', `${what} was stopped before it ended.`), run.console);
    case 'suspended':
      return null;
    default:
      return run satisfies never;
  }
}

function returned(value: JsonValue): ToolResult {
  if (typeof value === 'string') return textResult(value);
  const result = textResult(JSON.stringify(value));
  return isObject(value) ? { ...result, structuredContent: value } : result;
}

function isObject(value: JsonValue): value is { readonly [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** In a separate block, so that printed output never mixes with the returned value. */
function withConsole(result: ToolResult, text: string): ToolResult {
  return text === '' ? result : { ...result, content: [...result.content, { type: 'text', text: `console:\n${text}` }] };
}
