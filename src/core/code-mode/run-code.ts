/**
 * The tool that runs code over the other tools: its definition, for toolsets that list it (`tools/run-code.ts` runs it) and for
 * models that get it instead of all others (`engine/plan/code-names.ts`).
 */
import { z } from 'zod';
import type { EditionTool } from '../toolset/edition-tool.ts';
import { injectedTool } from '../tools/injected-tool.ts';
import { limits } from '../limits.ts';

export const runCodeName = 'run_code';

/** Shorter than 1,024 characters, at which some providers cut; the callable tools are described elsewhere. */
export const runCodeDescription = [
  'Runs JavaScript over your tools. The code is the body of an async function: `await tools.<name>({…})` calls a tool, and `return` sets the result that you see.',
  'A call returns `{success, output, error?, code?, structured?}`: `output` is its text, often JSON to parse; `structured` is its data, if the tool provides it. A failed call does not throw: check `success`.',
  'Results stay in the code: you only see what you return or print with console.log. Filter, count and join in code, and return only what you need. Run independent calls in parallel with Promise.all.',
  'No imports, network, files or timers except through tools. Plain JavaScript, without types.',
].join('\n');

export const RunCodeInput = z.strictObject({
  code: z
    .string()
    .min(1)
    .max(limits.maxImplementationBytes)
    .describe('Example: const r = await tools.search({ query: "x" }); if (!r.success) return r.error; return JSON.parse(r.output).length'),
});

/**
 * The definition for toolsets that do not list it. The policy checks each call that the code makes; the tool itself has no effect.
 */
export const runCodeTool: EditionTool = {
  ...injectedTool(runCodeName, runCodeDescription, RunCodeInput),
  // Overrides the read-only hint too: arguments that had to be repaired are not run as a program.
  annotations: { readOnlyHint: false },
};
export const runCodeCanonical = runCodeTool.canonical;
