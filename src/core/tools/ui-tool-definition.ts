/** UI tools as tool definitions, for the Catalog and for edge handlers. */
import { CanonicalName } from '../names/names.ts';
import type { ToolDefinition } from './tool.ts';
import type { UiTool } from './ui-tool.ts';

export const uiServer = 'ui';

export function toUiToolDefinition(name: string, ui: UiTool): ToolDefinition {
  return {
    canonical: CanonicalName.parse(name),
    server: uiServer,
    name: name.slice(uiServer.length + 1),
    kind: 'ui',
    description: ui.description,
    inputSchema: { type: 'object' },
    aliases: [],
    ui,
  };
}

/** The definition of a deleted tool that is still referenced. */
export function toMissingUiTool(name: string): ToolDefinition {
  const { ui: _ui, ...bare } = toUiToolDefinition(name, { label: name, description: '', category: '', triggers: [] });
  return { ...bare, source: { state: 'missing', trusted: false, pin: '' } };
}
