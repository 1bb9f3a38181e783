/**
 * Writing UI tools, `ui.<name>` under `/v1/tools`: what a person may be shown, and no model is offered (DESIGN §7). They are read as any
 * tool is (`tools.ts`); the other tools are written with what they come from.
 */
import { z } from 'zod';
import { Problem, quoted } from '../../core/problem.ts';
import { UiTool, UiToolName } from '../../core/ui-tool.ts';
import { requireUnbound } from '../access.ts';
import { conditionHeaders, etag, etagHeader, writeConditions } from '../documents.ts';
import { mount } from '../route.ts';
import type { App } from '../route.ts';
import { Warning } from '../../core/warning.ts';

const path = '/v1/tools/{canonical}';
const WrittenUiTool = UiTool.extend({
  canonical: z.string(),
  warnings: z.array(Warning).optional().meta({ description: 'Toolsets that could not take the change. Absent: none.' }),
}).meta({
  id: 'WrittenUiTool',
  example: { canonical: 'ui.camera', label: 'Camera', description: 'Takes a photo.', category: 'upload', triggers: ['photo'] },
});

export function mountUiTools(app: App): void {
  mount(
    app,
    {
      method: 'put',
      path,
      operationId: 'putUiTool',
      tag: 'Tools',
      scopes: ['toolsets'],
      summary: 'Write a UI tool',
      description:
        'Toolsets that list it are compiled again. It comes out as proposals at the end of a turn, and is never offered to a model.',
      params: z.object({ canonical: UiToolName }),
      headers: conditionHeaders,
      body: { schema: UiTool },
      answers: {
        200: { description: 'Replaced, or already so.', schema: WrittenUiTool, headers: etagHeader },
        201: { description: 'Made.', schema: WrittenUiTool, headers: { ...etagHeader, location: 'Of the tool.' } },
      },
      problems: ['precondition_failed'],
    },
    async ({ c, services, principal, params: { canonical }, body }) => {
      requireUnbound(principal, 'UI tools');
      const { document, created, warnings } = await services
        .catalog(principal.workspace)
        .put('ui-tool', canonical, body, writeConditions(c));
      const answer = { canonical, ...document.body, ...(warnings.length > 0 && { warnings }) };
      return c.json(answer, created ? 201 : 200, {
        etag: etag(document.version),
        ...(created && { location: `/v1/tools/${encodeURIComponent(canonical)}` }),
      });
    },
  );

  mount(
    app,
    {
      method: 'delete',
      path,
      operationId: 'deleteUiTool',
      tag: 'Tools',
      scopes: ['toolsets'],
      summary: 'Delete a UI tool',
      description: 'In toolsets that list it, it is missing from then on.',
      params: z.object({ canonical: z.string().meta({ example: 'ui.camera' }) }),
      headers: conditionHeaders,
      answers: { 204: { description: 'Gone.' } },
      problems: ['precondition_failed'],
    },
    async ({ c, services, principal, params: { canonical } }) => {
      requireUnbound(principal, 'UI tools');
      const fault = UiToolName.safeParse(canonical).error?.issues[0]?.message;
      if (fault !== undefined) throw new Problem('not_found', `There is no UI tool ${quoted(canonical)}: ${fault}.`);
      await services.catalog(principal.workspace).remove('ui-tool', canonical, writeConditions(c));
      return c.body(null, 204);
    },
  );
}
