/** `POST /v1/import`: a file whose documents are written into the workspace. */
import { z } from 'zod';
import { parseJsonText } from '../../core/json/json-text.ts';
import { limits } from '../../core/limits.ts';
import { invalidRequest, Problem } from '../../core/problem.ts';
import { readProject } from '../../core/project/read-project.ts';
import { Project } from '../../core/project/project.ts';
import { utf8Text } from '../../core/text/utf8.ts';
import { applyProject } from '../../engine/project/apply-project.ts';
import { commandPermission } from '../launcher-proof.ts';
import { readBytes } from '../json-body.ts';
import { dryRunQuery, projectReport, toReport } from '../project-report.ts';
import { defineRoute, type Route } from '../route.ts';
import { applyDeps } from './projects.ts';

const ImportReport = z.object({ format: z.string(), ...projectReport }).meta({ id: 'ImportReport' });

export const importRoutes: readonly Route[] = [
  defineRoute(
    {
      method: 'post',
      path: '/v1/import',
      operationId: 'importFile',
      tag: 'Projects',
      scopes: ['toolsets', 'admin'],
      summary: 'Import a file',
      description:
        'Writes all documents of the file, or none; documents of the same name are replaced. The key needs the rights for each of them. What cannot be taken is `skipped`, with the reason.',
      query: z.strictObject({
        dryRun: dryRunQuery,
        format: z.enum(['moniker']).optional().meta({ description: 'Absent: it is found out from the content.' }),
      }),
      rawBody: { json: Project, type: 'application/yaml', description: 'The file itself, as JSON or YAML.' },
      answers: { 200: { description: 'What was done, or the plan.', schema: ImportReport } },
      problems: ['conflict', 'name_conflict', 'precondition_failed'],
    },
    async ({ c, services, principal, query, answer }) => {
      const { project, unset, warnings } = readProject(await readFile(await readBytes(c.req.raw, limits.maxLargeBodyBytes)));
      const options = { project: null, unset, dryRun: query.dryRun === 'true', ...commandPermission(c, services.settings) };
      const report = toReport(await applyProject(applyDeps(services, principal), principal, project, options));
      return answer(200, { format: 'moniker', ...report, warnings: [...warnings, ...report.warnings] });
    },
  ),
];

/** The value of a JSON or YAML text. JSON is a form of YAML, which also accepts trailing commas. */
async function readFile(bytes: Uint8Array): Promise<unknown> {
  const text = utf8Text(bytes);
  if (text === null) throw new Problem('invalid_json', 'The file is not UTF-8 text.');
  let unread: Problem;
  try {
    return parseJsonText(text);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'invalid_json') throw error;
    unread = error;
  }
  const { readYaml, YamlFault } = await import('../../platform/read-yaml.ts');
  try {
    return readYaml(text, { maxDepth: limits.maxJsonDepth, maxSeparators: limits.maxJsonValues, maxAliased: limits.maxJsonValues });
  } catch (error) {
    if (!(error instanceof YamlFault)) throw error;
    if (/^\s*[{[]/.test(text)) throw unread;
    const { place } = error;
    const where = place === null ? '' : ` at line ${place.line}, column ${place.column}`;
    throw invalidRequest([{ path: '', message: `is neither JSON nor YAML${where}: ${error.message}` }]);
  }
}
