/**
 * The tool that looks for tools: its definition, for the toolset that lists it (`tools/find-tools.ts` runs it) and for the turn that is
 * given it because its toolset has too many tools to send them all (`engine/plan/plan-names.ts`). How it looks is `tool-index.ts`.
 */
import { z } from 'zod';
import { injectedTool } from './injected-tool.ts';
import { limits } from './limits.ts';

export const findToolsName = 'find_tools';

export const findToolsDescription =
  'Finds tools by what they do. You have more tools than are listed here: before you say that something cannot be done, describe it here in a few words. Answers the tools that fit best, with their arguments; they can be called from then on.';

export const FindToolsInput = z.strictObject({
  query: z
    .string()
    .min(1)
    .max(limits.maxFindQueryLength)
    .describe('What the tool should do, in a few words such as "create an issue on GitHub", or a part of its name'),
  limit: z.int().min(1).max(limits.maxFoundTools).default(limits.defaultFoundTools).describe('At most this many tools'),
});

/** As it is offered to a turn whose toolset does not list it. */
export const findToolsTool = injectedTool(findToolsName, findToolsDescription, FindToolsInput);
export const findToolsCanonical = findToolsTool.canonical;
