/** UI tools of a workspace as toolsets know them. Writing them is `ui-tools.ts`. */
import { CanonicalName } from '../core/names.ts';
import type { ToolDefinition } from '../core/tool.ts';
import type { UiTool } from '../core/ui-tool.ts';
import type { CatalogContext } from './context.ts';
import { allRows } from './documents.ts';

const uiPrefix = 'ui.';

/** One that was deleted while toolsets name it stays known to them, as missing: else none of these could be compiled again. */
export function uiToolDefinitions({ sql }: CatalogContext): ToolDefinition[] {
  // Bodies of UI tools were parsed by the schema when they were written.
  const there = allRows(sql, 'ui-tool').map(({ name, body }) => toDefinition(name, body as UiTool));
  const names = new Set(there.map(({ canonical }) => canonical as string));
  // "/" comes after ".", so these are all that begin with "ui.".
  const named = sql.exec<{ tool: string }>("SELECT DISTINCT tool FROM toolset_tools WHERE tool >= 'ui.' AND tool < 'ui/'").toArray();
  return [...there, ...named.flatMap(({ tool }) => (names.has(tool) ? [] : [toMissing(tool)]))];
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

export function toMissing(name: string): ToolDefinition {
  const { ui: _ui, ...bare } = toDefinition(name, { label: name, description: '', category: '', triggers: [] });
  return { ...bare, source: { state: 'missing', trusted: false, pin: '' } };
}
