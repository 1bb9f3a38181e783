/**
 * `run_code`: runs a model's code with the tools of its turn. Each call from the code goes through `engine/call/call-tool.ts`, and the return
 * value of the code is the result.
 */
import { resultOfCode, runCodeSpec } from '../core/turn/run-code.ts';
import { withoutFence, readCodeUses } from '../core/made/code-uses.ts';
import { isObjectMember } from '../core/names/reserved-names.ts';
import { errorResult, type ToolResult } from '../core/tools/tool.ts';
import type { InnerOutcome, InnerCalls } from '../ports/inner-calls.ts';
import type { ToolOutcome } from '../ports/tool-executor.ts';
import { defineTool, ToolFault } from './define-tool.ts';
import { listFirst } from '../core/text/paragraphs.ts';

export const runCodeBuiltin = defineTool({
  ...runCodeSpec,
  annotations: { title: 'Run code', readOnlyHint: false, openWorldHint: true },
  // The journal records its calls, so a second run resumes where the first one stopped.
  isSafe: () => true,
  async run({ code }, { sandbox, calls, signal, idempotencyKey, now }): Promise<ToolOutcome> {
    if (sandbox === null) throw new ToolFault('Code cannot be run in this context. Call the tools one by one.');
    const source = withoutFence(code);
    const made: string[] = [];
    const run = await sandbox.run(
      {
        source,
        args: {},
        tools: namesFor(source, calls),
        ...(calls?.replay ?? { now: now(), seed: idempotencyKey }),
        call: (name, args) => {
          made.push(name);
          return calls === null ? noTools() : calls.call(name, args);
        },
      },
      signal,
    );
    const result = resultOfCode(run, runCodeSpec.name);
    if (result === null) return { ...errorResult('aborted', `${runCodeSpec.name} waits.`), suspended: true };
    if (result.isError) return withLine(result, callsMadeNote(made));
    const saysNothing = run.end === 'returned' && run.value === null && run.console === '';
    return saysNothing
      ? withLine(result, 'The code returned nothing. Only returned or printed values are visible to you: use `return`.')
      : result;
  },
});

/**
 * Returns the names that the code can use: those of the tools, and every other name that the code calls. `engine/call/call-tool.ts` resolves
 * aliases and returns suggestions for unknown names.
 */
function namesFor(source: string, calls: InnerCalls | null): string[] {
  const called = readCodeUses(source).names.flatMap(({ name }) => (isObjectMember(name) ? [] : [name]));
  return [...new Set([...(calls?.tools.map(({ name }) => name) ?? []), ...called])];
}

async function noTools(): Promise<InnerOutcome> {
  return { waits: false, result: errorResult('unknown_tool', 'This context has no tools that code can call.') };
}

/** Lists the calls that were already made: they are not undone when the code fails. */
function callsMadeNote(made: readonly string[]): string {
  if (made.length === 0) return 'No tool was called before the failure. Fix the code and run it again.';
  const counts = new Map<string, number>();
  for (const name of made) counts.set(name, (counts.get(name) ?? 0) + 1);
  const told = Array.from(counts, ([name, count]) => (count === 1 ? name : `${name} (${count} times)`));
  return `These calls were already made and are not undone: ${listFirst(told, maxToldTools)}. Fix the code and run only the remaining part.`;
}

const maxToldTools = 12;

function withLine(result: ToolResult, text: string): ToolResult {
  return { ...result, content: [...result.content, { type: 'text', text: `[${text}]` }] };
}
