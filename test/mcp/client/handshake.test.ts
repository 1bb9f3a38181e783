import { describe, expect, it } from 'vitest';
import { withStepUp } from '../../../src/mcp/client/handshake.ts';
import type { ServerTokens } from '../../../src/ports/upstream.ts';

const challenge = 'Bearer error="insufficient_scope", scope="write"';

/** A server that requires the token `better`. */
function server(answerToOthers: () => Response) {
  const seen: { token: string | null; body: string }[] = [];
  const send = async (request: Request): Promise<Response> => {
    const token = request.headers.get('authorization');
    seen.push({ token, body: await request.text() });
    return token === 'Bearer better' ? new Response('done') : answerToOthers();
  };
  return { seen, send };
}

function tokens(renewed: boolean, asked: unknown[] = []): ServerTokens {
  return {
    token: async () => 'better',
    refreshAfterRejection: async (token, header) => {
      asked.push([token, header]);
      return renewed;
    },
  };
}

const call = () =>
  new Request('https://mcp.example.com/mcp', { method: 'POST', body: 'a call', headers: { authorization: 'Bearer weak' } });
const refuse = (header: string) => () => new Response('no', { status: 403, headers: { 'www-authenticate': header } });

describe('a request whose token has too few scopes', () => {
  it('is repeated once, with its body and a token that has them', async () => {
    const { seen, send } = server(refuse(challenge));
    const asked: unknown[] = [];
    expect(await (await withStepUp(tokens(true, asked), send)(call())).text()).toBe('done');
    expect(asked).toEqual([['weak', challenge]]);
    expect(seen).toEqual([
      { token: 'Bearer weak', body: 'a call' },
      { token: 'Bearer better', body: 'a call' },
    ]);
  });

  it('returns the original response if no better token exists', async () => {
    const { seen, send } = server(refuse(challenge));
    const answer = await withStepUp(tokens(false), send)(call());
    expect([answer.status, await answer.text()]).toEqual([403, 'no']);
    expect(seen).toHaveLength(1);
  });

  it('is not repeated for any other rejection', async () => {
    for (const answer of [
      refuse('Bearer error="invalid_token"'),
      () => new Response(null, { status: 403 }),
      () => new Response(null, { status: 401, headers: { 'www-authenticate': challenge } }),
    ]) {
      const asked: unknown[] = [];
      const { seen, send } = server(answer);
      await withStepUp(tokens(true, asked), send)(call());
      expect([asked, seen.length]).toEqual([[], 1]);
    }
  });
});
