/** What trying a server brought: it was connected to and listed, and nothing of it was stored. */
import { z } from 'zod';
import { ServerConnection, ServerHealth } from './server-state.ts';
import { Warning } from '../warning.ts';

export const ServerTest = z
  .object({
    ok: z.boolean(),
    health: ServerHealth.pick({ status: true, reason: true }).meta({
      description: '`unknown`: a static server is asked nothing but calls.',
    }),
    connection: ServerConnection.nullable().meta({ description: 'How it was spoken with; null: it was not, or speaks no MCP.' }),
    tools: z.int(),
    held: z.int().meta({ description: 'Tools that a person would have to look at first.' }),
    prompts: z.int(),
    resources: z.int(),
    durationMs: z.int(),
    warnings: z.array(Warning),
  })
  .meta({ id: 'ServerTest' });
export type ServerTest = z.infer<typeof ServerTest>;
