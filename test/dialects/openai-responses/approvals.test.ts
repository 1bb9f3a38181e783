import { accumulateResponse } from 'openai/lib/responses/ResponseAccumulator';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { expect, it } from 'vitest';
import { readApprovalId, toApprovalId } from '../../../src/core/text/reference.ts';
import type { SessionEventBody } from '../../../src/core/turn/session-event.ts';
import { createAnswerDocument, createAnswerEncoder } from '../../../src/dialects/answer.ts';
import { openAiResponses } from '../../../src/dialects/openai-responses/dialect.ts';
import { noEffects } from '../../fakes/no-effects.ts';
import { logOf, sessionId, stepStart, turn, turnStart } from '../events.ts';

const call = { turn, step: 1, callId: 'a1' } as const;
const events = logOf(
  turnStart,
  stepStart(1),
  { type: 'tool-input-start', ...call, name: 'rm', canonical: 'builtin.delete_file', via: 'alias' },
  { type: 'tool-input-end', ...call, arguments: { path: 'x' }, repaired: false },
  { type: 'step-end', turn, step: 1, reason: 'tool-calls', model: 'm' },
  {
    ...{ type: 'approval-required', ...call, name: 'rm', canonical: 'builtin.delete_file', entry: 'delete_file' },
    ...{ arguments: { path: 'x' }, reason: 'It deletes a file', ask: 'delete-file', target: 'x', ...noEffects },
    expiresAt: '2026-01-01T00:00:00.000Z',
  } as SessionEventBody,
);
const identity = { id: 'resp_1', model: 'agent/helper', created: 1_760_000_000 };
const range = { turn, after: 0, earlier: null };
const request = {
  type: 'mcp_approval_request',
  id: toApprovalId({ callId: 'a1', round: 1, session: sessionId }),
  server_label: 'builtin',
  name: 'delete_file',
  arguments: '{"path":"x"}',
};

it('asks for the approval in an item of its own after the sentence, in the document and in the stream of the stock client', () => {
  const document = createAnswerDocument(range, identity, sessionId, openAiResponses);
  for (const event of events) document.take(event);
  const { output, status } = document.document();
  expect([status, output]).toMatchObject(['completed', [{ type: 'message' }, request]]);

  const encoder = createAnswerEncoder(range, identity, sessionId, openAiResponses);
  const frames = events.flatMap((event) => encoder.encode(event)).map(({ data }) => JSON.parse(data) as ResponseStreamEvent);
  const whole = frames.reduce<ReturnType<typeof accumulateResponse> | undefined>((so, frame) => accumulateResponse(frame, so), undefined);
  expect(whole?.output).toEqual(output);
});

it('finds the question in the id of an approval, and no question in other ids', () => {
  expect(readApprovalId(request.id)).toEqual({ callId: 'a1', round: 1, session: sessionId });
  const nested = { callId: 'call_1.2', round: 12, session: sessionId };
  expect(readApprovalId(toApprovalId(nested))).toEqual(nested);
  for (const id of ['mcpr_68a', request.id.slice(0, -1), request.id.replace('_1_', '_0_'), `${request.id}\n`])
    expect(readApprovalId(id)).toBeNull();
});

const read = (input: object[]) => openAiResponses.readRequest({ model: 'agent/helper', input }).conversation({ inSession: true });
const answer = { type: 'mcp_approval_response', approval_request_id: request.id };

it('reads decisions after the last answer, and takes earlier ones for history', () => {
  const user = { role: 'user', content: 'x' };
  expect(read([user, request, { ...answer, approve: false }]).decisions).toEqual([
    { callId: 'a1', round: 1, session: sessionId, decision: 'deny', path: 'input[2].approval_request_id' },
  ]);
  const later = [user, request, { ...answer, approve: true }, { role: 'assistant', content: 'Done.' }, user];
  expect(read(later)).toMatchObject({ decisions: [], input: [{ text: 'x' }] });
});

it('refuses approvals of other services with their path', () => {
  const expectFault = (item: object, path: string): void =>
    expect(() => read([{ role: 'user', content: 'x' }, item])).toThrow(
      expect.objectContaining({ extra: { issues: [expect.objectContaining({ path })] } }),
    );
  expectFault({ ...request, id: 'mcpr_68a' }, 'input[1].id');
  expectFault({ type: 'mcp_approval_response', approval_request_id: 'mcpr_68a', approve: true }, 'input[1].approval_request_id');
  expectFault({ ...answer }, 'input[1].approve');
});

it('finds the session of a decision', () => {
  expect(openAiResponses.sessionOfCalls({ input: [{ ...answer, approve: true }] })).toBe(sessionId);
});
