/** `/v1/tools/{canonical}/aliases`: the default aliases that toolset entries inherit. */
import * as z from 'zod';
import { nullIfNotFound } from '../../../core/problem.ts';
import { ToolAliases } from '../../../core/toolset/tool-aliases.ts';
import { ToolsetAlias } from '../../../core/names/toolset-alias.ts';
import { optionalWarnings, shownIfAny, storedDocument } from '../../stored-document.ts';
import { requireReadableTool, toolParams } from './tools.ts';

const WrittenToolAliases = z
  .object({
    aliases: z.array(ToolsetAlias),
    warnings: optionalWarnings('Toolsets that keep their previous names. Absent: none.'),
  })
  .meta({ id: 'WrittenToolAliases', example: { aliases: ['shell', 'terminal'] } });
const workspace = 'Default aliases';
const aliases = storedDocument({
  path: '/v1/tools/{canonical}/aliases',
  params: toolParams,
  id: 'ToolAliases',
  one: 'aliases',
  tag: 'Tools',
  scopes: ['toolsets'],
  at: ({ services, principal, params }) => ({ catalog: services.catalog(principal), kind: 'tool-aliases', name: params.canonical }),
});

export const toolAliasRoutes = [
  aliases.read(
    {
      scopes: ['tools', 'toolsets'],
      summary: 'Read the default aliases of a tool',
      view: ToolAliases,
      found: 'The aliases set here, otherwise the tool’s own (without ETag).',
    },
    async ({ services, principal, place: { catalog, kind, name } }) => {
      await requireReadableTool(services, principal, name);
      const { aliases } = await catalog.tool(name);
      // Without a document the tool's own aliases apply.
      return { document: await nullIfNotFound(catalog.get(kind, name)), view: { aliases } };
    },
  ),

  aliases.put(
    {
      workspace,
      summary: 'Set the default aliases of a tool',
      description:
        'Toolset entries without `aliases` inherit them at once. The wire names of existing toolsets stay until they are next changed.',
      body: ToolAliases,
      written: WrittenToolAliases,
      replaced: 'Set.',
      created: 'Set for the first time.',
      problems: ['precondition_failed', 'name_conflict'],
    },
    async ({ body, options, place: { catalog, kind, name } }) => {
      await catalog.tool(name);
      const { document, created, warnings } = await catalog.put(kind, name, body, options);
      return { document, created, view: { aliases: body.aliases, ...shownIfAny(warnings) } };
    },
  ),

  aliases.remove({ workspace, summary: 'Restore the tool’s own aliases', gone: 'Done.' }),
];
