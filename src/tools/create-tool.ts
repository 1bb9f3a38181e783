/** `create_tool`: a model writes a tool of the tools it has, which is kept. What is made of it is `engine/tool-maker.ts`. */
import { z } from 'zod';
import { limits } from '../core/limits.ts';
import { MadeParameter } from '../core/made-tool.ts';
import { Problem, type Issue } from '../core/problem.ts';
import type { Made } from '../ports/tool-maker.ts';
import { defineTool, ToolFault } from './define-tool.ts';

const description = `Makes a tool out of tools that you have, for jobs that are repeated. It is stored, private to the key that you run with, and can be called like any other from the next turn on.
The implementation is the body of an async JavaScript function. It has \`args\` (its arguments), \`tools\` and \`console\`; there is no network, no file system and no module. \`await tools.<name>({...})\` calls a tool by a name that it has here and never throws for what goes wrong there: it gives {success, output, error, structured}, where output is text. What the code returns is the result.
Example: const read = await tools.read_file({ path: args.path }); if (!read.success) return { error: read.error }; return { lines: read.output.split("\\n").length };`;

export const createTool = defineTool({
  name: 'create_tool',
  description,
  input: z.strictObject({
    name: z.string().min(1).max(128).describe('2 to 64 of a-z, 0-9, "_" and "-", beginning with a letter, such as count_lines'),
    description: z
      .string()
      .min(1)
      .max(limits.maxDescriptionBytes)
      .describe('What it does and when to use it: whoever calls it reads nothing else'),
    parameters: z
      .array(
        z.strictObject({
          name: z.string(),
          type: MadeParameter.shape.type,
          description: z.string().optional(),
          required: z.boolean().optional().describe('Absent: true'),
          default: z.unknown().optional().describe('Taken where it is not given'),
        }),
      )
      .max(limits.maxMadeParameters)
      .default([]),
    implementation: z.string().min(1).describe('Body of an async function over `args`, `tools` and `console`'),
    aliases: z.array(z.string()).max(limits.maxAliasesPerEntry).optional().describe('Further names by which it can be called'),
    uses: z
      .array(z.string())
      .max(limits.maxMadeUses)
      .optional()
      .describe('The tools that it may call; needed only where the code does not name them as tools.<name> or tools["<name>"]'),
    share: z
      .boolean()
      .optional()
      .describe('true: every key of the workspace may call it. Needs the scope "toolsets" and an approval. Absent: private'),
    toolset: z
      .string()
      .optional()
      .describe('A toolset to list it in as well, which shares it with everybody who uses that. Needs the same'),
  }),
  annotations: { title: 'Make a tool', readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async run({ toolset, share, aliases, uses, ...request }, { maker }) {
    if (maker === null) throw new ToolFault('No tool can be made from here.');
    try {
      const place = { ...(toolset !== undefined && { toolset }), ...(share !== undefined && { share }) };
      const asked = { ...request, ...(aliases && { aliases }), ...(uses && { uses }), ...place };
      const made = await (await maker.prepare(asked)).store();
      return { isError: false, content: [{ type: 'text' as const, text: told(made) }], structuredContent: shown(made) };
    } catch (error) {
      if (error instanceof Problem && error.code === 'invalid_request') throw new ToolFault(faults(error));
      throw error;
    }
  },
});

function told({ canonical, version, uses, outcome, shared, toolset, warnings }: Made): string {
  const did = { made: 'Made', replaced: 'Replaced', unchanged: 'Nothing changed: there is already such a tool,' }[outcome];
  const calls = uses.length === 0 ? 'It calls no other tool.' : `It may call ${uses.join(', ')}, and no other.`;
  const name = canonical.slice(canonical.indexOf('.') + 1);
  const lines = [
    `${did} ${canonical}, version ${version}. ${calls}`,
    shared ? 'It is shared: every key of the workspace may call it.' : 'It is private: no other key can see or call it.',
    `From the next turn on it can be called as ${name} by agents that are offered made tools (\`made: true\`)${shared ? ', and wherever a toolset lists it' : ''}.`,
    ...(toolset === null
      ? []
      : ['fault' in toolset ? notListed(toolset) : `The toolset ${toolset.name} lists it as of its version ${toolset.version}.`]),
    ...warnings.map((warning) => `To note: ${warning}`),
  ];
  return lines.join('\n');
}

function notListed({ name, fault }: { name: string; fault: string }): string {
  return `The toolset ${name} could not take it: ${fault}`;
}

function shown({ canonical, version, uses, aliases, outcome, shared, toolset }: Made) {
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

/** The members of an issue were made by us. */
function faults({ detail, extra }: Problem): string {
  const issues = (extra.issues ?? []) as readonly Issue[];
  const lines = issues.slice(0, limits.maxToldAdvice).map(({ path, message }) => `- ${path}: ${message}`);
  return lines.length === 0 ? `Not made. ${detail}` : `Not made: mend this and call it again.\n${lines.join('\n')}`;
}
