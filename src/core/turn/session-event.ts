/**
 * The native events of a session's log (contract §5), as types and as the schemas of the OpenAPI document. The log is authoritative: the
 * transcript, the streams of every dialect, resumed streams and the state of a turn are folds over it. The content of a numbered event never
 * changes. New kinds may be added, existing ones are not changed.
 */
import * as z from 'zod';
import { AskedEffect, AskKind, DecisionReason } from '../policy/approval.ts';
import { Citation } from '../model/citation.ts';
import { MadeSearch } from '../model/web-search.ts';
import { Usage } from '../model/chat-event.ts';
import { GuardVerdict } from '../policy/guard.ts';
import { ElicitationAction } from '../servers/elicitation.ts';
import { InputPart, type Message, ReasoningPart, TextPart, ToolCallPart, ToolResultPart, Via } from '../model/message.ts';
import { ProblemSchema } from '../problem.ts';
import { Repair } from '../tools/argument-repair.ts';
import { ContentBlock, ServedBy, ToolResultCode } from '../tools/tool.ts';
import { Proposal } from '../tools/ui-tool.ts';
import { replayCaseStatuses, replayStatuses } from './replay-event.ts';

const inTurn = { turn: z.string() };
const inStep = { ...inTurn, step: z.int() };
const ofCall = { ...inStep, callId: z.string() };
const parent = z.string().meta({ description: 'For a nested call: the id of the outer call.' });
/** `more`: readers wait for the last question. */
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
const listOf = <Item extends z.ZodType>(item: Item): z.ZodType<readonly z.infer<Item>[]> => z.array(item);
const asked = { name: z.string(), canonical: z.string(), arguments: object };
const expiresAt = z.iso.datetime();
const cost = z.number().optional().meta({ description: 'USD. Absent: the tool has no price, or was not called.' });
const round = z.int().meta({ description: 'Number of the question of this call, from 1.' });

const MessageSchema: z.ZodType<Message> = z.union([
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

const fields = {
  /**
   * The conversation from before this session: a client's resent history, or the prefix of a fork. `gathered`: the tools gathered
   * there.
   */
  history: z.object({
    messages: z.array(MessageSchema),
    gathered: listOf(z.object({ canonical: z.string(), name: z.string() })).optional(),
  }),
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
  /** An image that the model made. Models are not sent it again. */
  image: z.object({ ...inStep, mediaType: z.string(), data: z.string().meta({ description: 'Base64.' }) }),
  /** Sources of the step's text. */
  citations: z.object({ ...inStep, citations: z.array(Citation) }),
  /** A web search that the request declared has ended: of the provider, or of the toolset's tool, whose call is `call`. */
  search: z.object({ ...inStep, call: z.string().optional(), ...MadeSearch.shape }),
  'tool-input-start': z.object({ ...ofCall, ...named, nativeId: z.string().optional() }),
  'tool-input-delta': z.object({ ...ofCall, delta: z.string() }),
  /**
   * `closersOnly`: with `repaired`, only closing brackets were missing, and the stream ended properly. `raw` and `fault`: only if `arguments`
   * is null.
   */
  'tool-input-end': z.object({
    ...ofCall,
    arguments: object.nullable().meta({ description: 'null: the text was cut off or cannot be repaired; `raw` has it.' }),
    repaired: z.boolean(),
    closersOnly: z.boolean().optional(),
    recovered: z.literal(true).optional().meta({ description: 'The call stood in the text of a reply that could have native calls.' }),
    raw: z.string().optional(),
    fault: z.enum(['truncated', 'invalid_json']).optional(),
  }),
  /**
   * A call is about to be attempted. Together with its `tool-result` these are the two rows of an effect; one without the other means
   * that the process died in between. `attempt` counts from 1; only `safe` calls have a second attempt. `cost`: what the call costs if its
   * result does not say more.
   */
  'tool-start': z.object({ ...ofCall, attempt: z.int(), cost }),
  /**
   * A person must decide. `ask`, `target`, `effects`, `effectCount`, `several` and `binding`: those of the `ApprovalQuestion`. `round`: the
   * effects of the call changed after the earlier questions were approved.
   */
  'approval-required': z.object({
    ...ofCall,
    ...nested,
    ...asked,
    entry: z.string().meta({ description: 'Wire name of the toolset entry.' }),
    reason: z.string(),
    ask: AskKind,
    target: z.string().nullable(),
    effects: listOf(AskedEffect),
    effectCount: z.int(),
    several: z.literal(true).optional(),
    binding: listOf(z.string()),
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
  /**
   * A tool calls a tool: `parent` is the outer call in the step, `callId` the id of the inner call (`ports/call-journal.ts`).
   * Together with its `inner-result` these are the two rows of an effect. The result returned to made code is stored beside the log;
   * `content` is shortened for readers.
   */
  'inner-call': z.object({ ...ofCall, ...named, parent, arguments: object }),
  'inner-result': z.object({
    ...ofCall,
    parent,
    canonical: z.string().nullable(),
    isError: z.boolean(),
    code: ToolResultCode.optional(),
    content: z.array(ContentBlock),
    served: ServedBy.optional(),
    durationMs: z.number(),
    cost,
  }),
  /** The guard of the workspace decided on a call. `before`: a call that resumes uses this decision. */
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
  /** Progress that the server of a tool reports during a call: rate-limited, not every update. */
  'tool-progress': z.object({ ...ofCall, progress: z.number(), total: z.number().optional(), message: z.string().optional() }),
  /**
   * The server of a tool asks a person something, and the call is repeated with the answer. `requests`: by the server's own keys, as
   * screened by `core/servers/elicitation.ts`. The server's `state` is stored beside the log.
   */
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
  /** The answers, without the content of forms. `by`: id of the key, or `clock`, which declines. */
  'input-given': z.object({
    ...ofCall,
    parent: parent.optional(),
    round,
    actions: z.record(z.string(), ElicitationAction),
    by: z.string(),
  }),
  /** The client runs the tool: `name` is one of the tools in the request. */
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
    served: ServedBy.optional(),
    cost,
  }),
  /** Once for each model that is called. */
  dropped: z.object({
    ...inStep,
    model: z.string(),
    items: z
      .array(z.object({ name: z.string(), reason: z.string().optional() }))
      .meta({ description: 'What the request asked for and the model was not sent, in the terms of the request.' }),
  }),
  native: z.object({ ...inStep, provider: z.string().meta({ description: 'Its data is not sent to readers.' }) }),
  /** `model`: the model that was called; a step may have called several. */
  usage: z.object({ ...inStep, usage: Usage, model: z.string().optional() }),
  'step-end': z.object({
    ...inStep,
    reason: z.string(),
    model: z.string(),
    target: z
      .string()
      .optional()
      .meta({ description: 'Of a route: the model, why it was asked, and which failed before, as `x-moniker-target`.' }),
    inOrder: z.literal(true).optional().meta({ description: 'The calls of this step run one after the other.' }),
  }),
  'step-restart': z.object({
    ...inStep,
    from: z.int().meta({ description: 'Discard the events of this step from this number on.' }),
    model: z.string().optional().meta({ description: 'The model whose reply failed.' }),
    code: z.string().optional().meta({ description: 'The code of its problem. Absent: the service stopped during the reply.' }),
  }),
  /** The turn continues after its process died. `attempt` counts the turn's recoveries from 1. */
  'turn-resume': z.object({ ...inTurn, attempt: z.int() }),
  /** Input sent while the turn waited; the next step answers it too. */
  'turn-input': z.object({ ...inTurn, input: z.array(InputPart) }),
  /**
   * From here on models read `summary` in place of the turns up to and including `through`. One row, so a reader sees either the old
   * or the new conversation.
   */
  compaction: z.object({ ...inTurn, through: z.string(), summary: z.string() }),
  /** For the person, before the end of the turn; best first. */
  proposal: Proposal.extend(inTurn),
  /** `model`: the last one that failed. */
  error: z.object({ ...inTurn, problem: ProblemSchema, model: z.string().optional() }),
  /** `stop`: the model ended the turn. `recovery_limit`: the process died too often in it without progress. */
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
};

type Fields = { [Type in keyof typeof fields]: { type: Type } & z.infer<(typeof fields)[Type]> };

/** `data` of `native`: opaque to everything but the adapter of `provider`; sent back unchanged. */
export type SessionEventBody = Exclude<Fields[keyof Fields], { type: 'native' }> | (Fields['native'] & { data: unknown });
export type TurnStatus = Fields['turn-end']['status'];
export type TurnEndReason = Fields['turn-end']['reason'];

/** `id` counts from 1 in each session without gaps; `at` is milliseconds since the epoch. */
export type SessionEvent = SessionEventBody & { id: number; at: number };

const numbered = {
  id: z.int().meta({ description: 'Number of the event in its session, from 1, without gaps.' }),
  at: z.int().meta({ description: 'Milliseconds since the epoch.' }),
};

/** The events as their readers receive them (`dialects/native.ts`). */
export const SessionEventSchema = z
  .union(Object.entries(fields).map(([type, schema]) => z.object({ type: z.literal(type), ...numbered, ...schema.shape })))
  .meta({ id: 'SessionEvent', description: 'The `data` of a server-sent event. Its `event:` is the `type`, its `id:` the `id`.' });
