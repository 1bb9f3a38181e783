/** `/v1/toolsets/{toolset}/suggestions`: what the calls of the last days suggest. It reads records and changes nothing. */
import * as z from 'zod';
import { requireAllowed } from '../../../core/people/authority.ts';
import { unknownNames, unusedAliases, withoutDismissed } from '../../../core/impact/suggestions.ts';
import { ToolsetName } from '../../../core/toolset/toolset.ts';
import { showExamples } from '../../../core/impact/argument-examples.ts';
import type { Lesson } from '../../../core/impact/learned-names.ts';
import type { Principal } from '../../../core/people/principal.ts';
import { RedactionLimitReached, RedactionWork, runInSlices } from '../../../core/redaction/redaction-work.ts';
import { type LessonPreview, previewLesson } from '../../../engine/configuration/lesson-preview.ts';
import { compileRedaction } from '../../../platform/compile-redaction.ts';
import { calledNames } from '../../../engine/configuration/called-names.ts';
import { learnToolsetNames } from '../../../engine/configuration/learn-names.ts';
import { planNames } from '../../../engine/plan/plan-names.ts';
import { readToolset } from '../../../engine/plan/read-toolset.ts';
import { callCount, pastCallsOf, pastDays, pastRange, TurnCoverage } from '../../past-calls.ts';
import { defineRoute } from '../../route.ts';
import { ofToolset } from './toolset-names.ts';
import type { HttpServices } from '../../services.ts';
import { toolsetOf } from './toolsets.ts';

const names = z.array(z.string());

const Suggestion = z.object({
  name: z.string().meta({ description: 'What models call, in the most frequent spelling.' }),
  tool: z.string().meta({ description: 'The tool that they called then, by its canonical name.' }),
  argument: z
    .string()
    .nullable()
    .meta({ description: 'The argument that they gave then, by the own name of the tool. null: `name` is one of the tool.' }),
  alias: z.string().meta({
    description: 'For `aliases` of the entry, or, with `argument`, for its `arguments.alias`: `{alias: argument}`.',
  }),
  seen: callCount.meta({ description: 'Refused calls that were followed by this one in the same turn, with the same values.' }),
  contrary: callCount.meta({ description: 'Refused calls of the name that were followed by another one.' }),
  models: names,
  agents: names,
  preview: z.object({
    found: callCount.meta({ description: 'Calls of the last days that failed, and would have been accepted with the alias.' }),
    broken: callCount.meta({ description: 'Calls that were accepted, and would have failed or called another tool.' }),
  }),
  examples: z.array(z.record(z.string(), z.string())).meta({
    description:
      'The arguments of at most 3 refused calls: values as JSON, shortened. Only the type, such as `<string>`, is shown of values that may be secret, that are long, or that the redaction rules of the workspace match.',
  }),
  isNoteOnly: z
    .boolean()
    .meta({ description: 'The tool may delete data. No alias is proposed for it: `name` only shows what models call.' }),
});

const ToolsetSuggestions = z
  .object({
    toolset: ToolsetName,
    ...pastRange,
    suggestions: z.array(Suggestion).meta({ description: 'The most seen first, at most 200.' }),
    turns: TurnCoverage,
    unknown: z
      .array(
        z.object({
          ...{ requested: z.string(), calls: callCount, lastDay: z.string().nullable(), agents: names, keys: names, near: names },
          overcount: callCount.optional().meta({
            description: 'At most so many of `calls` were of other names: a day keeps the most frequent ones.',
          }),
        }),
      )
      .meta({
        description: 'Names that were called and lead to no tool, at most 100, the most called first. `near`: tools with similar names.',
      }),
    unused: z
      .array(z.object({ entry: z.int(), alias: z.string() }))
      .nullable()
      .meta({
        description:
          'Aliases that no call used in these days, at most 100. null: the version is younger than that, there are too many names, or the key sees only its own calls.',
      }),
  })
  .meta({ id: 'ToolsetSuggestions' });

export const toolsetSuggestionRoutes = [
  defineRoute(
    {
      ...ofToolset,
      method: 'get',
      path: '/v1/toolsets/{toolset}/suggestions',
      operationId: 'getToolsetSuggestions',
      scopes: ['toolsets'],
      summary: 'Suggest names from past calls',
      description:
        'Looks for calls that were refused for their name or an argument, and for the call that the model made then in the same turn. Suggestions in `dismissed` of the toolset are left out. Nothing is stored, and nothing acts by itself. For a key that sees only its own usage, only its own calls count.',
      query: z.strictObject({
        days: pastDays,
        least: z.coerce.number().int().min(1).max(1_000).default(2).meta({ description: 'How often a name must have been seen.' }),
      }),
      answers: { 200: { description: 'What the calls suggest.', schema: ToolsetSuggestions } },
      problems: ['not_found'],
    },
    async ({ answer, services, principal, params: { toolset: name }, query: { days, least } }) => {
      requireAllowed(principal, { act: 'write-toolset', toolset: name });
      const document = await services.catalog(principal).get('toolset', name);
      const toolset = toolsetOf(document);
      const { aliases } = services.settings;
      const table = planNames((await readToolset(services.directory, principal, name)).names, { aliases, allow: null });
      const { range, key } = pastCallsOf(principal, services, days);
      const deps = { audit: services.audit(principal.workspace), sessions: services.sessions };
      const times = { from: `${range.from}T00:00:00.000Z`, to: `${range.to}T23:59:59.999Z` };
      const [learned, used] = await Promise.all([
        learnToolsetNames(deps, principal, table, { toolset: name, ...times, key, least }),
        calledNames(services.usage, { workspace: principal.workspace, toolset: name, ...range, key, cursor: undefined }),
      ]);
      const isOld = document.updatedAt < times.from;
      return answer(200, {
        ...{ toolset: name, ...range },
        suggestions: await shown(services, principal, withoutDismissed(learned.lessons, toolset), (lesson) =>
          previewLesson(lesson, table, { called: used.called, calls: learned.calls }),
        ),
        turns: learned.turns,
        unknown: unknownNames(used.called, table, toolset).map(({ requested, calls, lastDay, overcount, agents, keys, near }) => ({
          ...{ requested, calls, lastDay, near, agents: [...agents], keys: [...keys] },
          ...(overcount !== undefined && { overcount }),
        })),
        unused: isOld && key === undefined && used.nextCursor === null ? unusedAliases(toolset, used.called) : null,
      });
    },
  ),
];

/** Adds previews, and replaces the arguments of examples by what may be shown of them. */
async function shown(
  { directory, clock }: Pick<HttpServices, 'directory' | 'clock'>,
  { workspace }: Principal,
  lessons: readonly Lesson[],
  preview: (lesson: Lesson) => LessonPreview,
): Promise<z.input<typeof Suggestion>[]> {
  const { redaction } = await directory.safeguards(workspace);
  const { rules = [], patterns = [] } = redaction ?? {};
  const redact = await compileRedaction({ rules: [...new Set(['secret' as const, ...rules])], patterns, results: true, logs: true });
  const work = new RedactionWork();
  const suggestions: z.input<typeof Suggestion>[] = [];
  for (const lesson of lessons) {
    const examples = await runInSlices(showExamples(lesson.examples, redact, work), work, clock).catch((error: unknown) => {
      // Without examples the suggestion is still of use.
      if (error instanceof RedactionLimitReached) return [];
      throw error;
    });
    suggestions.push({ ...lesson, preview: preview(lesson), examples });
  }
  return suggestions;
}
