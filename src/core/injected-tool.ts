/**
 * Tools of ours that a turn is given although its toolset does not list them (DESIGN §3.4), in the form in which it is offered them.
 * Each stands in a file of its own (`find-tools.ts`, `use-skill.ts`, `fetch-result.ts`); who is given which is said by
 * `engine/plan/plan-names.ts`, and `tools/` runs them.
 */
import type { z } from 'zod';
import type { EditionTool } from './edition-tool.ts';
import { CanonicalName, WireName } from './names.ts';
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
