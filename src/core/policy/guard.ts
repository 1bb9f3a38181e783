/**
 * The guard of a workspace (`settings.guard`): an endpoint of its administrator that is asked before each tool call and after each result. Its
 * settings, what it is sent, what it may answer, and the decision on a call. `engine/call/guard-call.ts` applies it.
 */
import * as z from 'zod';
import { limits } from '../limits/limits.ts';
import { SecretName } from '../secrets/secret.ts';
import { ContentBlock, type ToolResult } from '../tools/tool.ts';
import type { Redaction } from '../redaction/redaction.ts';
import { ToolsetName } from '../toolset/toolset.ts';
import { CallbackUrl } from '../text/http-url.ts';

const maxGuardedToolsets = 100;
const maxGuardReasonCharacters = 1_000;

export const GuardEndpoint = z
  .strictObject({
    url: CallbackUrl.meta({ description: 'Receives the questions, by POST. Redirects are not followed.' }),
    secret: SecretName.optional().meta({
      description:
        'Name of a secret of the workspace that signs the questions (Standard Webhooks). Its `hosts` must contain the host of `url`. Absent: the questions are not signed.',
    }),
    timeoutMs: z.int().min(100).max(limits.maxGuardTimeoutMs).default(3_000).meta({ description: 'For the whole response.' }),
    onFailure: z.enum(['allow', 'deny']).default('deny').meta({
      description: 'What happens when the guard does not respond in time, or with something other than an answer.',
    }),
    before: z.boolean().default(true).meta({ description: 'Whether the guard checks each call before it runs.' }),
    after: z.boolean().default(false).meta({ description: 'Whether the guard checks each result.' }),
    toolsets: z.array(ToolsetName).min(1).max(maxGuardedToolsets).optional().meta({
      description: 'Only calls with these toolsets. Absent: all calls.',
    }),
  })
  .refine(({ before, after }) => before || after, { message: 'must have `before` or `after`: otherwise the guard is never asked' })
  .meta({
    id: 'Guard',
    example: {
      url: 'https://guard.example.com/moniker',
      secret: 'GUARD_SECRET',
      timeoutMs: 3_000,
      onFailure: 'deny',
      before: true,
      after: true,
    },
  });
export type GuardEndpoint = z.infer<typeof GuardEndpoint>;

/** What a workspace applies to calls and results besides its policy. */
export type Safeguards = { guard: GuardEndpoint | null; redaction: Redaction | null };

export const noSafeguards: Safeguards = { guard: null, redaction: null };

/** The call that the guard checks. `arguments`: the tool's own, with secrets as `{"secret": NAME}`. */
export type GuardedCallInfo = {
  workspace: string;
  key: string;
  agent?: string;
  session?: string;
  turn?: string;
  toolset?: string;
  callId: string;
  /** The call that made this nested call. */
  parent?: string;
  canonical: string;
  requested: string;
  arguments: Record<string, unknown>;
};

export type GuardQuestion = GuardedCallInfo & ({ event: 'before' } | { event: 'after'; result: GuardedResult });

/** `content`: as a model reads it. `unaltered`: as a client gets it, if that has characters that a person cannot see. */
type GuardedResult = Pick<ToolResult, 'isError' | 'code' | 'content' | 'structuredContent'> & { unaltered?: ContentBlock[] };

const reason = z.string().max(maxGuardReasonCharacters).optional();
const allow = z.strictObject({ decision: z.literal('allow'), reason });
const deny = z.strictObject({ decision: z.literal('deny'), reason });

const BeforeAnswer = z.discriminatedUnion('decision', [
  allow,
  deny,
  z.strictObject({ decision: z.literal('replace'), reason, arguments: z.record(z.string(), z.unknown()) }),
]);
const AfterAnswer = z.discriminatedUnion('decision', [
  allow,
  deny,
  z.strictObject({
    decision: z.literal('replace'),
    reason,
    content: z.array(ContentBlock).max(limits.maxResultBlocks),
    structuredContent: z.unknown().optional(),
  }),
]);
export type BeforeAnswer = z.infer<typeof BeforeAnswer>;
export type AfterAnswer = z.infer<typeof AfterAnswer>;

export const guardAnswers = { before: BeforeAnswer, after: AfterAnswer } as const;

/** How the guard decided on a call, for the audit: the stricter of both decisions. `failed`: it gave no answer, and `onFailure` decided. */
export const GuardVerdict = z.enum(['allow', 'replace', 'deny', 'failed']).meta({ id: 'GuardVerdict' });
export type GuardVerdict = z.infer<typeof GuardVerdict>;

/**
 * The decision on a call before it runs, as the log of a turn has it. `of`: hash of the tool and the arguments that the guard
 * checked. `refused`: the call may not run. `arguments`: those that it runs with, for `replace`.
 */
export type GuardDecision = {
  verdict: GuardVerdict;
  of: string;
  refused?: true;
  reason?: string;
  arguments?: Record<string, unknown>;
};

/** Whether a safeguard applies to calls with this toolset. */
export function coversToolset({ toolsets }: { toolsets?: readonly string[] | undefined }, toolset: string | undefined): boolean {
  return toolsets === undefined || (toolset !== undefined && toolsets.includes(toolset));
}

const bySeverity: readonly GuardVerdict[] = ['deny', 'failed', 'replace', 'allow'];

/** Returns the verdict on a call that was judged before and after; null: the guard was not asked. */
export function strictest(before: GuardVerdict | undefined, after: GuardVerdict | null | undefined): GuardVerdict | null {
  return bySeverity.find((verdict) => verdict === before || verdict === after) ?? null;
}
