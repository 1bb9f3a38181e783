/**
 * `/v1/skills`: a `SKILL.md` with its resource files, as JSON or as a zip archive. `formats/read-skill.ts` validates them, and the Catalog
 * calls it at every write; agents list the skills that they may load.
 */
import { boundedText } from '../../../core/text/bounded-text.ts';
import * as z from 'zod';
import { limits } from '../../../core/limits/limits.ts';
import { Problem, quoted, Warning, parseInput } from '../../../core/problem.ts';
import { givenResources, resourceBytes, SkillName, skillFiles, type Skill } from '../../../core/skills/skill.ts';
import type { StoredDocument } from '../../../ports/catalog.ts';
import type { SkillFiles } from '../../../formats/read-skill.ts';
import { answerWrite, conditionHeaders, etag, etagHeader, requireSameName, storedBody, writeConditions } from '../../conditions.ts';
import type { AppContext } from '../../middleware/request-context.ts';
import { readRequestBody, readJson } from '../../request-body.ts';
import { PageQuery, pageOf } from '../../paging.ts';
import { defineRoute } from '../../route.ts';
import { storedDocument, writeAnswers } from '../../stored-document.ts';

const params = z.object({ skill: SkillName.meta({ example: 'release-notes' }) });
const resourceParams = params.extend({
  path: boundedText(limits.maxPathBytes)
    .min(1)
    .meta({ description: 'Path relative to the skill’s folder.', example: 'scripts/changes.sh' }),
});

/** Fields of the frontmatter. Accepted and ignored on writes, so that the output of GET can be sent back. */
const fields = {
  description: z.string().optional().meta({ description: 'Read from `content`, like all frontmatter fields; ignored on writes.' }),
  license: z.string().optional(),
  compatibility: z.string().optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  allowedTools: z
    .array(z.string())
    .optional()
    .meta({ description: 'Patterns are stored, but grant no permissions.', example: ['Bash(git:*)'] }),
  requires: z.array(z.string()).optional(),
};

const SkillBody = z
  .strictObject({
    name: SkillName.optional().meta({ description: 'Optional. Must equal the name in the path.' }),
    ...skillFiles,
    ...fields,
  })
  .meta({
    id: 'Skill',
    example: {
      content:
        '---\nname: release-notes\ndescription: Writes release notes. Use when a version is to be announced.\nallowed-tools: Bash(git:*)\n---\nUse the `bash` tool to run scripts/changes.sh, then sum up what it prints.\n',
      resources: { 'scripts/changes.sh': 'git log --oneline\n' },
    },
  });

const Summary = z
  .object({
    name: SkillName,
    ...fields,
    description: z.string(),
    version: z.int(),
    resources: z.array(z.object({ path: z.string(), bytes: z.int() })),
  })
  .meta({ id: 'SkillSummary' });
const Written = Summary.extend({ warnings: z.array(Warning) }).meta({ id: 'WrittenSkill' });

const common = { tag: 'Skills', scopes: ['toolsets'], workspace: 'Skills' } as const;
const skill = storedDocument({
  ...common,
  path: '/v1/skills/{skill}',
  params,
  id: 'Skill',
  one: 'skill',
  at: ({ services, principal, params }) => ({ catalog: services.catalog(principal), kind: 'skill', name: params.skill }),
});

export const skillRoutes = [
  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/skills',
      operationId: 'listSkills',
      summary: 'List skills',
      query: PageQuery,
      answers: { 200: { description: 'A page of skills, without their content.', schema: pageOf(Summary) } },
    },
    async ({ answer, services, principal, query }) => {
      const { items, nextCursor } = await services.catalog(principal).list('skill', query);
      return answer(200, { items: items.map(toSummary), nextCursor });
    },
  ),

  skill.read(
    { description: 'The response can be sent back with PUT unchanged.', view: SkillBody, found: 'The skill with its resources.' },
    async ({ place: { catalog, kind, name } }) => {
      const document = await catalog.get(kind, name);
      return { document, view: toView(document) };
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/skills/{skill}/resources/{path+}',
      operationId: 'getSkillResource',
      summary: 'Read a resource file of a skill',
      params: resourceParams,
      answers: { 200: { description: 'The bytes of the file.', contentType: 'application/octet-stream', headers: etagHeader } },
    },
    async ({ c, services, principal, params }) => {
      const document = await services.catalog(principal).get('skill', params.skill);
      const resource = storedBody<Skill>(document).resources.find(({ path }) => path === params.path);
      if (resource === undefined) throw new Problem('not_found', `The skill "${params.skill}" has no file ${quoted(params.path)}.`);
      // Content is written by the skill's author: browsers must never show it as a page of this origin.
      return c.body(new Uint8Array(resourceBytes(resource)), 200, {
        'content-type': 'application/octet-stream',
        'content-disposition': 'attachment',
        'content-security-policy': "default-src 'none'; sandbox",
        etag: etag(document.version),
      });
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'put',
      path: '/v1/skills/{skill}',
      operationId: 'putSkill',
      summary: 'Create or replace a skill',
      description: 'Unchanged files create no new version, in either format. Hidden files and system files are skipped with a warning.',
      params,
      headers: conditionHeaders,
      rawBody: {
        json: SkillBody,
        type: 'application/zip',
        description: 'JSON, or a zip archive with SKILL.md at the top level or in its only top-level folder.',
      },
      answers: writeAnswers('skill', Written),
      problems: ['precondition_failed'],
    },
    async ({ c, services, principal, params, answer }) => {
      const { warnings: left = [], ...files } = await readFiles(c, params.skill);
      const { document, created, warnings } = await services.catalog(principal).put('skill', params.skill, files, writeConditions(c));
      const view = { ...toSummary(document), warnings: [...left, ...warnings] };
      return answerWrite(answer, { document, created }, `/v1/skills/${params.skill}`, view);
    },
  ),

  skill.remove({ description: 'Agents and toolsets that name it continue without it.' }),
];

async function readFiles(c: AppContext, name: string): Promise<SkillFiles & { warnings?: z.infer<typeof Warning>[] }> {
  const type = (c.req.header('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (zipTypes.has(type)) {
    const { readSkillZip } = await import('../../../formats/zip.ts');
    return readSkillZip(await readRequestBody(c, limits.maxLargeBodyBytes));
  }
  if (type !== 'application/json')
    throw new Problem('unsupported_media_type', 'Send a skill as `content-type: application/json` or `application/zip`.');
  const body = parseInput(SkillBody, (await readJson(c, limits.maxLargeBodyBytes)).value);
  requireSameName(name, body);
  return { content: body.content, resources: givenResources(body.resources) };
}

/** The second is the type that browsers on Windows send. */
const zipTypes: ReadonlySet<string> = new Set(['application/zip', 'application/x-zip-compressed']);

function toSummary(document: StoredDocument): z.infer<typeof Summary> {
  const { content: _content, resources, ...fields } = storedBody<Skill>(document);
  return { ...fields, version: document.version, resources: resources.map(({ path, bytes }) => ({ path, bytes })) };
}

type SkillContent = NonNullable<z.input<typeof SkillBody>['resources']>[string];

function toView(document: StoredDocument): z.input<typeof SkillBody> {
  const { resources, ...rest } = storedBody<Skill>(document);
  return { ...rest, resources: Object.fromEntries(resources.map(({ path, ...content }) => [path, content as SkillContent])) };
}
