/** Writes the default aliases of one tool, which replace its own. Toolsets that inherit them are recompiled. */
import { legalAliases, ToolAliases } from '../../../core/toolset/tool-aliases.ts';
import type { ToolsetAlias } from '../../../core/names/toolset-alias.ts';
import { parseInput } from '../../../core/problem.ts';
import type { CatalogContext } from '../context.ts';
import { findKnownTool, knownTools } from './known-tools.ts';
import { prepareMadeToolset } from './made-toolset.ts';
import { recompileInheriting } from '../toolsets/toolsets.ts';
import type { DocumentWriter } from '../documents/write-document.ts';

export const toolAliasesWriter: DocumentWriter = {
  nameFault: (context, name) => {
    findKnownTool(context, name);
    return null;
  },

  prepare: async (context, name, body) => {
    const aliases = legalAliases(parseInput(ToolAliases, body).aliases);
    const change = await prepareChange(context, { canonical: name, aliases });
    return { body: { aliases }, ...change };
  },

  prepareRemoval: async (context, name) => {
    const { warnings, commit } = await prepareChange(context, { canonical: name, aliases: null });
    for (const { message } of warnings) context.log.info('a toolset does not take all names', { tool: name, message });
    return commit;
  },
};

async function prepareChange(context: CatalogContext, aliases: { canonical: string; aliases: readonly ToolsetAlias[] | null }) {
  const known = knownTools(context, { aliases });
  // That edition contains the current aliases of made tools.
  const publish = known.get(aliases.canonical)?.kind === 'made' ? await prepareMadeToolset(context, known) : null;
  const { warnings, commit } = await recompileInheriting(context, aliases.canonical, known);
  return {
    warnings,
    commit: () => {
      publish?.();
      commit();
    },
  };
}
