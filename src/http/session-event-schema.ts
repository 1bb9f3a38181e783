/** The events of a session's log as its readers receive them (`dialects/native.ts`), for the OpenAPI document and typed clients. */
import { GuardVerdict } from '../core/policy/guard.ts';
import { z } from 'zod';
import { Citation } from '../core/model/citation.ts';
import { Usage } from '../core/model/chat-event.ts';
import { AskedEffect, AskKind, DecisionReason } from '../core/policy/approval.ts';
import { ElicitationAction } from '../core/servers/elicitation.ts';
import { Repair } from '../core/tools/argument-repair.ts';
import { ContentBlock, ToolResultCode } from '../core/tools/tool.ts';
import { Proposal } from '../core/tools/ui-tool.ts';
import { InputPart, ReasoningPart, TextPart, ToolCallPart, ToolResultPart, Via } from '../core/model/message.ts';
import { replayCaseStatuses, replayStatuses } from '../core/turn/replay-event.ts';
import type { SessionEventBody } from '../core/turn/session-event.ts';
import { ProblemSchema } from './problem-schema.ts';

const inTurn = { turn: z.string() };
const inStep = { ...inTurn, step: z.int() };
const ofCall = { ...inStep, callId: z.string() };
const parent = z.string().meta({ description: 'For a nested call: the id of the outer call.' });
const nested = {
  parent: parent.optional(),
  more: z.int().optional().meta({ description: 'Number of further questions of the same batch, which follow.' }),
};
const named = {
  name: z.string().meta({ description: 'The name that the model used.' }),
  canonical: z.string().nullable(),
  via: Via.nullable(),
};
const object = z.record(z.string(), z.unknown());
const asked = { name: z.string(), canonical: z.string(), arguments: object };
const expiresAt = z.iso.datetime();
const cost = z.number().optional().meta({ description: 'USD. Absent: the tool has no price, or was not called.' });
const round = z.int().meta({ description: 'Number of the question of this call, from 1.' });

const Message = z.union([
  z.object({ role: z.literal('system'), parts: z.array(TextPart) }),
  z.object({ role: z.literal('user'), parts: z.array(InputPart) }),
  z.object({
    role: z.literal('assistant'),
    parts: z.array(
      z.union([TextPart, ReasoningPart, ToolCallPart, z.object({ type: z.literal('native'), provider: z.string(), data: z.unknown() })]),
    ),
    model: z.string().optional(),
  }),
  z.object({ role: z.literal('tool'), parts: z.array(ToolResultPart) }),
]);

type FieldsOf<Type> = Type extends 'native' ? object : Omit<Extract<SessionEventBody, { type: Type }>, 'type'>;

/** The compiler compares each schema with the type of its event, and finds an event without one. */
const fields = {
  history: z.object({ messages: z.array(Message), gathered: z.array(z.object({ canonical: z.string(), name: z.string() })).optional() }),
  'turn-start': z.object({
    ...inTurn,
    input: z.array(InputPart),
    model: z.string(),
    agent: z.string().optional(),
    edition: z.object({ toolset: z.string(), version: z.int(), revision: z.int(), hash: z.string() }).optional(),
  }),
  'step-start': z.object(inStep),
  'text-delta': z.object({ ...inStep, text: z.string() }),
  'reasoning-delta': z.object({ ...inStep, text: z.string() }),
  image: z.object({ ...inStep, mediaType: z.string(), data: z.string().meta({ description: 'Base64.' }) }),
  citations: z.object({ ...inStep, citations: z.array(Citation) }),
  'tool-input-start': z.object({ ...ofCall, ...named, nativeId: z.string().optional() }),
  'tool-input-delta': z.object({ ...ofCall, delta: z.string() }),
  'tool-input-end': z.object({
    ...ofCall,
    arguments: object.nullable().meta({ description: 'null: the text was cut off or cannot be repaired; `raw` has it.' }),
    repaired: z.boolean(),
    closersOnly: z.boolean().optional(),
    recovered: z.literal(true).optional().meta({ description: 'The call stood in the text of a reply that could have native calls.' }),
    raw: z.string().optional(),
    fault: z.enum(['truncated', 'invalid_json']).optional(),
  }),
  'tool-start': z.object({ ...ofCall, attempt: z.int(), cost }),
  'approval-required': z.object({
    ...ofCall,
    ...nested,
    ...asked,
    entry: z.string().meta({ description: 'Wire name of the toolset entry.' }),
    reason: z.string(),
    ask: AskKind,
    target: z.string().nullable(),
    effects: z.array(AskedEffect),
    effectCount: z.int(),
    several: z.literal(true).optional(),
    binding: z.array(z.string()),
    round,
    expiresAt,
  }),
  'approval-decided': z.object({
    ...ofCall,
    parent: parent.optional(),
    decision: z.enum(['approve', 'deny', 'expire']),
    by: z.string().meta({ description: 'Id of the key, `link`, or `clock` for `expire`.' }),
    reason: DecisionReason.optional(),
    remember: z.literal('session').optional().meta({ description: 'The same is allowed in this session from then on.' }),
  }),
  'inner-call': z.object({ ...ofCall, ...named, parent, arguments: object }),
  'inner-result': z.object({
    ...ofCall,
    parent,
    canonical: z.string().nullable(),
    isError: z.boolean(),
    code: ToolResultCode.optional(),
    content: z.array(ContentBlock),
    durationMs: z.number(),
    cost,
  }),
  'guard-decided': z.object({
    ...ofCall,
    parent: parent.optional(),
    stage: z
      .enum(['before', 'after'])
      .meta({ description: 'Before the call, or about its result. A result that the guard allows has no event.' }),
    verdict: GuardVerdict,
    of: z.string().meta({ description: 'Hash of the call that the guard was asked about.' }),
    refused: z.literal(true).optional().meta({ description: 'The call did not run.' }),
    reason: z.string().optional(),
    arguments: object.optional().meta({ description: 'The arguments that the guard replaced those of the call with.' }),
  }),
  'tool-progress': z.object({ ...ofCall, progress: z.number(), total: z.number().optional(), message: z.string().optional() }),
  'input-required': z.object({
    ...ofCall,
    ...nested,
    ...asked,
    entry: z.string(),
    server: z.string(),
    requests: z.record(z.string(), z.object({ method: z.string(), params: object })),
    round,
    expiresAt,
  }),
  'input-given': z.object({
    ...ofCall,
    parent: parent.optional(),
    round,
    actions: z.record(z.string(), ElicitationAction),
    by: z.string(),
  }),
  'client-tool-required': z.object({ ...ofCall, ...nested, ...asked }),
  'tool-result': z.object({
    ...ofCall,
    ...named,
    isError: z.boolean(),
    code: ToolResultCode.optional(),
    content: z.array(ContentBlock),
    structuredContent: z.unknown().optional(),
    issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    repaired: z.array(Repair).optional(),
    cost,
  }),
  dropped: z.object({
    ...inStep,
    model: z.string(),
    items: z
      .array(z.object({ name: z.string(), reason: z.string().optional() }))
      .meta({ description: 'What the request asked for and the model was not sent, in the terms of the request.' }),
  }),
  native: z.object({ ...inStep, provider: z.string().meta({ description: 'Its data is not sent to readers.' }) }),
  usage: z.object({ ...inStep, usage: Usage, model: z.string().optional() }),
  'step-end': z.object({
    ...inStep,
    reason: z.string(),
    model: z.string(),
    inOrder: z.literal(true).optional().meta({ description: 'The calls of this step run one after the other.' }),
  }),
  'step-restart': z.object({
    ...inStep,
    from: z.int().meta({ description: 'Discard the events of this step from this number on.' }),
    model: z.string().optional().meta({ description: 'The model whose reply failed.' }),
    code: z.string().optional().meta({ description: 'The code of its problem. Absent: the service stopped during the reply.' }),
  }),
  'turn-resume': z.object({ ...inTurn, attempt: z.int() }),
  'turn-input': z.object({ ...inTurn, input: z.array(InputPart) }),
  compaction: z.object({ ...inTurn, through: z.string(), summary: z.string() }),
  proposal: Proposal.extend(inTurn),
  error: z.object({ ...inTurn, problem: ProblemSchema, model: z.string().optional() }),
  'turn-end': z.object({
    ...inTurn,
    status: z.enum(['completed', 'failed', 'cancelled', 'interrupted']),
    reason: z.enum([
      ...(['stop', 'length', 'content_filter', 'max_steps', 'max_tokens', 'max_cost', 'timeout', 'cancelled'] as const),
      ...(['upstream_error', 'recovery_limit', 'internal'] as const),
    ]),
    usage: Usage,
  }),
  'replay-case': z.object({ number: z.int(), status: z.enum(replayCaseStatuses) }),
  'replay-end': z.object({ status: z.enum(replayStatuses) }),
} satisfies { [Type in SessionEventBody['type']]: z.ZodType<FieldsOf<Type>> };

const numbered = {
  id: z.int().meta({ description: 'Number of the event in its session, from 1, without gaps.' }),
  at: z.int().meta({ description: 'Milliseconds since the epoch.' }),
};

export const SessionEventSchema = z
  .union(Object.entries(fields).map(([type, schema]) => z.object({ type: z.literal(type), ...numbered, ...schema.shape })))
  .meta({ id: 'SessionEvent', description: 'The `data` of a server-sent event. Its `event:` is the `type`, its `id:` the `id`.' });
