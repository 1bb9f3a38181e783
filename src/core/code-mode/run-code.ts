/**
 * The tool that runs code over the other tools: its definition, for the toolset that lists it (`tools/run-code.ts` runs it) and for the model
 * that has it in place of all others (`engine/plan/code-names.ts`).
 */
import { z } from 'zod';
import type { EditionTool } from '../edition-tool.ts';
import { injectedTool } from '../injected-tool.ts';
import { limits } from '../limits.ts';

export const runCodeName = 'run_code';

/** Short of 1,024 characters, where some providers cut; what can be called is told elsewhere. */
export const runCodeDescription = [
  'Runs JavaScript over your tools. The code is the body of an async function: `await tools.<name>({…})` calls a tool, and `return` says what you want to see.',
  'A call answers `{success, output, error?, code?, structured?}`: `output` is its text, often JSON to parse; `structured` its data where the tool has such. A call that fails does not throw: look at `success`.',
  'Results stay in the code: only what you return or print with console.log comes back. So filter, count and join there, and return little. Independent calls run at once with Promise.all.',
  'No imports, network, files or timers but through tools; plain JavaScript, without types.',
].join('\n');

export const RunCodeInput = z.strictObject({
  code: z
    .string()
    .min(1)
    .max(limits.maxImplementationBytes)
    .describe('Such as: const r = await tools.search({ query: "x" }); if (!r.success) return r.error; return JSON.parse(r.output).length'),
});

/** As it is offered where the toolset does not list it. What its code calls is judged call by call; it itself has no effect. */
export const runCodeTool: EditionTool = {
  ...injectedTool(runCodeName, runCodeDescription, RunCodeInput),
  // Not even that: arguments that had to be guessed are no program.
  annotations: { readOnlyHint: false },
};
export const runCodeCanonical = runCodeTool.canonical;
