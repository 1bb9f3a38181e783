/** Default aliases of one tool, in place of those it came with; toolsets that inherit them are compiled anew. */
import { legalAliases, ToolAliases } from '../core/tool-aliases.ts';
import { parseDocument } from '../core/issues.ts';
import type { CatalogContext } from './context.ts';
import { findTool, knownTools } from './known-tools.ts';
import { prepareMadeToolset } from './made-toolset.ts';
import { recompileInheriting, revise } from './toolsets.ts';
import type { DocumentWriter } from './write-document.ts';

export const toolAliasesWriter: DocumentWriter = {
  nameFault: (context, name) => {
    findTool(context, name);
    return null;
  },

  prepare: async (context, name, body) => {
    const aliases = legalAliases(parseDocument(ToolAliases, body).aliases);
    const change = await prepareChange(context, { canonical: name, aliases });
    return { body: { aliases }, ...change };
  },

  prepareRemoval: async (context, name) => {
    const { warnings, commit } = await prepareChange(context, { canonical: name, aliases: null });
    for (const { message } of warnings) context.log.info('toolset not compiled anew', { tool: name, message });
    return commit;
  },
};

async function prepareChange(context: CatalogContext, aliases: { canonical: string; aliases: readonly string[] | null }) {
  const known = knownTools(context, { aliases });
  // There the aliases of made tools stand as they are now.
  const publish = known.get(aliases.canonical)?.kind === 'made' ? await prepareMadeToolset(context, known) : null;
  const { revisions, warnings } = await recompileInheriting(context, aliases.canonical, known);
  return {
    warnings,
    commit: () => {
      publish?.();
      for (const revision of revisions) revise(context, revision);
    },
  };
}
