/** UI tools of a workspace as toolsets know them. Writing them is `ui-tools.ts`. */
import { CanonicalName } from '../core/names.ts';
import type { ToolDefinition } from '../core/tool.ts';
import type { UiTool } from '../core/ui-tool.ts';
import type { CatalogContext } from './context.ts';
import { allRows } from './documents.ts';

export const uiPrefix = 'ui.';

export function uiToolDefinitions(context: CatalogContext): ToolDefinition[] {
  // Bodies of UI tools were parsed by the schema when they were written.
  return allRows(context.sql, 'ui-tool').map(({ name, body }) => toDefinition(name, body as UiTool));
}

export function toDefinition(name: string, ui: UiTool): ToolDefinition {
  return {
    canonical: CanonicalName.parse(name),
    server: 'ui',
    name: name.slice(uiPrefix.length),
    kind: 'ui',
    description: ui.description,
    inputSchema: { type: 'object' },
    aliases: [],
    ui,
  };
}
