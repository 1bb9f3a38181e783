/** Which tools of the workspace a list contains: `?q=&kind=&server=` of `GET /v1/tools`. */
import * as z from 'zod';
import { aliasName } from '../names/toolset-alias.ts';
import { type ToolDefinition, ToolKind } from '../tools/tool.ts';

const maxQueryLength = 200;

/** Query parameters, all of which a tool must match. */
export const toolFilterFields = {
  q: z.string().max(maxQueryLength).optional().meta({
    description: 'Words. Each must occur in the canonical name, a default alias or the description, in any case.',
    example: 'read file',
  }),
  kind: ToolKind.optional().meta({ description: 'Only tools of this kind.' }),
  server: z.string().min(1).max(128).optional().meta({ description: 'Only tools of this server, such as `builtin`.' }),
};

const ToolFilter = z.object(toolFilterFields);
export type ToolFilter = z.infer<typeof ToolFilter>;

/** Returns a test for one tool. An empty filter matches every tool. */
export function createToolFilter({ q = '', kind, server }: ToolFilter): (tool: ToolDefinition) => boolean {
  const words = [...new Set(q.toLowerCase().split(/\s+/))].filter((word) => word !== '');
  return (tool) => {
    if (kind !== undefined && tool.kind !== kind) return false;
    if (server !== undefined && tool.server !== server) return false;
    if (words.length === 0) return true;
    const text = [tool.canonical, ...tool.aliases.map(aliasName), tool.description].join('\n').toLowerCase();
    return words.every((word) => text.includes(word));
  };
}
