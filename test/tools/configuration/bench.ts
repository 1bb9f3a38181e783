/**
 * The configuration tools over an in-memory catalog, called as `engine/call/call-tool.ts` calls them: every answer is checked against its tool's
 * output schema, as strict MCP clients do.
 */
import { expect } from 'vitest';
import type { EditionTool } from '../../../src/core/toolset/edition-tool.ts';
import { checkInput } from '../../../src/core/schema/input-schema.ts';
import type { Principal } from '../../../src/core/people/principal.ts';
import { contentText, type ToolDefinition } from '../../../src/core/tools/tool.ts';
import { createToolsetEditor, type ToolsetEditorOptions } from '../../../src/engine/configuration/toolset-editor.ts';
import type { ToolsetEditor } from '../../../src/ports/toolset-editor.ts';
import type { ToolContext } from '../../../src/ports/tool-executor.ts';
import { createCodeExecutor } from '../../../src/tools/executor.ts';
import { codeTools, toolDefinitions } from '../../../src/tools/registry.ts';
import { createNodeCatalog, type NodeCatalog } from '../../fakes/node-catalog.ts';
import { toolOf } from '../../fakes/known-tools.ts';

const executor = createCodeExecutor(codeTools());
const schemas = new Map(toolDefinitions().map(({ canonical, outputSchema }) => [canonical as string, outputSchema]));

export const someTools: readonly ToolDefinition[] = [
  toolOf('git', 'status', { description: 'Shows the working tree.' }),
  toolOf('git', 'log', { description: 'Shows commits.' }),
  toolOf('docker', 'ps', { description: 'Lists containers.' }),
  toolOf('docker', 'run', { description: 'Starts a container.' }),
];

// Tests look into answers of many shapes; their assertions are the check.
// biome-ignore lint/suspicious/noExplicitAny: see above
export type ToldAnswer = { isError: boolean; code: string | undefined; text: string; json: any };

export type Bench = {
  catalog: NodeCatalog;
  /** With the root key by default. */
  run(tool: string, args?: Record<string, unknown>, keyId?: string): Promise<ToldAnswer>;
  key(rights: Pick<Principal, 'scopes' | 'toolsets'>): Promise<string>;
};

/** `around`: wraps the toolset editor of the tools. */
export function configurationBench(
  tools: readonly ToolDefinition[] = someTools,
  around: (desk: ToolsetEditor, catalog: NodeCatalog) => ToolsetEditor = (desk) => desk,
  options: Partial<Pick<ToolsetEditorOptions, 'aliases' | 'past'>> = {},
): Bench {
  const catalog = createNodeCatalog({ definitions: [...toolDefinitions(), ...tools] });
  return {
    catalog,
    async run(tool, args = {}, keyId = 'root') {
      const canonical = `builtin.${tool}`;
      // The executor reads nothing else of an edition's tool, and these tools nothing else of the context.
      const context = { configuration: around(createToolsetEditor(catalog, keyId, options), catalog) } as ToolContext;
      const result = await executor.execute({ canonical } as EditionTool, args, context);
      expect(checkInput(schemas.get(canonical) ?? {}, result.structuredContent ?? {}), `${tool}: ${JSON.stringify(result)}`).toEqual([]);
      expect(result.structuredContent, tool).toBeDefined();
      return { isError: result.isError, code: result.code, text: contentText(result.content), json: result.structuredContent };
    },
    async key(rights) {
      const { record } = await catalog.createKey({ name: 'test', scopes: [...rights.scopes], toolsets: rights.toolsets?.slice() });
      return record.id;
    },
  };
}
