/**
 * Built-in tools that a turn gets although its toolset does not list them (contract §3.4). `use_skill` is in
 * `skill-prompt.ts` and `run_code` in `run-code.ts`; `engine/plan/plan-names.ts` decides which turns get which, and `tools/` runs them.
 */
import * as z from 'zod';
import type { EditionTool } from './edition-tool.ts';
import { CanonicalName, WireName } from '../names/names.ts';
import { type JsonSchema, toInputSchema } from '../tools/tool.ts';
import { limits } from '../limits/limits.ts';
import { KB } from '../limits/units.ts';

type InjectedSpec = { name: string; description: string; input: z.ZodObject };

/** `own`: fields that differ. The JSON Schema is made at its first use: that of all tools in code would take a tenth of the start. */
export function injectedTool({ name, description, input }: InjectedSpec, own: Partial<EditionTool> = {}): EditionTool {
  let inputSchema: JsonSchema | undefined;
  return {
    canonical: CanonicalName.parse(`builtin.${name}`),
    wireName: WireName.parse(name),
    ownName: name,
    server: 'builtin',
    kind: 'builtin',
    description,
    get inputSchema() {
      inputSchema ??= toInputSchema(input);
      return inputSchema;
    },
    annotations: { readOnlyHint: true },
    aliases: [],
    state: 'ready',
    pin: '',
    ...own,
  };
}

// The tool that searches for tools: its definition, for toolsets that list it (`tools/injected-tools.ts` runs it) and for turns that get it
// because their toolset has too many tools to send them all (`engine/plan/plan-names.ts`). `tool-index.ts` does the search.

const defaultFoundTools = 5;

export const findToolsSpec = {
  name: 'find_tools',
  description:
    'Finds tools by what they do. You have more tools than are listed: before you say that something cannot be done, describe it here in a few words. Returns the best matching tools with their arguments; you can call them afterwards.',
  input: z.strictObject({
    query: z
      .string()
      .min(1)
      .max(limits.maxFindQueryLength)
      .describe('What the tool should do, in a few words such as "create an issue on GitHub", or a part of its name'),
    limit: z.int().min(1).max(limits.maxFoundTools).default(defaultFoundTools).describe('Maximum number of tools to return'),
  }),
};

/** The definition for a turn whose toolset does not list it. */
export const findToolsTool = injectedTool(findToolsSpec);
export const findToolsCanonical = findToolsTool.canonical;

/** Of the tool that calls another one for MCP clients that are not listed it (`engine/mcp/shown-tools.ts`). */
export const callToolCanonical = 'builtin.call_tool';

// The tool that reads the rest of a result that was too long to be shown: its definition, for toolsets that list it
// (`tools/injected-tools.ts` runs it) and for turns that get it because a result was cut (`engine/plan/plan-names.ts`).

export const fetchedResultBytes = 48 * KB;

export const fetchResultSpec = {
  name: 'fetch_result',
  description:
    'Reads the rest of a long tool result of this session that was cut. The note at the cut gives callId and offset. Returns the text from that offset with its images, the offset of the next piece, and the total size.',
  input: z.strictObject({
    callId: z.string().min(1).max(200).describe('Id of the call whose result was cut, as given in the note at the cut'),
    offset: z.int().min(0).default(0).describe('Offset to start at, as given in the note or in the previous result'),
    maxBytes: z
      .int()
      .min(1)
      .max(fetchedResultBytes)
      .default(fetchedResultBytes)
      .describe(`Maximum bytes of text to return, up to ${fetchedResultBytes}`),
  }),
};

/** The definition for a turn whose toolset does not list it. */
export const fetchResultTool = injectedTool(fetchResultSpec);
