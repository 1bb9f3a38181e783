/**
 * Both ways across the border of code over tools: a tool's result as such code sees it, and the end of a run as whoever called the code
 * reads it. Shared by the executor of made tools and by code mode. The running itself is behind `ports/sandbox.ts`.
 */
import type { JsonValue } from './json-value.ts';
import { contentText, errorResult, textResult, type ToolResult } from './tool.ts';

/** Which bound it ran into. */
export type SandboxLimit = 'fuel' | 'memory' | 'stack' | 'jobs' | 'calls' | 'arguments' | 'output' | 'never_settles' | 'queue';

/**
 * `console`: what was printed, bounded. `threw`: the message has the line where there is one. `suspended`: all that it waits for has said
 * that it waits.
 */
export type SandboxEnd = { console: string } & (
  | { end: 'returned'; value: JsonValue }
  | { end: 'threw'; message: string }
  | { end: 'limit'; limit: SandboxLimit; message: string }
  | { end: 'suspended' }
  | { end: 'aborted' }
);

/**
 * What a call beneath answered, for code. `output` is there on failure too, so that code that does not look at `success` reads what went
 * wrong and not "undefined".
 */
export type CodeAnswer = {
  success: boolean;
  output: string;
  error?: string;
  code?: string;
  structured?: Record<string, unknown>;
};

export function codeAnswer({ isError, code, content, structuredContent }: ToolResult): CodeAnswer {
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
 * `what`: who ran, as a sentence begins with it: `made.report`. A returned value that looks like a result is data like any other; text is
 * the answer as it stands, anything else its JSON. null: it waits, so there is no result yet.
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
      return withConsole(errorResult('aborted', `${what} was stopped before it had ended.`), run.console);
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

/** In a block of its own: what code prints never mixes with what it returns. */
function withConsole(result: ToolResult, text: string): ToolResult {
  return text === '' ? result : { ...result, content: [...result.content, { type: 'text', text: `console:\n${text}` }] };
}
