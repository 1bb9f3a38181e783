/** Runs made tools: their code, over the calls beneath that it may make. What it may call has been said by whoever gave it those. */
import { resultOfCode } from '../core/code-result.ts';
import type { EditionTool } from '../core/edition-tool.ts';
import type { MadeCode } from '../core/edition-tool.ts';
import { readCodeUses } from '../core/made/code-uses.ts';
import { isObjectMember } from '../core/reserved-names.ts';
import { errorResult, type JsonSchema, type ToolResult } from '../core/tool.ts';
import type { Sandbox } from '../ports/sandbox.ts';
import type { ToolAnswer, ToolContext, ToolExecutor } from '../ports/tool-executor.ts';

export function createMadeExecutor(sandbox: Sandbox): ToolExecutor {
  return {
    // Its journal answers what had finished before; what had not is judged call by call.
    isSafe: () => true,
    execute: async (tool, args, context) => await runMade(sandbox, tool, args, context),
  };
}

async function runMade(sandbox: Sandbox, tool: EditionTool, args: Record<string, unknown>, context: ToolContext): Promise<ToolAnswer> {
  const { calls } = context;
  if (tool.made === undefined) return errorResult('tool_error', `${tool.canonical} has no code here. Publish its toolset again.`);
  if (calls === null) return errorResult('tool_error', `${tool.canonical} is made of other tools, and none can be called from here.`);
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
  return result ?? { ...errorResult('aborted', `${tool.canonical} waits for a call that it has made.`), suspended: true };
}

/** Mostly a function that is declared and never called: the code is the body of one. */
function withHint({ canonical }: EditionTool, result: ToolResult): ToolAnswer {
  const text = `[${canonical} called no tool and returned nothing. Its code is the body of a function, which ends with \`return\`.]`;
  return { ...result, content: [...result.content, { type: 'text', text }] };
}

/** All that its code was written with, in whatever spelling: what each means, the door knows. */
function namesIn(made: MadeCode): readonly string[] {
  const before = written.get(made);
  if (before !== undefined) return before;
  const names = readCodeUses(made.implementation).names.flatMap(({ name }) => (isObjectMember(name) ? [] : [name]));
  written.set(made, names);
  return names;
}

const written = new WeakMap<MadeCode, readonly string[]>();

/** What the caller left out is there, as its parameters say. */
function withDefaults(args: Record<string, unknown>, { properties }: JsonSchema): Record<string, unknown> {
  if (typeof properties !== 'object' || properties === null) return args;
  const filled = new Map(Object.entries(args));
  for (const [name, schema] of Object.entries(properties)) {
    if (filled.has(name) || typeof schema !== 'object' || schema === null || !('default' in schema)) continue;
    filled.set(name, schema.default);
  }
  return Object.fromEntries(filled);
}
