/** Runs made tools: their code in the sandbox, with the nested calls that the context allows. */
import { memoizeByObject } from '../core/memoize.ts';
import { resultOfCode } from '../core/turn/run-code.ts';
import type { EditionTool } from '../core/toolset/edition-tool.ts';
import type { MadeCode } from '../core/toolset/edition-tool.ts';
import { readCodeUses } from '../core/made/code-uses.ts';
import { isObjectMember } from '../core/names/reserved-names.ts';
import { errorResult, type JsonSchema, type ToolResult } from '../core/tools/tool.ts';
import type { ToolOutcome, ToolContext, ToolExecutor } from '../ports/tool-executor.ts';

export function createMadeExecutor(): ToolExecutor {
  return {
    // Safe to repeat: its journal returns the results of finished nested calls, and the others are checked one by one.
    isSafe: () => true,
    usesFiles: () => true,
    execute: async (tool, args, context) => await runMade(tool, args, context),
  };
}

async function runMade(tool: EditionTool, args: Record<string, unknown>, context: ToolContext): Promise<ToolOutcome> {
  const { calls, sandbox } = context;
  if (tool.made === undefined)
    return errorResult('tool_error', `${tool.canonical} has no code in this edition. Publish its toolset again.`);
  if (calls === null || sandbox === null)
    return errorResult('tool_error', `${tool.canonical} calls other tools, which is not possible here.`);
  let didNothing = true;
  const run = {
    source: tool.made.implementation,
    args: withDefaults(args, tool.sourceSchema ?? tool.inputSchema),
    tools: [...new Set([...calls.tools.flatMap(({ name, canonical, aliases }) => [name, canonical, ...aliases]), ...namesIn(tool.made)])],
    now: calls.replay.now,
    seed: calls.replay.seed,
    call: (name: string, given: unknown) => {
      didNothing = false;
      return calls.call(name, given);
    },
  };
  const end = await sandbox.run(run, context.signal);
  const result = resultOfCode(end, tool.canonical);
  if (didNothing && result !== null && end.end === 'returned' && end.value === null && end.console === '') return withHint(tool, result);
  return result ?? { ...errorResult('aborted', `${tool.canonical} waits for one of its nested calls.`), suspended: true };
}

/** Adds a hint to a run without calls and result: the code usually declares a function and never calls it. */
function withHint({ canonical }: EditionTool, result: ToolResult): ToolOutcome {
  const text = `[${canonical} called no tool and returned nothing. Its code is the body of a function; end it with \`return\`.]`;
  return { ...result, content: [...result.content, { type: 'text', text }] };
}

/** Returns all tool names in the code, in any spelling; `callTool` resolves them. */
const namesIn = memoizeByObject((made: MadeCode): readonly string[] =>
  readCodeUses(made.implementation).names.flatMap(({ name }) => (isObjectMember(name) ? [] : [name])),
);

/** Fills in the defaults of the tool's parameters for omitted arguments. */
function withDefaults(args: Record<string, unknown>, { properties }: JsonSchema): Record<string, unknown> {
  if (typeof properties !== 'object' || properties === null) return args;
  const filled = new Map(Object.entries(args));
  for (const [name, schema] of Object.entries(properties)) {
    if (filled.has(name) || typeof schema !== 'object' || schema === null || !('default' in schema)) continue;
    filled.set(name, schema.default);
  }
  return Object.fromEntries(filled);
}
