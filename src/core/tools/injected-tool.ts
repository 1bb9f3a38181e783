/**
 * Built-in tools that a turn gets although its toolset does not list them (contract §3.4). Each one has its own file (`find-tools.ts`,
 * `skill-prompt.ts`, `fetch-result.ts`); `engine/plan/plan-names.ts` decides which turns get which, and `tools/` runs them.
 */
import type { z } from 'zod';
import type { EditionTool } from '../toolset/edition-tool.ts';
import { CanonicalName, WireName } from '../names/names.ts';
import { toInputSchema } from './tool.ts';

export function injectedTool(name: string, description: string, input: z.ZodObject): EditionTool {
  return {
    canonical: CanonicalName.parse(`builtin.${name}`),
    wireName: WireName.parse(name),
    ownName: name,
    server: 'builtin',
    kind: 'builtin',
    description,
    inputSchema: toInputSchema(input),
    annotations: { readOnlyHint: true },
    aliases: [],
    state: 'ready',
    pin: '',
  };
}
