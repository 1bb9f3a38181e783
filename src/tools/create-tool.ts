/** `create_tool`: a model writes a tool that calls other tools, and it is stored. `engine/configuration/tool-maker.ts` builds it. */
import { boundedText } from '../core/text/bounded-text.ts';
import * as z from 'zod';
import { limits } from '../core/limits/limits.ts';
import { MadeParameter } from '../core/tools/made-tool.ts';
import { Problem, type Issue } from '../core/problem.ts';
import type { MadeToolOutcome } from '../ports/tool-maker.ts';
import { textResult } from '../core/tools/tool.ts';
import { defineTool, ToolFault } from './define-tool.ts';

const description = `Creates a tool from tools that you have, for repeated tasks. It is stored, is private to your API key, and can be called like any other tool from the next turn on.
The implementation is the body of an async JavaScript function. It can use \`args\` (its arguments), \`tools\` and \`console\`, but no network, file system or modules. \`await tools.<name>({...})\` calls a tool by one of its names. It never throws when the tool fails; it returns {success, output, error, structured}: output is text (of the shell: stdout) and empty on failure, error has the error text. The return value of the code is the result; the result of a call may be returned as it is.
Example: const read = await tools.read_file({ path: args.path }); if (!read.success) return { error: read.error }; return { lines: read.output.split("\\n").length };`;

export const createTool = defineTool({
  name: 'create_tool',
  description,
  input: z.strictObject({
    name: z.string().min(1).max(128).describe('2 to 64 characters of a-z, 0-9, "_" and "-", starting with a letter, such as count_lines'),
    description: boundedText(limits.maxDescriptionBytes)
      .min(1)
      .describe('What it does and when to use it. Callers see only this description'),
    parameters: z
      .array(
        z.strictObject({
          name: z.string(),
          type: MadeParameter.shape.type,
          description: z.string().optional(),
          required: z.boolean().optional().describe('Default: true'),
          default: z.unknown().optional().describe('Value used when the argument is omitted'),
        }),
      )
      .max(limits.maxMadeParameters)
      .default([]),
    implementation: z.string().min(1).describe('Body of an async function that can use `args`, `tools` and `console`'),
    aliases: z.array(z.string()).max(limits.maxAliasesPerEntry).optional().describe('Additional names for calling it'),
    uses: z
      .array(z.string())
      .max(limits.maxMadeUses)
      .optional()
      .describe('Tools that it may call. Needed only if the code does not name them as tools.<name> or tools["<name>"]'),
    share: z
      .boolean()
      .optional()
      .describe('true: every key of the workspace may call it. Requires the scope "toolsets" and an approval. Default: private'),
    toolset: z
      .string()
      .optional()
      .describe('Toolset to add it to, which shares it with every user of that toolset. Requires the scope "toolsets" and an approval'),
  }),
  annotations: { title: 'Create a tool', readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  usesFiles: false,
  async run({ toolset, share, aliases, uses, ...request }, { maker }) {
    if (maker === null) throw new ToolFault('Tools cannot be created in this context.');
    try {
      const place = { ...(toolset !== undefined && { toolset }), ...(share !== undefined && { share }) };
      const asked = { ...request, ...(aliases && { aliases }), ...(uses && { uses }), ...place };
      const made = await (await maker.prepare(asked)).store();
      return { ...textResult(describeOutcome(made)), structuredContent: shown(made) };
    } catch (error) {
      if (error instanceof Problem && error.code === 'invalid_request') throw new ToolFault(faults(error));
      throw error;
    }
  },
});

function describeOutcome({ canonical, version, uses, outcome, shared, toolset, warnings }: MadeToolOutcome): string {
  const did = { made: 'Created', replaced: 'Replaced', unchanged: 'Nothing changed. The same tool already exists:' }[outcome];
  const calls = uses.length === 0 ? 'It calls no other tool.' : `It may call only ${uses.join(', ')}.`;
  const name = canonical.slice(canonical.indexOf('.') + 1);
  const lines = [
    `${did} ${canonical}, version ${version}. ${calls}`,
    shared ? 'It is shared: every key of the workspace may call it.' : 'It is private: no other key can see or call it.',
    `From the next turn on, agents with \`made: true\` can call it as ${name}${shared ? ', and so can users of each toolset that lists it' : ''}.`,
    ...(toolset === null
      ? []
      : ['fault' in toolset ? notListed(toolset) : `The toolset ${toolset.name} lists it from version ${toolset.version} on.`]),
    ...warnings.map((warning) => `Warning: ${warning}`),
  ];
  return lines.join('\n');
}

function notListed({ name, fault }: { name: string; fault: string }): string {
  return `It was not added to the toolset ${name}: ${fault}`;
}

function shown({ canonical, version, uses, aliases, outcome, shared, toolset }: MadeToolOutcome) {
  return {
    tool: canonical,
    version,
    outcome,
    visibility: shared ? 'shared' : 'private',
    uses: [...uses],
    aliases: [...aliases],
    ...(toolset !== null && { toolset }),
  };
}

/** The fields of an issue are written by our own code, so their types are trusted. */
function faults({ detail, extra }: Problem): string {
  const issues = (extra.issues ?? []) as readonly Issue[];
  const lines = issues.slice(0, limits.maxReportedWarnings).map(({ path, message }) => `- ${path}: ${message}`);
  return lines.length === 0 ? `Not created. ${detail}` : `Not created. Fix these and call it again.\n${lines.join('\n')}`;
}
