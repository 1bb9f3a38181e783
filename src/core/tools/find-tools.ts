/**
 * The tool that searches for tools: its definition, for toolsets that list it (`tools/find-tools.ts` runs it) and for turns that get
 * it because their toolset has too many tools to send them all (`engine/plan/plan-names.ts`). `tool-index.ts` does the search.
 */
import { z } from 'zod';
import { injectedTool } from './injected-tool.ts';
import { limits } from '../limits.ts';

const defaultFoundTools = 5;

export const findToolsName = 'find_tools';

export const findToolsDescription =
  'Finds tools by what they do. You have more tools than are listed: before you say that something cannot be done, describe it here in a few words. Returns the best matching tools with their arguments; you can call them afterwards.';

export const FindToolsInput = z.strictObject({
  query: z
    .string()
    .min(1)
    .max(limits.maxFindQueryLength)
    .describe('What the tool should do, in a few words such as "create an issue on GitHub", or a part of its name'),
  limit: z.int().min(1).max(limits.maxFoundTools).default(defaultFoundTools).describe('Maximum number of tools to return'),
});

/** The definition for a turn whose toolset does not list it. */
export const findToolsTool = injectedTool(findToolsName, findToolsDescription, FindToolsInput);
export const findToolsCanonical = findToolsTool.canonical;
