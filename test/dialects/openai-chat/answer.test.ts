import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Problem } from '../../../src/core/problem.ts';
import { toToolCallId } from '../../../src/core/text/reference.ts';
import type { SessionEvent, SessionEventBody } from '../../../src/core/turn/session-event.ts';
import { encodeFrame } from '../../../src/dialects/native.ts';
import {
  type NumberedFrame,
  type AnswerRange,
  answerEnd,
  approvalNote,
  createAnswerDocument,
  createAnswerEncoder,
  isAfter,
  inputNote,
  readApprovalNote,
  readInputNote,
} from '../../../src/dialects/answer.ts';
import { openAiChat } from '../../../src/dialects/openai-chat/dialect.ts';
import { deltas, type Chunk } from '../chunks.ts';
import { logOf, sessionId, stepStart, textDelta, turn, turnStart } from '../events.ts';
import { noEffects } from '../../fakes/no-effects.ts';

const identity = { id: 'chatcmpl-1', model: 'agent/helper', created: 1_760_000_000 };
const usage = { inputTokens: 3, outputTokens: 2 };
const whole: AnswerRange = { turn: 't1', after: 0, earlier: null };

function framesOf(events: readonly SessionEvent[], range = whole, includeUsage = false): NumberedFrame[] {
  const encoder = createAnswerEncoder(range, { ...identity, includeUsage }, sessionId, openAiChat);
  return events.flatMap((event) => encoder.encode(event));
}

function frames(events: readonly SessionEvent[], includeUsage = false, range = whole): (Chunk | '[DONE]')[] {
  return framesOf(events, range, includeUsage).map(({ data }) => (data === '[DONE]' ? data : JSON.parse(data)));
}

// Of the documents each test looks at a part.
// biome-ignore lint/suspicious/noExplicitAny: see above
function documentOf(events: readonly SessionEvent[], range = whole): any {
  const answer = createAnswerDocument(range, identity, sessionId, openAiChat);
  for (const event of events) answer.take(event);
  return answer.document();
}

const end = (
  status: 'completed' | 'failed' | 'cancelled' | 'interrupted',
  reason: 'stop' | 'length' | 'upstream_error' | 'cancelled' | 'recovery_limit',
): SessionEventBody => ({ type: 'turn-end', turn, status, reason, usage });
const call: SessionEventBody[] = [
  { type: 'tool-input-start', turn, step: 1, callId: 'c1', name: 'shell', canonical: 'builtin.bash', via: 'alias' },
  { type: 'tool-input-delta', turn, step: 1, callId: 'c1', delta: '{}' },
  { type: 'tool-input-end', turn, step: 1, callId: 'c1', arguments: {}, repaired: false },
  { type: 'tool-result', turn, step: 1, callId: 'c1', name: 'shell', canonical: 'builtin.bash', via: 'alias', isError: false, content: [] },
];

describe('a session turn as chunks', () => {
  const events = logOf(
    turnStart,
    stepStart(1),
    textDelta(1, 'Let me '),
    textDelta(1, 'look.'),
    ...call,
    { type: 'usage', turn, step: 1, usage },
    { type: 'step-end', turn, step: 1, reason: 'tool-calls', model: 'm' },
    stepStart(2),
    textDelta(2, 'Done.'),
    { type: 'usage', turn, step: 2, usage },
    end('completed', 'stop'),
  );

  it('is one message: role first, steps joined by a blank line, no server calls, one finish reason', () => {
    expect(deltas(frames(events))).toEqual([
      { role: 'assistant', content: '' },
      { content: 'Let me ' },
      { content: 'look.' },
      { content: '\n\nDone.' },
      'stop',
      '[DONE]',
    ]);
  });

  it('adds up usage in a last chunk if requested, with null before it', () => {
    const list = frames(events, true);
    expect(list.at(-2)).toMatchObject({ choices: [], usage: { prompt_tokens: 6, completion_tokens: 4, total_tokens: 10 } });
    expect(list.slice(0, -2).every((frame) => frame !== '[DONE]' && frame.usage === null)).toBe(true);
  });

  it('is the same text as the plain document', () => {
    expect(documentOf(events)).toMatchObject({
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Let me look.\n\nDone.', refusal: null }, finish_reason: 'stop' }],
      usage: { total_tokens: 10 },
    });
  });

  it('encodes the same events to the same bytes', () => {
    expect(framesOf(events)).toEqual(framesOf(events));
  });

  it('ends with an error and [DONE] when the turn fails', () => {
    const problem = new Problem('upstream_error', 'The provider x fell silent.').toBody();
    const failing = logOf(turnStart, stepStart(1), textDelta(1, 'He'), { type: 'error', turn, problem }, end('failed', 'upstream_error'));
    expect(deltas(frames(failing))).toEqual([{ role: 'assistant', content: '' }, { content: 'He' }, 'upstream_error', '[DONE]']);
    expect(() => documentOf(failing)).toThrow(/fell silent/);
  });

  it('cannot revoke text when a step restarts; the plain document can', () => {
    const restart: SessionEventBody = { type: 'step-restart', turn, step: 1, from: 3 };
    const restarted = logOf(turnStart, stepStart(1), textDelta(1, 'Hal'), restart, textDelta(1, 'Hello'), end('completed', 'stop'));
    expect(deltas(frames(restarted))).toEqual([{ role: 'assistant', content: '' }, { content: 'Hal' }, 'upstream_error', '[DONE]']);
    expect(documentOf(restarted)).toMatchObject({ choices: [{ message: { content: 'Hello' } }] });
    expect(deltas(frames(logOf(turnStart, stepStart(1), restart, textDelta(1, 'Hello'), end('completed', 'stop'))))).toContainEqual({
      content: 'Hello',
    });
  });

  it('omits the thinking of a dropped attempt in the plain document', () => {
    const think = (n: number, text: string): SessionEventBody => ({ type: 'reasoning-delta', turn, step: n, text });
    const restart: SessionEventBody = { type: 'step-restart', turn, step: 2, from: 5 };
    const events = logOf(
      turnStart,
      stepStart(1),
      think(1, 'a'),
      stepStart(2),
      think(2, 'b'),
      restart,
      think(2, 'c'),
      textDelta(2, 'x'),
      end('completed', 'stop'),
    );
    expect(documentOf(events)).toMatchObject({ choices: [{ message: { content: 'x', reasoning_content: 'ac' } }] });
  });

  it('reports an internal end of the turn as such', () => {
    expect(() => documentOf(logOf(turnStart, stepStart(1), end('interrupted', 'recovery_limit')))).toThrow(
      expect.objectContaining({ code: 'internal', detail: expect.stringContaining('recovery_limit') }),
    );
  });

  it.each([
    ['length', 'length'],
    ['cancelled', 'stop'],
  ] as const)('ends a turn of reason %s with %s', (reason, finish) => {
    const status = reason === 'cancelled' ? 'cancelled' : 'completed';
    expect(deltas(frames(logOf(turnStart, end(status, reason))))).toEqual([{ role: 'assistant', content: '' }, finish, '[DONE]']);
  });
});

const asked = (callId: string): SessionEventBody[] => [
  { type: 'tool-input-start', turn, step: 1, callId, name: 'Pick_Colour', canonical: 'client.pickColour', via: 'folded' },
  { type: 'tool-input-end', turn, step: 1, callId, arguments: callId === 'c2' ? { of: 'two' } : {}, repaired: false },
];
const required = (callId: string): SessionEventBody => {
  const args = callId === 'c2' ? { of: 'two' } : {};
  return { type: 'client-tool-required', turn, step: 1, callId, name: 'pickColour', canonical: 'client.pickColour', arguments: args };
};
const deletion: SessionEventBody[] = [
  { type: 'tool-input-start', turn, step: 1, callId: 'a1', name: 'rm', canonical: 'builtin.delete_file', via: 'alias' },
  { type: 'tool-input-end', turn, step: 1, callId: 'a1', arguments: { path: 'x' }, repaired: false },
];
const approval: SessionEventBody = {
  type: 'approval-required',
  turn,
  step: 1,
  callId: 'a1',
  name: 'rm',
  canonical: 'builtin.delete_file',
  entry: 'delete_file',
  arguments: { path: 'x' },
  reason: 'It deletes a file',
  ask: 'delete-file',
  target: 'x',
  ...noEffects,
  expiresAt: '2026-01-01T00:00:00.000Z',
};
const spent = (n: number): SessionEventBody => ({ type: 'usage', turn, step: n, usage });
const stepEnd = (n: number): SessionEventBody => ({ type: 'step-end', turn, step: n, reason: 'tool-calls', model: 'm' });
const result = (callId: string): SessionEventBody => {
  return { type: 'tool-result', turn, step: 1, callId, name: 'x', canonical: 'x', via: 'own', isError: false, content: [] };
};
const decided: SessionEventBody = { type: 'approval-decided', turn, step: 1, callId: 'a1', decision: 'approve', by: 'root' };
const noted = { canonical: 'builtin.delete_file', callId: 'a1', reason: 'It deletes a file', round: 1 };
const note = approvalNote({ ...noted, ways: { kind: 'delete-file', entry: 'delete_file' } }, sessionId);

describe('a turn that waits', () => {
  const forClient = logOf(
    turnStart,
    stepStart(1),
    textDelta(1, 'Which?'),
    ...asked('c1'),
    ...asked('c2'),
    spent(1),
    stepEnd(1),
    required('c1'),
    required('c2'),
  );

  it('ends with the calls that the client must run, and no others, under its own names', () => {
    const id = (callId: string): string => toToolCallId(callId, sessionId);
    expect(deltas(frames(forClient))).toEqual([
      { role: 'assistant', content: '' },
      { content: 'Which?' },
      { tool_calls: [{ index: 0, id: id('c1'), type: 'function', function: { name: 'pickColour', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
      { tool_calls: [{ index: 1, id: id('c2'), type: 'function', function: { name: 'pickColour', arguments: '' } }] },
      { tool_calls: [{ index: 1, function: { arguments: '{"of":"two"}' } }] },
      'tool_calls',
      '[DONE]',
    ]);
    expect(documentOf(forClient).choices[0]).toMatchObject({
      message: {
        content: 'Which?',
        tool_calls: [{ id: id('c1') }, { id: id('c2'), function: { name: 'pickColour', arguments: '{"of":"two"}' } }],
      },
      finish_reason: 'tool_calls',
    });
  });

  it('ends once, with all requests nested in one call', () => {
    const beneath = { ...required('c2'), callId: 'a1.2', parent: 'a1' } as SessionEventBody;
    const asksTwo = { ...approval, callId: 'a1.1', parent: 'a1', more: 1 } as SessionEventBody;
    const events = logOf(turnStart, stepStart(1), ...deletion, spent(1), stepEnd(1), asksTwo, beneath);
    const { message, finish_reason: finish } = documentOf(events).choices[0];
    expect(message.content).toContain('(call a1.1)');
    expect(message.tool_calls).toMatchObject([{ id: toToolCallId('a1.2', sessionId), function: { name: 'pickColour' } }]);
    expect(finish).toBe('tool_calls');
    expect(deltas(frames(events)).filter((delta) => delta === 'tool_calls' || delta === 'stop')).toEqual(['tool_calls']);
  });

  it('ends with a sentence that names the pending approval, and how to decide it', () => {
    const events = logOf(turnStart, stepStart(1), textDelta(1, 'Tidying.'), ...deletion, spent(1), stepEnd(1), approval);
    expect(deltas(frames(events)).slice(2)).toEqual([{ content: `\n\n${note}` }, 'stop', '[DONE]']);
    expect(documentOf(events).choices[0].message.content).toBe(`Tidying.\n\n${note}`);
    for (const part of ['builtin.delete_file', 'call a1', `/v1/sessions/${sessionId}/approvals/a1`, 'link']) expect(note).toContain(part);
    expect(readApprovalNote(note)).toBe('a1');
    expect(readApprovalNote('Waiting for the bus')).toBeNull();
  });

  it('ends with a sentence that contains the tool’s request for input, and where to send it', () => {
    const requests = { k: { method: 'elicitation/create', params: { mode: 'form', message: 'Server "crm" asks:\nWhich one?' } } };
    const required: SessionEventBody = {
      ...{ type: 'input-required', turn, step: 1, callId: 'a1', name: 'x', canonical: 'builtin.delete_file', entry: 'x', arguments: {} },
      ...{ server: 'crm', requests, round: 1, expiresAt: '2026-01-08T00:00:00.000Z' },
    };
    const progress: SessionEventBody = { type: 'tool-progress', turn, step: 1, callId: 'a1', progress: 1, message: 'half' };
    const told = inputNote({ canonical: 'builtin.delete_file', callId: 'a1', question: 'Server "crm" asks: Which one?' }, sessionId);
    const events = logOf(turnStart, stepStart(1), ...deletion, spent(1), stepEnd(1), progress, required);
    expect(deltas(frames(events))).toEqual([{ role: 'assistant', content: '' }, { content: told }, 'stop', '[DONE]']);
    expect(answerEnd(events, whole, sessionId)).toEqual({ event: events.length, waiting: turn });
    expect(readInputNote(told)).toBe('a1');
    expect(readInputNote(note)).toBeNull();
    const given: SessionEventBody = { type: 'input-given', turn, step: 1, callId: 'a1', round: 1, actions: { k: 'accept' }, by: 'root' };
    const after = logOf(...events, given, result('a1'), stepStart(2), textDelta(2, 'Two.'), spent(2), end('completed', 'stop'));
    expect(documentOf(after, { turn, after: events.length + 1, earlier: null }).choices[0].message.content).toBe('Two.');
  });

  it('that waits for both has the calls, with the sentence as content', () => {
    const events = logOf(turnStart, stepStart(1), ...deletion, ...asked('c1'), stepEnd(1), approval, required('c1'));
    expect(documentOf(events).choices[0]).toMatchObject({ message: { content: note, tool_calls: [{}] }, finish_reason: 'tool_calls' });
    expect(answerEnd(events, whole, sessionId)).toEqual({ event: events.length, waiting: turn });
  });

  const before = [turnStart, stepStart(1), textDelta(1, 'One.'), ...deletion, spent(1), stepEnd(1), approval];
  const after = [decided, result('a1'), stepStart(2), textDelta(2, 'Two.'), spent(2)];

  it('that continued unseen is reported by the next answer, each usage once', () => {
    const next = 't2';
    const other: SessionEventBody[] = [
      { ...turnStart, turn: next } as SessionEventBody,
      { type: 'step-start', turn: next, step: 1 },
      { type: 'text-delta', turn: next, step: 1, text: 'Three.' },
      { type: 'usage', turn: next, step: 1, usage },
      { type: 'turn-end', turn: next, status: 'completed', reason: 'stop', usage },
    ];
    const events = logOf(...before, ...after, end('completed', 'stop'), ...other);
    const ended = before.length + after.length + 1;
    const range = { turn: next, after: ended, earlier: { turn, after: before.length } };
    expect(documentOf(events, range)).toMatchObject({
      choices: [{ message: { content: 'Two.\n\nThree.' }, finish_reason: 'stop' }],
      usage: { total_tokens: 10 },
    });
    expect(documentOf(events.slice(0, before.length)).usage.total_tokens).toBe(5);
    // The same if the turn still ran when the next request came, or waits again before the request's turn can begin.
    expect(documentOf(events, { ...range, after: before.length + 3 }).choices[0].message.content).toBe('Two.\n\nThree.');
    const again = logOf(...before, ...after, ...asked('c1').map((event) => ({ ...event, step: 2 })), stepEnd(2), required('c1'));
    const owed = { turn: next, after: before.length + 1, earlier: { turn, after: before.length } };
    expect(documentOf(again, owed).choices[0]).toMatchObject({ message: { content: 'Two.' }, finish_reason: 'tool_calls' });
  });

  it('continues after the results, and ends immediately if it still waits', () => {
    const events = logOf(...before, ...after, end('completed', 'stop'));
    expect(documentOf(events, { turn, after: before.length + 1, earlier: null }).choices[0].message.content).toBe('Two.');
    const still = logOf(...before, { type: 'turn-input', turn, input: [{ type: 'text', text: 'well?' }] });
    expect(deltas(frames(still, false, { turn, after: before.length + 1, earlier: null }))).toEqual([
      { role: 'assistant', content: '' },
      { content: note },
      'stop',
      '[DONE]',
    ]);
  });

  it('does not leave a queued request hanging', () => {
    const events = logOf(...before);
    expect(documentOf(events, { turn: 'queued', after: 3, earlier: null }).choices[0].message.content).toBe(note);
  });

  it('drops output of an interrupted run that no client received', () => {
    const dead: SessionEventBody[] = [decided, result('a1'), stepStart(2), textDelta(2, 'Tw'), { type: 'turn-resume', turn, attempt: 1 }];
    const from = before.length + 4;
    const events = logOf(...before, ...dead, { type: 'step-restart', turn, step: 2, from }, textDelta(2, 'Two.'), end('completed', 'stop'));
    const range = { turn, after: before.length + dead.length + 1, earlier: { turn, after: before.length } };
    expect(deltas(frames(events, false, range))).toEqual([{ role: 'assistant', content: '' }, { content: 'Two.' }, 'stop', '[DONE]']);
  });
});

describe('the ids of frames', () => {
  const events = logOf(
    turnStart,
    stepStart(1),
    textDelta(1, 'größe'),
    textDelta(1, ' 🎉'),
    ...asked('c1'),
    spent(1),
    stepEnd(1),
    required('c1'),
  );

  it('are the event’s number, then its parts’', () => {
    expect(framesOf(events, whole, true).map(({ id }) => id)).toEqual(['1', '3', '4', '9', '9.1', '9.2', '9.3', '9.4']);
  });

  it('let a reader resume from any byte with the same bytes', () => {
    const all = framesOf(events, whole, true);
    const bytes = Buffer.from(all.map(encodeFrame).join(''));
    fc.assert(
      fc.property(fc.integer({ min: 0, max: bytes.length }), (cut) => {
        const got = bytes.subarray(0, cut).toString('latin1');
        const whole = got.slice(0, got.lastIndexOf('\n\n') + (got.includes('\n\n') ? 2 : 1));
        const last = [...whole.matchAll(/^id: (\S+)$/gm)].at(-1)?.[1];
        const rest = all.filter(({ id }) => last === undefined || isAfter(id, last)).map(encodeFrame);
        expect(Buffer.concat([Buffer.from(whole, 'latin1'), Buffer.from(rest.join(''))]).equals(bytes)).toBe(true);
      }),
    );
  });

  it('are ordered by number, not by text', () => {
    expect(isAfter('10', '9.4')).toBe(true);
    expect(isAfter('9.10', '9.9')).toBe(true);
    expect(isAfter('9', '9')).toBe(false);
    expect(isAfter('9', '9.1')).toBe(false);
    expect(() => isAfter('x', '9')).toThrow(TypeError);
  });
});
