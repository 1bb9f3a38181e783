/** `runTurn`: one turn from its input to its answer, with callbacks for everything that it waits for. */
import { newIdempotencyKey, type MonikerClient } from './client.ts';
import { MonikerError } from './error.ts';
import { followEvents, streamTurn, toTurnInput, type SessionEvent, type TurnInput } from './events.ts';
import type { components } from './schema.ts';

type Schemas = components['schemas'];
export type TurnAnswer = Schemas['TurnAnswer'];
export type ApprovalRequired = Extract<SessionEvent, { type: 'approval-required' }>;
/** A decision; or one with what else it allows, as in `POST /v1/sessions/{id}/approvals/{callId}`. */
export type ApprovalAnswer = 'approve' | 'deny' | Pick<Schemas['DecisionRequest'], 'decision' | 'reason' | 'remember'>;
export type InputRequired = Extract<SessionEvent, { type: 'input-required' }>;
type ClientToolRequired = Extract<SessionEvent, { type: 'client-tool-required' }>;

export type ClientTool = Omit<Schemas['ClientTool'], 'name'> & {
  /** Returns a text or content blocks. What it throws becomes a failed result, which the model reads. */
  run(args: Record<string, unknown>): ToolContent | Promise<ToolContent>;
};
type ToolContent = Schemas['ToolResultRequest']['content'];

export type RunTurnOptions = {
  /** Tools that this program runs, by name. */
  tools?: Record<string, ClientTool>;
  onEvent?(event: SessionEvent): void | Promise<void>;
  /** A part of the answer as it is written. After a crash of the service a step can begin again, with its text. */
  onText?(text: string): void | Promise<void>;
  onApproval?(request: ApprovalRequired): ApprovalAnswer | Promise<ApprovalAnswer>;
  /** Answers to all `requests`, by key. */
  onInput?(request: InputRequired): Record<string, Schemas['ElicitationAnswer']> | Promise<Record<string, Schemas['ElicitationAnswer']>>;
  /** Default: a new one. */
  idempotencyKey?: string;
  /** Rejects with its reason. The turn continues; `POST …/cancel` ends it. */
  signal?: AbortSignal;
};

/**
 * Submits a turn, reports its events, and answers what it waits for with the callbacks. Resolves when the turn has ended, also if it failed,
 * or with status `waiting` if it waits for something that has no callback.
 */
export async function runTurn(
  client: MonikerClient,
  session: string,
  input: TurnInput,
  { tools, idempotencyKey = newIdempotencyKey(), signal, ...callbacks }: RunTurnOptions = {},
): Promise<TurnAnswer> {
  const own = tools && Object.entries(tools).map(([name, { run: _run, ...definition }]) => ({ name, ...definition }));
  const request = { ...(own && { tools: own }), idempotencyKey, ...(signal && { signal }) };

  let turn: string | null = null;
  let last = 0;
  /** Returns whether the turn continues. */
  const take = async (event: SessionEvent): Promise<boolean> => {
    last = event.id;
    await callbacks.onEvent?.(event);
    if (event.type === 'text-delta') await callbacks.onText?.(event.text);
    return event.type !== 'turn-end' && (await respond(client, session, event, callbacks, tools));
  };

  let isOpen = true;
  for await (const event of streamTurn(client, session, input, request)) {
    // The first event of another turn means that this turn is queued after one that waits.
    if (event.type === 'turn-start') turn ??= event.turn;
    if (turn === null || !isOf(event, turn)) continue;
    isOpen = (await take(event)) && isOpen;
  }
  if (turn !== null && isOpen) {
    for await (const event of followEvents(client, session, { after: last, ...(signal && { signal }) }))
      if (isOf(event, turn) && !(await take(event))) break;
  }
  signal?.throwIfAborted();

  // The same request returns the answer of the turn.
  const answer = await client.post('/v1/sessions/{id}/turns', {
    params: { path: { id: session }, header: { 'idempotency-key': idempotencyKey } },
    body: { ...toTurnInput(input), ...(own && { tools: own }) },
    ...(signal && { signal }),
  });
  if (!('status' in answer)) throw new TypeError('The service did not wait for the turn');
  return answer;
}

function isOf(event: SessionEvent, turn: string): boolean {
  return 'turn' in event && event.turn === turn;
}

/** Sends what the callbacks return for a waiting call. Returns false if there is no callback for it. */
async function respond(
  client: MonikerClient,
  session: string,
  event: SessionEvent,
  { onApproval, onInput }: Pick<RunTurnOptions, 'onApproval' | 'onInput'>,
  tools: RunTurnOptions['tools'],
): Promise<boolean> {
  const path = { id: session };
  switch (event.type) {
    case 'approval-required': {
      if (onApproval === undefined) return false;
      const answer = await onApproval(event);
      const decided = typeof answer === 'string' ? { decision: answer } : answer;
      const body = { ...decided, ...(event.round !== undefined && { round: event.round }) };
      await unlessDecided(
        client.post('/v1/sessions/{id}/approvals/{callId}', { params: { path: { ...path, callId: event.callId } }, body }),
      );
      return true;
    }
    case 'input-required': {
      if (onInput === undefined) return false;
      const body = { callId: event.callId, input: await onInput(event), round: event.round };
      await unlessDecided(client.post('/v1/sessions/{id}/tool-results', { params: { path }, body }));
      return true;
    }
    case 'client-tool-required': {
      const tool = tools?.[event.name];
      if (tool === undefined) return false;
      const body = { callId: event.callId, ...(await run(tool, event)) };
      await client.post('/v1/sessions/{id}/tool-results', { params: { path }, body });
      return true;
    }
    default:
      return true;
  }
}

async function run(tool: ClientTool, { arguments: args }: ClientToolRequired): Promise<{ content: ToolContent; isError?: true }> {
  try {
    return { content: await tool.run(args) };
  } catch (error) {
    return { content: error instanceof Error ? error.message : String(error), isError: true };
  }
}

/** Another person or the clock may have decided first; the turn then continues with that decision. */
async function unlessDecided(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof MonikerError) || error.code !== 'conflict') throw error;
  }
}
