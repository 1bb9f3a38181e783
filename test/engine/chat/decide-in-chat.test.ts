import { describe, expect, it } from 'vitest';
import { createDropped } from '../../../src/core/model/dropped.ts';
import type { Principal } from '../../../src/core/people/principal.ts';
import { Problem } from '../../../src/core/problem.ts';
import type { ClientDecision } from '../../../src/dialects/conversation.ts';
import type { FoundSession } from '../../../src/engine/chat/chat-session.ts';
import { decideInChat } from '../../../src/engine/chat/decide-in-chat.ts';
import type { SessionPort } from '../../../src/ports/session.ts';

const principal: Principal = { workspace: 'default', keyId: 'k1', scopes: ['chat', 'approve'] };
const decisionOn = (callId: string, session = 's1'): ClientDecision => ({ callId, round: 1, session, decision: 'approve', path: callId });
const text = { type: 'text' as const, text: 'Go on' };

/** A session in which the calls of `faults` cannot be decided. */
function createSession(faults: Record<string, Problem>) {
  const decided: string[] = [];
  const decide: SessionPort['decide'] = async (_caller, callId, decision, { round }) => {
    const fault = faults[callId];
    if (fault !== undefined) throw fault;
    decided.push(`${callId} ${decision} ${round}`);
    return { callId, decision, turn: 't1', status: 'running' };
  };
  // The function uses nothing else of a session.
  const found = { id: 's1', session: { decide } as SessionPort, setup: { listed: true } } satisfies FoundSession;
  return { found, decided };
}

const expired = new Problem('conflict', 'This approval is no longer open: it has expired or its turn has ended.');

describe('decisions in a chat request', () => {
  it('are all applied, before the conflict of one that has expired is thrown with its place', async () => {
    const { found, decided } = createSession({ a: expired });
    const given = { decisions: [decisionOn('a'), decisionOn('b')], input: [], results: [] };
    const deciding = decideInChat(principal, found, given, createDropped());
    await expect(deciding).rejects.toMatchObject({ code: 'conflict', detail: expired.detail, extra: { param: 'a' } });
    expect(decided).toEqual(['b approve 1']);
  });

  it('that have expired are named, and do not stop a request that has other input', async () => {
    const { found } = createSession({ a: expired });
    const dropped = createDropped();
    await decideInChat(principal, found, { decisions: [decisionOn('a')], input: [text], results: [] }, dropped);
    expect(dropped.items()).toEqual([{ name: 'a', reason: expired.detail }]);
  });

  it.each([
    ['of another session', decisionOn('a', 's2'), {}],
    ['that the session does not know', decisionOn('a'), { a: new Problem('not_found', 'No.') }],
  ])('on an approval %s are refused with their place', async (_what, decision, faults) => {
    const { found, decided } = createSession(faults);
    const deciding = decideInChat(principal, found, { decisions: [decision], input: [text], results: [] }, createDropped());
    await expect(deciding).rejects.toMatchObject({ code: 'invalid_request', extra: { issues: [{ path: 'a' }] } });
    expect(decided).toEqual([]);
  });

  it('require the scope approve, and a session', async () => {
    const { found, decided } = createSession({});
    const given = { decisions: [decisionOn('a')], input: [], results: [] };
    const chatting: Principal = { ...principal, scopes: ['chat'] };
    await expect(decideInChat(chatting, found, given, createDropped())).rejects.toMatchObject({ code: 'forbidden' });
    await expect(decideInChat(principal, null, given, createDropped())).rejects.toMatchObject({ code: 'invalid_request' });
    expect(decided).toEqual([]);
  });

  it('pass on failures that are no decision', async () => {
    const { found } = createSession({ a: new Problem('unavailable', 'Later.') });
    const given = { decisions: [decisionOn('a')], input: [text], results: [] };
    await expect(decideInChat(principal, found, given, createDropped())).rejects.toMatchObject({ code: 'unavailable' });
  });
});
