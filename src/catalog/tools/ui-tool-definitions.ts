/** UI tools of a workspace as tool definitions. `ui-tools.ts` writes them. */
import { CanonicalName } from '../../core/names/names.ts';
import type { ToolDefinition } from '../../core/tools/tool.ts';
import type { UiTool } from '../../core/tools/ui-tool.ts';
import type { CatalogContext } from '../context.ts';
import { namedTools } from '../toolsets/toolset-versions.ts';
import { allRows } from '../documents/documents.ts';

const uiPrefix = 'ui.';

/** Deleted tools that toolsets still name are included as missing; otherwise those toolsets could not be compiled again. */
export function uiToolDefinitions({ sql }: CatalogContext): ToolDefinition[] {
  // UI tool bodies were parsed by the schema when they were written.
  const there = allRows(sql, 'ui-tool').map(({ name, body }) => toUiToolDefinition(name, body as UiTool));
  const names = new Set(there.map(({ canonical }) => canonical as string));
  const missing = [...namedTools(sql, 'ui')].filter((tool) => !names.has(tool));
  return [...there, ...missing.map(toMissingUiTool)];
}

export function toUiToolDefinition(name: string, ui: UiTool): ToolDefinition {
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

export function toMissingUiTool(name: string): ToolDefinition {
  const { ui: _ui, ...bare } = toUiToolDefinition(name, { label: name, description: '', category: '', triggers: [] });
  return { ...bare, source: { state: 'missing', trusted: false, pin: '' } };
}
