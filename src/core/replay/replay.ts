/** A replay: one run of a suite with a model, agent, toolset or prompt of choice, and what it found in each case. */
import * as z from 'zod';
import { InputPart } from '../model/message.ts';
import { ToolResultCode } from '../tools/tool.ts';
import { Toolset, ToolsetReference } from '../toolset/toolset.ts';
import { Agent, ModelRef, ResourceName } from '../turn/agent.ts';
import { replayCaseStatuses, replayStatuses } from '../turn/replay-event.ts';
import { maxReplayCases, ReplayRule, ReplayRules, SuiteCases, SuiteSelection } from './suite.ts';

/** Of one key. */
export const maxRunningReplays = 10;

const count = z.int().nonnegative();

/** What differs from the recording. */
export const ReplayWith = z
  .strictObject({
    model: ModelRef.optional(),
    agent: z
      .union([
        z.string().regex(/^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?(@[1-9][0-9]{0,8})?$/, { message: 'must be <agent> or <agent>@<version>' }),
        Agent.omit({ name: true }),
      ])
      .optional()
      .meta({ description: 'An agent, one version of it, or a draft of one.' }),
    toolset: z.union([ToolsetReference, Toolset]).optional().meta({ description: 'A toolset, one version of it, or a draft of one.' }),
    instructions: z.string().max(100_000).optional(),
  })
  .meta({
    id: 'ReplayWith',
    description: 'What replaces that of the recording. Empty: as recorded.',
    example: { model: 'openai/gpt-5-mini' },
  });
export type ReplayWith = z.infer<typeof ReplayWith>;

const unmatched = z.enum(['end', 'run-safe']).meta({
  description:
    'What a call does that the recording has no answer for: `end` (default) ends the comparison of its case there; `run-safe` runs it if its tool is safe.',
});
const concurrency = z.int().min(1).max(8).meta({ description: 'Cases that run at the same time. Default 2.' });
const maxCost = z.number().positive().max(1_000_000);

export const ReplayRequest = z
  .strictObject({
    suite: ResourceName.optional(),
    select: SuiteSelection.optional(),
    cases: SuiteCases.optional(),
    rules: ReplayRules.optional().meta({ description: 'With `select` or `cases`; a suite has its own.' }),
    with: ReplayWith.default({}),
    unmatched: unmatched.default('end'),
    concurrency: concurrency.default(2),
    maxCost: maxCost.optional().meta({ description: 'In USD. Cases that would start after so much was used are skipped.' }),
  })
  .refine(({ suite, select, cases }) => [suite, select, cases].filter((given) => given !== undefined).length === 1, {
    message: 'needs one of `suite`, `select` and `cases`',
  })
  .refine(({ suite, rules }) => suite === undefined || rules === undefined, { path: ['rules'], message: 'the suite has its own rules' })
  .meta({ id: 'ReplayRequest', example: { suite: 'support', with: { model: 'openai/gpt-5-mini' } } });
export type ReplayRequest = z.infer<typeof ReplayRequest>;

export const ReplayFacts = z
  .object({
    calls: count.meta({ description: 'Calls of tools by the model, without those inside of other calls.' }),
    steps: count.meta({ description: 'Calls of models, also failed ones.' }),
    inputTokens: count.meta({ description: 'Includes cached input.' }),
    cachedInputTokens: count,
    outputTokens: count,
    cost: z.number().nonnegative().nullable().meta({ description: 'Of models and tools, in USD. null: not known.' }),
    durationMs: z.number().nonnegative().meta({ description: 'Of the calls of models.' }),
    approvals: count.meta({ description: 'Calls that required an approval.' }),
  })
  .meta({ id: 'ReplayFacts' });
export type ReplayFacts = z.infer<typeof ReplayFacts>;

export const noFacts: ReplayFacts = {
  ...{ calls: 0, steps: 0, inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, cost: 0, durationMs: 0, approvals: 0 },
};

/** `cost`: null if one of them is. */
export function addFacts(one: ReplayFacts, other: ReplayFacts): ReplayFacts {
  return {
    calls: one.calls + other.calls,
    steps: one.steps + other.steps,
    inputTokens: one.inputTokens + other.inputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cost: one.cost === null || other.cost === null ? null : one.cost + other.cost,
    durationMs: one.durationMs + other.durationMs,
    approvals: one.approvals + other.approvals,
  };
}

export const ReplayCaseStatus = z.enum(replayCaseStatuses).meta({
  id: 'ReplayCaseStatus',
  description:
    '`same`: the same calls, and no error. `ended`: a call had no recorded answer, so that the comparison ends there. `unreadable`: the recording is gone, or cannot be replayed. `skipped`: for the budget, or because the replay was cancelled.',
});
export type ReplayCaseStatus = z.infer<typeof ReplayCaseStatus>;

export const Replay = z
  .object({
    id: z.string(),
    createdAt: z.iso.datetime(),
    endedAt: z.iso.datetime().nullable(),
    keyId: z.string(),
    status: z.enum(replayStatuses).meta({ description: '`stopped`: `maxCost` was used.' }),
    reason: z.string().nullable(),
    suite: z.object({ name: z.string(), version: z.int() }).nullable().meta({ description: 'null: the cases were in the request.' }),
    with: ReplayWith,
    unmatched,
    concurrency,
    maxCost: maxCost.nullable(),
    cases: z.object({
      total: count.max(maxReplayCases),
      left: count.meta({ description: 'Recorded work that matched and is not in this replay: there is more than its limit.' }),
      done: count,
      same: count,
      different: count,
      ended: count,
      failed: count,
      unreadable: count,
      skipped: count,
    }),
    rules: z.object({ passed: count, failed: count }),
    uncounted: count.meta({
      description: 'Attempts of cases that did not end, because a process or a read failed: what they used is in no sum.',
    }),
    recorded: ReplayFacts.meta({ description: 'Sums over the cases that were replayed.' }),
    replayed: ReplayFacts,
  })
  .meta({ id: 'Replay' });
export type Replay = z.infer<typeof Replay>;

/** In lists. */
export const ListedReplay = Replay.extend({
  omitted: z
    .array(z.enum(['agent', 'toolset', 'instructions']))
    .optional()
    .meta({
      description: 'Members of `with` that are too long for a list: a GET of the replay has them. Absent: none.',
    }),
}).meta({ id: 'ListedReplay' });
export type ListedReplay = z.infer<typeof ListedReplay>;

const maxListedCharacters = 2_000;

export function toListedReplay(replay: Replay): ListedReplay {
  const { agent, toolset, instructions, ...rest } = replay.with;
  const members = Object.entries({ agent, toolset, instructions }).filter(([, value]) => value !== undefined);
  const isLong = ([, value]: (typeof members)[number]): boolean => JSON.stringify(value).length > maxListedCharacters;
  const omitted = members.filter(isLong).map(([name]) => name as 'agent' | 'toolset' | 'instructions'); // Listed above.
  const shown = { ...rest, ...Object.fromEntries(members.filter((member) => !isLong(member))) };
  return { ...replay, with: shown, ...(omitted.length > 0 && { omitted }) };
}

export const JudgedRule = z
  .object({
    rule: ReplayRule,
    passed: z.boolean(),
    detail: z.string().nullable().meta({ description: 'Why it failed.' }),
  })
  .meta({ id: 'JudgedRule' });
export type JudgedRule = z.infer<typeof JudgedRule>;

export const ComparedCalls = z.object({ same: count, changed: count, added: count, missing: count });
export type ComparedCalls = z.infer<typeof ComparedCalls>;

export const ReplayCase = z
  .object({
    number: z.int().min(1),
    session: z.string().nullable(),
    turn: z.string().nullable(),
    request: z.string().nullable(),
    status: ReplayCaseStatus,
    reason: z.string().nullable(),
    calls: ComparedCalls,
    rules: z.array(JudgedRule),
    recorded: ReplayFacts.nullable(),
    replayed: ReplayFacts.nullable(),
  })
  .meta({ id: 'ReplayCase' });
export type ReplayCase = z.infer<typeof ReplayCase>;

export const ReplaySide = z
  .object({
    text: z.string().meta({ description: 'The answer: the text of the last step.' }),
    calls: z.array(
      z.object({
        requested: z.string(),
        canonical: z.string().nullable(),
        arguments: z.record(z.string(), z.unknown()).nullable().meta({
          description:
            'The tool’s own arguments: as the tool receives them, whatever the toolset calls them. null: they were no JSON object.',
        }),
        isError: z.boolean(),
        code: ToolResultCode.nullable(),
      }),
    ),
  })
  .meta({ id: 'ReplaySide' });
export type ReplaySide = z.infer<typeof ReplaySide>;

export const CallDifference = z
  .object({
    kind: z.enum(['same', 'changed', 'added', 'missing']).meta({
      description: '`changed`: the same tool with other arguments. `added`: only in the replay. `missing`: only in the recording.',
    }),
    recorded: count.nullable().meta({ description: 'Index in the calls of the recording.' }),
    replayed: count.nullable().meta({ description: 'Index in the calls of the replay.' }),
    paths: z.array(z.string()).meta({ description: 'JSON Pointers to arguments that differ, the first ones.', example: ['/query'] }),
  })
  .meta({ id: 'CallDifference' });
export type CallDifference = z.infer<typeof CallDifference>;

export const ReplayCaseDetail = ReplayCase.extend({
  input: z.array(InputPart),
  recordedSide: ReplaySide.nullable(),
  replayedSide: ReplaySide.nullable(),
  differences: z.array(CallDifference),
  isApproximate: z.boolean().optional().meta({
    description: 'There are so many calls that the differences are correct, but may not be the fewest. Absent: they are.',
  }),
}).meta({ id: 'ReplayCaseDetail' });
export type ReplayCaseDetail = z.infer<typeof ReplayCaseDetail>;
