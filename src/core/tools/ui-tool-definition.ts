/** UI tools as tool definitions, for the Catalog and for edge handlers. */
import { CanonicalName } from '../names/names.ts';
import type { ToolDefinition } from './tool.ts';
import type { UiTool } from './ui-tool.ts';

const uiServer = 'ui';

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
