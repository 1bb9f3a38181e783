/** Default aliases of one tool, in place of those it came with; toolsets that inherit them are compiled anew. */
import { legalAliases, ToolAliases } from '../core/tool-aliases.ts';
import { parseDocument } from '../core/issues.ts';
import type { CatalogContext } from './context.ts';
import { findTool, knownTools } from './known-tools.ts';
import { recompileInheriting, revise } from './toolsets.ts';
import type { Recompiled } from './toolsets.ts';
import type { DocumentWriter } from './write-document.ts';

export const toolAliasesWriter: DocumentWriter = {
  nameFault: (context, name) => {
    findTool(context, name);
    return null;
  },

  prepare: async (context, name, body) => {
    const aliases = legalAliases(parseDocument(ToolAliases, body).aliases);
    const recompiled = await recompileInheriting(context, name, knownTools(context, { aliases: { canonical: name, aliases } }));
    return { body: { aliases }, warnings: recompiled.warnings, commit: () => commit(context, recompiled) };
  },

  prepareRemoval: async (context, name) => {
    const recompiled = await recompileInheriting(context, name, knownTools(context, { aliases: { canonical: name, aliases: null } }));
    for (const { message } of recompiled.warnings) context.log.info('toolset not compiled anew', { tool: name, message });
    return () => commit(context, recompiled);
  },
};

function commit(context: CatalogContext, recompiled: Recompiled): void {
  for (const revision of recompiled.revisions) revise(context, revision);
}
