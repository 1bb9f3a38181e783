/**
 * The tool that runs code over the other tools: its definition, for toolsets that list it (`tools/run-code.ts` runs it) and for
 * models that get it instead of all others (`engine/plan/plan-names.ts`).
 */
import { boundedText } from '../text/bounded-text.ts';
import * as z from 'zod';
import { injectedTool } from '../toolset/injected-tool.ts';
import { limits } from '../limits/limits.ts';
import { isRecord, type JsonValue } from '../json/wire-value.ts';
import { contentText, errorResult, textResult, type ToolResult } from '../tools/tool.ts';

export const runCodeSpec = {
  name: 'run_code',
  /** Shorter than 1,024 characters, at which some providers cut; the callable tools are described elsewhere. */
  description: [
    'Runs JavaScript over your tools. The code is the body of an async function: `await tools.<name>({…})` calls a tool, and `return` sets the result that you see.',
    'A call returns `{success, output, error?, code?, structured?}`: `output` is its text, often JSON to parse; `structured` is its data, if the tool provides it. `output` of the shell is its stdout. A failed call does not throw: check `success`; its `output` is empty, and `error` has the text. Returning the result of a call returns it unchanged, with its images and its failure.',
    'Results stay in the code: you only see what you return or print with console.log. Filter, count and join in code, and return only what you need. Run independent calls in parallel with Promise.all.',
    'No imports, network, files or timers except through tools. Plain JavaScript, without types.',
  ].join('\n'),
  input: z.strictObject({
    code: boundedText(limits.maxImplementationBytes)
      .min(1)
      .describe(
        'Example: const r = await tools.search({ query: "x" }); if (!r.success) return r.error; return JSON.parse(r.output).length',
      ),
  }),
};

/**
 * The definition for toolsets that do not list it. The policy checks each call that the code makes; the tool itself has no effect.
 */
export const runCodeTool = injectedTool(runCodeSpec, {
  // Overrides the read-only hint too: arguments that had to be repaired are not run as a program.
  annotations: { readOnlyHint: false },
});
export const runCodeCanonical = runCodeTool.canonical;

// Conversions between tool results and code that calls tools: a tool result as the code sees it, and the end of a run as the caller of
// the code sees it. Shared by the executor of made tools and by code mode. `ports/sandbox.ts` runs the code.

/** The limit that the run reached. */
export type SandboxLimit = 'fuel' | 'memory' | 'stack' | 'jobs' | 'calls' | 'arguments' | 'output' | 'never_settles' | 'queue';

/**
 * `console`: the printed output, bounded. `passed`: the code returned the unchanged result of a call. `threw`: the message includes the line if it is known. `suspended`: all calls that the code
 * waits for are waiting themselves.
 */
export type SandboxEnd = { console: string } & (
  | { end: 'returned'; value: JsonValue }
  | { end: 'passed'; result: ToolResult }
  | { end: 'threw'; message: string }
  | { end: 'limit'; limit: SandboxLimit; message: string }
  | { end: 'suspended' }
  | { end: 'aborted' }
);

/**
 * The result of an inner call, as the code sees it. `output` is empty on failure, so that code that ignores `success` does not take the
 * error for data.
 */
type CodeCallResult = {
  success: boolean;
  output: string;
  error?: string;
  code?: string;
  structured?: unknown;
};

/** `output`: what the code gets as the output, if it is not the text of the content. */
export function toCodeCallResult({ isError, code, content, structuredContent }: ToolResult, output?: string): CodeCallResult {
  return {
    success: !isError,
    output: isError ? '' : (output ?? textOf({ content, structuredContent })),
    ...(isError && { error: contentText(content) }),
    ...(isError && code !== undefined && { code }),
    ...(structuredContent !== undefined && { structured: structuredContent }),
  };
}

/** Data without content is also its text. */
function textOf({ content, structuredContent }: Pick<ToolResult, 'content' | 'structuredContent'>): string {
  return content.length === 0 && structuredContent !== undefined ? JSON.stringify(structuredContent) : contentText(content);
}

/**
 * Returns the result of a run. `what`: the name of what ran, used at the start of messages: `made.report`. A returned value that
 * only looks like a tool result is treated as any other data. A string is returned unchanged, any other value as JSON. null: the code
 * waits, so there is no result yet.
 */
export function resultOfCode(run: SandboxEnd, what: string): ToolResult | null {
  switch (run.end) {
    case 'returned':
      return withConsole(returned(run.value), run.console);
    case 'passed':
      return withConsole(run.result, run.console);
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
  return isRecord(value) ? { ...result, structuredContent: value } : result;
}

/** In a separate block, so that printed output never mixes with the returned value. */
function withConsole(result: ToolResult, text: string): ToolResult {
  return text === '' ? result : { ...result, content: [...result.content, { type: 'text', text: `console:\n${text}` }] };
}
