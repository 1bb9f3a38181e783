/**
 * `run_code`: a model's code over the tools of its turn. The sandbox runs it, each call that it makes goes through the one door by itself, and
 * what it returns is the result.
 */
import { resultOfCode } from '../core/code-result.ts';
import { runCodeDescription, RunCodeInput, runCodeName } from '../core/code-mode/run-code.ts';
import { withoutFence } from '../core/made/code-fence.ts';
import { readCodeUses } from '../core/made/code-uses.ts';
import { isObjectMember } from '../core/reserved-names.ts';
import { errorResult, type ToolResult } from '../core/tool.ts';
import type { InnerAnswer, InnerCalls } from '../ports/inner-calls.ts';
import type { ToolAnswer } from '../ports/tool-executor.ts';
import { defineTool, ToolFault } from './define-tool.ts';

export const runCode = defineTool({
  name: runCodeName,
  description: runCodeDescription,
  input: RunCodeInput,
  annotations: { title: 'Run code', readOnlyHint: false, openWorldHint: true },
  // What it called is in the journal, so that a second run goes on where the first one stopped.
  isSafe: () => true,
  async run({ code }, { sandbox, calls, signal, idempotencyKey, now }): Promise<ToolAnswer> {
    if (sandbox === null) throw new ToolFault('Code cannot be run here. Call the tools one by one.');
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
    const result = resultOfCode(run, runCodeName);
    if (result === null) return { ...errorResult('aborted', `${runCodeName} waits.`), suspended: true };
    if (result.isError) return withLine(result, whatNow(made));
    const saysNothing = run.end === 'returned' && run.value === null && run.console === '';
    return saysNothing ? withLine(result, 'The code returned nothing: only what it returns or prints is seen. Use `return`.') : result;
  },
});

/**
 * The tools by their names, and whatever else the code calls: the door knows their other names as well, and says of what is none what might
 * have been meant.
 */
function namesFor(source: string, calls: InnerCalls | null): string[] {
  const called = readCodeUses(source).names.flatMap(({ name }) => (isObjectMember(name) ? [] : [name]));
  return [...new Set([...(calls?.tools.map(({ name }) => name) ?? []), ...called])];
}

async function noTools(): Promise<InnerAnswer> {
  return { waits: false, result: errorResult('unknown_tool', 'There are no tools here that code could call.') };
}

/** What was done stays done: whoever mends the code has to know. */
function whatNow(made: readonly string[]): string {
  if (made.length === 0) return 'It had called no tool. Mend the code and run it again.';
  const counts = new Map<string, number>();
  for (const name of made) counts.set(name, (counts.get(name) ?? 0) + 1);
  const told = [...counts].slice(0, maxToldTools).map(([name, count]) => (count === 1 ? name : `${name} (${count} times)`));
  const more = counts.size - told.length;
  return `It had called ${told.join(', ')}${more > 0 ? ` and ${more} more` : ''}, which is not taken back. Mend the code and run what is left of it.`;
}

const maxToldTools = 12;

function withLine(result: ToolResult, text: string): ToolResult {
  return { ...result, content: [...result.content, { type: 'text', text: `[${text}]` }] };
}
