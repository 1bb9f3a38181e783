/** Writes UI tools: tools of the workspace that are never offered to models. */
import { parseInput } from '../../../core/problem.ts';
import { UiTool, UiToolName } from '../../../core/tools/ui-tool.ts';
import { requireRow } from '../documents/documents.ts';
import { knownTools } from './known-tools.ts';
import { recompileWith } from '../toolsets/toolsets.ts';
import { toMissing } from '../../../core/tools/code-tools.ts';
import { toUiToolDefinition } from '../../../core/tools/ui-tool-definition.ts';
import type { DocumentWriter } from '../documents/write-document.ts';

export const uiToolWriter: DocumentWriter = {
  nameFault: (_context, name) => UiToolName.safeParse(name).error?.issues[0]?.message ?? null,

  prepare: async (context, name, body) => {
    const tool = parseInput(UiTool, body);
    const definition = toUiToolDefinition(name, tool);
    const { warnings, commit } = await recompileWith(context, [name], knownTools(context, { tools: [definition] }));
    return { body: tool, warnings, commit };
  },

  prepareRemoval: async (context, name) => {
    const gone = toMissing('ui', requireRow(context.sql, 'ui-tool', name).name);
    return (await recompileWith(context, [name], knownTools(context, { tools: [gone] }))).commit;
  },
};
