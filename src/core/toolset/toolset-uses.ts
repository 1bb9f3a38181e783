/** What depends on a toolset: shown before it is changed or deleted. */
import * as z from 'zod';
import { ToolsetName } from './toolset.ts';

const OfAgent = z.object({ name: z.string(), agent: z.string().meta({ description: 'The agent that has the toolset.' }) });

export const ToolsetUses = z
  .object({
    toolset: ToolsetName,
    agents: z
      .array(z.object({ name: z.string(), toolset: z.string() }))
      .meta({ description: 'Agents, with their `toolset`: the name, or a version such as `demo@3`.' }),
    keys: z.array(z.object({ id: z.string(), name: z.string(), agent: z.string().nullable() })).meta({
      description:
        'Valid keys that are bound to the toolset (`agent`: null), or to an agent that has it. Keys without bindings may use every toolset and are not listed.',
    }),
    webhooks: z.array(OfAgent),
    schedules: z.array(OfAgent),
    equipped: z.array(z.object({ id: z.string(), name: z.string() })).meta({ description: 'Keys that have it equipped at `/mcp`.' }),
    truncated: z.boolean().meta({ description: 'true: a list has more items than are shown.' }),
  })
  .meta({
    id: 'ToolsetUses',
    example: {
      toolset: 'demo',
      agents: [{ name: 'helper', toolset: 'demo@3' }],
      keys: [{ id: 'k7pd2mxw4q', name: 'my app', agent: 'helper' }],
      webhooks: [{ name: 'orders', agent: 'helper' }],
      schedules: [],
      equipped: [],
      truncated: false,
    },
  });
export type ToolsetUses = z.infer<typeof ToolsetUses>;
