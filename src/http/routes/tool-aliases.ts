/** `/v1/tools/{canonical}/aliases`: the default aliases that toolset entries inherit. */
import { z } from 'zod';
import { nullIfNotFound } from '../../core/problem.ts';
import { ToolAliases, ToolsetAlias } from '../../core/toolset/toolset.ts';
import { Warning } from '../../core/warning.ts';
import {
  answerDocument,
  answerWrite,
  conditionHeaders,
  etagHeader,
  readConditionHeaders,
  unchanged,
  writeConditions,
} from '../documents.ts';
import { defineRoute, type Route } from '../route.ts';
import { requireReadableTool, toolParams } from './tools.ts';

const WrittenToolAliases = z
  .object({
    aliases: z.array(ToolsetAlias),
    warnings: z.array(Warning).optional().meta({ description: 'Toolsets that keep their previous names. Absent: none.' }),
  })
  .meta({ id: 'WrittenToolAliases', example: { aliases: ['shell', 'terminal'] } });
const common = { tag: 'Tools' } as const;

export const toolAliasRoutes: readonly Route[] = [
  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/tools/{canonical}/aliases',
      operationId: 'getToolAliases',
      scopes: ['tools', 'toolsets'],
      summary: 'Read the default aliases of a tool',
      headers: readConditionHeaders,
      params: toolParams,
      answers: {
        200: {
          description: 'The aliases set here, otherwise the tool’s own (without ETag).',
          schema: ToolAliases,
          headers: etagHeader,
        },
        304: unchanged,
      },
    },
    async ({ c, services, principal, params, answer }) => {
      await requireReadableTool(services, principal, params.canonical);
      const catalog = services.catalog(principal);
      const { aliases } = await catalog.tool(params.canonical);
      const document = await nullIfNotFound(catalog.get('tool-aliases', params.canonical));
      // No aliases are set here: the tool's own apply.
      return document === null ? answer(200, { aliases }) : answerDocument({ c, answer }, document, { aliases });
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'put',
      path: '/v1/tools/{canonical}/aliases',
      operationId: 'putToolAliases',
      scopes: ['toolsets'],
      workspace: 'Default aliases',
      summary: 'Set the default aliases of a tool',
      description:
        'Toolset entries without `aliases` inherit them at once. The wire names of existing toolsets stay until they are next changed.',
      params: toolParams,
      headers: conditionHeaders,
      body: { schema: ToolAliases },
      answers: {
        200: { description: 'Set.', schema: WrittenToolAliases, headers: etagHeader },
        201: {
          description: 'Set for the first time.',
          schema: WrittenToolAliases,
          headers: { ...etagHeader, location: 'URL of the aliases.' },
        },
      },
      problems: ['precondition_failed', 'name_conflict'],
    },
    async ({ c, services, principal, params, body, answer }) => {
      const catalog = services.catalog(principal);
      await catalog.tool(params.canonical);
      const { document, created, warnings } = await catalog.put('tool-aliases', params.canonical, body, writeConditions(c));
      const view = { aliases: body.aliases, ...(warnings.length > 0 && { warnings }) };
      return answerWrite(answer, { document, created }, `/v1/tools/${encodeURIComponent(params.canonical)}/aliases`, view);
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'delete',
      path: '/v1/tools/{canonical}/aliases',
      operationId: 'deleteToolAliases',
      scopes: ['toolsets'],
      workspace: 'Default aliases',
      summary: 'Restore the tool’s own aliases',
      params: toolParams,
      headers: conditionHeaders,
      answers: { 204: { description: 'Done.' } },
      problems: ['precondition_failed'],
    },
    async ({ c, services, principal, params, answer }) => {
      await services.catalog(principal).remove('tool-aliases', params.canonical, writeConditions(c));
      return answer(204, null);
    },
  ),
];
