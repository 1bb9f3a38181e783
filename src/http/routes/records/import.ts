/** `POST /v1/import`: a file whose documents are written into the workspace. */
import * as z from 'zod';
import { sha256Hex } from '../../../core/hash.ts';
import { importFormats } from '../../../core/import/names.ts';
import { limits } from '../../../core/limits/limits.ts';
import { Project } from '../../../core/project/project.ts';
import { requireAllowed } from '../../../core/people/authority.ts';
import { invalidRequest, Problem } from '../../../core/problem.ts';
import { readBounded } from '../../../net/read-bounded.ts';
import { commandPermission } from '../../launcher-proof.ts';
import { enterResponse, readRequestBody, resizePlace } from '../../request-body.ts';
import { dryRunQuery, projectReport, toReport } from './project-report.ts';
import type { AppContext } from '../../middleware/request-context.ts';
import { defineRoute } from '../../route.ts';
import type { HttpServices } from '../../services.ts';
import { applyDeps } from './projects.ts';

const ImportReport = z
  .object({
    format: z.string().meta({ description: 'The format that was read; `zip` for an archive with files of several formats.' }),
    ...projectReport,
  })
  .meta({ id: 'ImportReport' });

const sourceLength = 24;

export const importRoutes = [
  defineRoute(
    {
      method: 'post',
      path: '/v1/import',
      operationId: 'importFile',
      tag: 'Projects',
      scopes: ['toolsets', 'admin'],
      summary: 'Import a file',
      description:
        'Writes the documents of a file: a project file, or a file of another system (`docs/import.md`), as JSON, YAML or a zip archive. They are merged into stored documents of the same name: what was changed here since the last import of the file stays, and is listed in `kept`. A project file replaces them. What cannot be taken is `skipped`, with the reason. The key needs the rights for each document.',
      query: z.strictObject({
        dryRun: dryRunQuery,
        format: z.enum(importFormats).optional().meta({ description: 'Absent: it is found out from the content.' }),
        partial: z.enum(['true', 'false']).optional().meta({
          description:
            '`true`: documents that cannot be written are `skipped`, and the others are written. `false`: all or none. Absent: `true`, except for project files.',
        }),
        url: z
          .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
          .max(limits.maxUrlLength)
          .optional()
          .meta({
            description:
              'Instead of a body: where the service reads the file, without credentials. The host is public, or in `MONIKER_ALLOW_PRIVATE_HOSTS`; of redirects, too. The key needs the scope `admin`.',
            example: 'https://api.example.com/openapi.json',
          }),
        replace: z.enum(['true', 'false']).optional().meta({
          description:
            '`true`: stored documents of the same name are replaced. `false`: they are merged. Absent: `false`, except for project files.',
        }),
        fileName: z.string().max(1_000).optional().meta({
          description:
            'The name of the file, with its folder. It helps to find out the format, and later imports under this name are compared with what the file gave before. Absent: the format stands for it.',
          example: '.cursor/mcp.json',
        }),
      }),
      rawBody: { json: Project, type: '*/*', description: 'The file itself, as JSON, YAML or a zip archive, whatever its media type.' },
      answers: { 200: { description: 'What was done, or the plan.', schema: ImportReport } },
      problems: ['conflict', 'name_conflict', 'precondition_failed', 'upstream_error', 'loop_detected'],
    },
    async ({ c, services, principal, query, answer }) => {
      const { format, url, fileName = url } = query;
      // Loaded on demand, since few requests are imports.
      const { readImport } = await import('../../../formats/read-import.ts');
      const { importProject } = await import('../../../engine/project/import-project.ts');
      const sent = await readRequestBody(c, limits.maxLargeBodyBytes);
      const read = readImport(url === undefined ? sent : await readUrl(c, services, url, sent), { format, fileName });
      const isOwn = read.format === 'moniker';
      const isPartial = query.partial === undefined ? !isOwn : query.partial === 'true';
      const isReplacing = query.replace === undefined ? isOwn : query.replace === 'true';
      const source = (await sha256Hex(fileName ?? read.format)).slice(0, sourceLength);
      const { applied, skipped, warnings } = await importProject(applyDeps(services, principal), principal, read, {
        dryRun: query.dryRun === 'true',
        import: { source, isReplacing, isPartial },
        ...commandPermission(c, services.settings),
      });
      const report = toReport(applied);
      return answer(200, {
        format: read.format,
        ...report,
        skipped: [...report.skipped, ...skipped],
        warnings: [...warnings, ...report.warnings],
      });
    },
  ),
];

/** `sent`: the body of the request, which must be empty. Throws `upstream_error` for a response that is no file, `forbidden`, `invalid_request`. */
async function readUrl(c: AppContext, { fetchDocument }: HttpServices, url: string, sent: Uint8Array): Promise<Uint8Array> {
  const principal = c.get('principal');
  requireAllowed(principal, { act: 'use-scope', scopes: ['admin'] });
  if (sent.byteLength > 0) throw invalidRequest([{ path: 'url', message: 'cannot be given with a body: send one of them' }]);
  const place = await enterResponse(c);
  const response = await fetchDocument(withoutFragment(url), principal.egressHosts);
  if (!response.ok) {
    await response.body?.cancel();
    throw new Problem(
      'upstream_error',
      `${new URL(url).host} returned status ${response.status}. Download the file and send it as the body.`,
      {
        retryable: response.status >= 500,
      },
    );
  }
  const { bytes, truncated } = await readBounded(response, limits.maxLargeBodyBytes);
  if (truncated) throw new Problem('body_too_large', `The file has more than ${limits.maxLargeBodyBytes} bytes.`);
  resizePlace(place, bytes.byteLength);
  return bytes;
}

function withoutFragment(url: string): string {
  return url.replace(/#.*$/s, '');
}
