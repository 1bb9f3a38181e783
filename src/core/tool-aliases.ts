/** The document of a tool's default aliases: what entries of toolsets take that say nothing about aliases (DESIGN §3.2). */
import { z } from 'zod';
import { limits } from './limits.ts';

export const ToolAliases = z
  .strictObject({ aliases: z.array(z.string()).max(limits.maxAliasesPerEntry).meta({ description: 'Empty: none.' }) })
  .meta({ id: 'ToolAliases', example: { aliases: ['shell', 'terminal'] } });
export type ToolAliases = z.infer<typeof ToolAliases>;
