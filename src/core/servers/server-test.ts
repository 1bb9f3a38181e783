/** The result of testing a server: it was connected and listed, but nothing was stored. */
import { z } from 'zod';
import { ServerConnection, ServerHealth } from './server-state.ts';
import { Warning } from '../warning.ts';

export const ServerTest = z
  .object({
    ok: z.boolean(),
    health: ServerHealth.pick({ status: true, reason: true }).meta({
      description: '`unknown`: a static server only receives calls, so there is nothing to test.',
    }),
    connection: ServerConnection.nullable().meta({
      description: 'The protocol of the connection; null: not connected, or not an MCP server.',
    }),
    tools: z.int(),
    held: z.int().meta({ description: 'Tools that would require a review.' }),
    prompts: z.int(),
    resources: z.int(),
    durationMs: z.int(),
    warnings: z.array(Warning),
  })
  .meta({ id: 'ServerTest' });
export type ServerTest = z.infer<typeof ServerTest>;
