/**
 * A suite: which recorded work is replayed, and the facts that must hold (`/v1/suites/{suite}`). `replay.ts` is one run of it; the rules are judged
 * by `judge-rules.ts`. There are no judgements by models: `GET /v1/replays/{id}/export` has both sides of every case for those.
 */
import * as z from 'zod';
import { JsonValue } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import { KB } from '../limits/units.ts';
import { boundedText } from '../text/bounded-text.ts';
import { utf8Length } from '../text/utf8.ts';
import { ResourceName } from '../turn/agent.ts';
import { ToolsetName } from '../toolset/toolset.ts';

/** Cases of one replay. */
export const maxReplayCases = 1_000;
export const defaultReplayCases = 100;
export const maxReplayRules = 50;
const maxSelectedDays = 366;
/** Twice what the longest list of cases needs. */
const maxSuiteBytes = 256 * KB;

const id = z.string().min(1).max(200);

export const ReplayRule = z
  .union([
    z.strictObject({
      calls: z.enum(['same', 'same-any-order']).meta({
        description: 'The replay makes the recorded calls: the same tools with the same arguments, in the same order or in any.',
      }),
    }),
    z.strictObject({
      answer: z
        .union([
          z.literal('json-equal'),
          z.strictObject({ contains: z.string().min(1).max(10_000) }),
          z.strictObject({ 'json-equal': JsonValue }),
        ])
        .meta({
          description:
            '`json-equal`: the answer is the same JSON value as the recorded one, or as the given one. `contains`: it has this text, with this case.',
        }),
    }),
    z.strictObject({ maxCalls: z.int().min(0).max(limits.maxCallsPerTurn).meta({ description: 'Calls of tools by the model.' }) }),
    z.strictObject({ maxCost: z.number().min(0).max(1_000_000).meta({ description: 'In USD. Fails if the cost is not known.' }) }),
  ])
  .meta({ id: 'ReplayRule', description: 'A fact that must hold for a case; one member.', example: { calls: 'same' } });
export type ReplayRule = z.infer<typeof ReplayRule>;

export const ReplayRules = z.array(ReplayRule).max(maxReplayRules);

export const SuiteSelection = z
  .strictObject({
    kind: z.enum(['turn', 'request']).optional().meta({
      description: '`turn` (default): turns of sessions. `request`: requests to models without a session, which need logged bodies.',
    }),
    agent: ResourceName.optional(),
    toolset: ToolsetName.optional(),
    model: z.string().min(1).max(250).optional().meta({ description: '`<provider>/<model>`, as requested.' }),
    key: id.optional().meta({ description: 'Id of the key.' }),
    status: z
      .enum(['completed', 'failed', 'cancelled', 'interrupted'])
      .optional()
      .meta({ description: 'How the work ended. Absent: in any way; work that has not ended is never selected.' }),
    tools: z
      .array(z.string().min(1).max(limits.maxCanonicalNameLength))
      .min(1)
      .max(100)
      .optional()
      .meta({
        description: 'Only turns that called one of these tools: canonical names, where `*` matches any text.',
        example: ['github.*'],
      }),
    days: z.int().min(1).max(maxSelectedDays).optional().meta({ description: 'The last days, including today (UTC). Default 30.' }),
    from: z.iso.date().optional().meta({ description: 'First day (UTC), in place of `days`.' }),
    to: z.iso.date().optional().meta({ description: 'Last day (UTC), inclusive. Default: today.' }),
    limit: z
      .int()
      .min(1)
      .max(maxReplayCases)
      .optional()
      .meta({ description: `Most cases, the newest first. Default ${defaultReplayCases}.` }),
  })
  .refine(({ days, from, to }) => days === undefined || (from === undefined && to === undefined), {
    path: ['days'],
    message: 'cannot be given with `from` or `to`',
  })
  .refine(({ from, to }) => to === undefined || from !== undefined, { path: ['to'], message: 'needs `from`' })
  .refine(({ from, to }) => from === undefined || to === undefined || from <= to, { path: ['to'], message: 'is before `from`' })
  .refine(({ kind, toolset, tools }) => kind !== 'request' || (toolset === undefined && tools === undefined), {
    path: ['kind'],
    message: 'requests without a session have no toolset and no recorded calls: leave out `toolset` and `tools`, or select turns',
  })
  .meta({ id: 'SuiteSelection', example: { agent: 'support', days: 30, limit: 100 } });
export type SuiteSelection = z.infer<typeof SuiteSelection>;

const rules = ReplayRules.optional().meta({ description: 'In addition to the rules of the suite.' });

export const SuiteCase = z
  .union([
    z.strictObject({
      session: id,
      turn: id.optional().meta({ description: 'Absent: all turns of the session, the oldest first.' }),
      rules,
    }),
    z.strictObject({ request: id.meta({ description: 'Id of a row of `GET /v1/requests`, or an `x-request-id`.' }), rules }),
  ])
  .meta({ id: 'SuiteCase', example: { session: '0123…', turn: 'turn_1' } });
export type SuiteCase = z.infer<typeof SuiteCase>;

export const SuiteCases = z.array(SuiteCase).min(1).max(maxReplayCases);

export const Suite = z
  .strictObject({
    name: ResourceName.optional().meta({ description: 'Must equal the name in the path, if given.' }),
    description: boundedText(limits.maxDescriptionBytes).optional(),
    select: SuiteSelection.optional().meta({ description: 'Selects from the request log when a replay starts.' }),
    cases: SuiteCases.optional().meta({ description: 'The cases themselves, in place of `select`.' }),
    rules: ReplayRules.default([]).meta({ description: 'ReplayFacts that must hold for every case.' }),
  })
  .refine(({ select, cases }) => (select === undefined) !== (cases === undefined), { message: 'needs either `select` or `cases`' })
  .refine((suite) => utf8Length(JSON.stringify(suite)) <= maxSuiteBytes, { message: `must be at most ${maxSuiteBytes} bytes as JSON` })
  .meta({ id: 'Suite', example: { select: { agent: 'support', days: 30 }, rules: [{ calls: 'same' }] } });
export type Suite = z.infer<typeof Suite>;

/** A case as it is selected, before it is read. */
export const SelectedCase = z
  .object({
    session: z.string().nullable(),
    turn: z.string().nullable(),
    request: z.string().nullable(),
    at: z.iso.datetime().nullable().meta({ description: 'When the work began. null: not read yet.' }),
    agent: z.string().nullable(),
    model: z.string().nullable(),
    rules: ReplayRules.meta({ description: 'Those of the case itself.' }),
    reason: z.string().nullable().meta({ description: 'Why it cannot be replayed. null: nothing is known against it.' }),
  })
  .meta({ id: 'SelectedCase' });
export type SelectedCase = z.infer<typeof SelectedCase>;
