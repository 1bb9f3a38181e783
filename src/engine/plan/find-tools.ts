/** The plan's tools for `find_tools`, with the definitions that the model would be sent. Builds nothing until it is used. */
import { resolveName, type AliasMap } from '../../core/toolset/alias-map.ts';
import { visibleAliases, modelDefinition } from '../../core/toolset/model-definitions.ts';
import { declareTool } from '../../core/code-mode/tool-declarations.ts';
import type { Gathered } from '../../core/tools/gathered-tools.ts';
import { canOfferMore, readyTools } from '../../core/toolset/offered-tools.ts';
import { searchTools } from '../../core/tools/tool-index.ts';
import type { FindToolsResult, ToolFinder } from '../../ports/tool-executor.ts';

/** `forCode`: code searches, which needs declarations and has no list of definitions to extend. */
export function createToolFinder(
  names: AliasMap | null,
  gathered: () => readonly Gathered[] = () => [],
  forCode = false,
): ToolFinder | null {
  if (names === null) return null;
  return {
    get total() {
      return readyTools(names);
    },
    get isFull() {
      return !forCode && !canOfferMore(names, gathered());
    },
    find: (query, max) =>
      searchTools(names, query, max).map((tool): FindToolsResult => {
        const { description, inputSchema } = modelDefinition(names, tool);
        const declaration = forCode ? { declaration: declareTool(names, tool) } : {};
        return { name: tool.wireName, canonical: tool.canonical, aliases: visibleAliases(tool), description, inputSchema, ...declaration };
      }),
    similarNames(query) {
      const resolution = resolveName(names, query);
      return !resolution.ok && resolution.code === 'unknown_tool' ? resolution.suggestions : [];
    },
  };
}
