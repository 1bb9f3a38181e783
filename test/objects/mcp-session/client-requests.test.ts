import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import type { RpcResponse } from '../../../src/mcp/server/messages.ts';
import { ClientRequests } from '../../../src/objects/mcp-session/client-requests.ts';
import { fakeClock } from '../../fakes/runtime.ts';

const question = { method: 'elicitation/create', params: { message: 'Which?' } };

function asking(signal = new AbortController().signal) {
  const clock = fakeClock();
  const requests = new ClientRequests(clock);
  const sent: Record<string, unknown>[] = [];
  const answer = requests.ask(question, (message) => void sent.push(JSON.parse(message)), signal);
  const failure = answer.then(
    () => null,
    (error: Error) => error.message,
  );
  return { clock, requests, sent, answer, failure };
}

describe('a question to the client of a session', () => {
  it('is answered by the response with its id, and by no other', async () => {
    const { requests, sent, answer } = asking();
    requests.take({ kind: 'response', id: 0, result: { action: 'decline' } });
    requests.take({ kind: 'response', id: sent[0]?.id, result: { action: 'accept' } } as RpcResponse);
    expect([sent[0], await answer]).toMatchObject([{ jsonrpc: '2.0', ...question }, { action: 'accept' }]);
  });

  it('fails with the error that the client answers', async () => {
    const { requests, sent, failure } = asking();
    requests.take({ kind: 'response', id: sent[0]?.id, error: { code: -32601, message: 'Nobody here' } } as RpcResponse);
    expect(await failure).toContain('Nobody here (-32601)');
  });

  it('is cancelled when its time is over, which progress restarts', async () => {
    const { clock, requests, sent, failure } = asking();
    await clock.advance(limits.mcpQuestionTimeoutMs - 1);
    requests.progress({ progressToken: sent[0]?.id });
    await clock.advance(limits.mcpQuestionTimeoutMs - 1);
    expect(sent).toHaveLength(1);
    await clock.advance(1);
    expect([await failure, sent[1]]).toMatchObject([expect.stringContaining('10 minutes'), { method: 'notifications/cancelled' }]);
  });

  it('is cancelled with the request that asks, and not sent after its end', async () => {
    const end = new AbortController();
    const open = asking(end.signal);
    end.abort();
    expect([await open.failure, open.sent[1]]).toMatchObject([expect.stringContaining('has ended'), { method: 'notifications/cancelled' }]);
    const late = asking(end.signal);
    expect([await late.failure, late.sent]).toEqual([expect.stringContaining('has ended'), []]);
  });
});
