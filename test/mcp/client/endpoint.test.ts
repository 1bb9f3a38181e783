import { describe, expect, it } from 'vitest';
import { type OutgoingMessage, withTokens } from '../../../src/mcp/client/endpoint.ts';
import type { ServerTokens } from '../../../src/ports/upstream.ts';

const challenge = 'Bearer error="insufficient_scope", scope="write"';

/** A server that requires the token `better`. */
function server(answerToOthers: () => Response) {
  const seen: { token: string | null; body: string | null }[] = [];
  const send = async ({ headers, body }: OutgoingMessage): Promise<Response> => {
    const token = headers.get('authorization');
    seen.push({ token, body });
    return token === 'Bearer better' ? new Response('done') : answerToOthers();
  };
  return { seen, send };
}

function tokens(renewed: boolean, asked: unknown[] = []): ServerTokens {
  return {
    token: async () => (renewed && asked.length > 0 ? 'better' : 'weak'),
    refreshAfterRejection: async (token, header) => {
      asked.push([token, header]);
      return renewed;
    },
  };
}

const call = (): OutgoingMessage => ({
  url: 'https://mcp.example.com/mcp',
  method: 'POST',
  headers: new Headers(),
  body: 'a call',
  signal: new AbortController().signal,
});
const refuse = (status: number, header: string) => () => new Response('no', { status, headers: { 'www-authenticate': header } });

describe('a request whose token is rejected', () => {
  it.each([
    ['has too few scopes', 403, challenge],
    ['is invalid', 401, 'Bearer error="invalid_token"'],
  ])('is repeated once, with its body and a better token: the token %s', async (_why, status, header) => {
    const { seen, send } = server(refuse(status, header));
    const asked: unknown[] = [];
    expect(await (await withTokens(tokens(true, asked), send)(call())).text()).toBe('done');
    expect(asked).toEqual([['weak', header]]);
    expect(seen).toEqual([
      { token: 'Bearer weak', body: 'a call' },
      { token: 'Bearer better', body: 'a call' },
    ]);
  });

  it('is repeated once for each of the two reasons, and not endlessly', async () => {
    const answers = [refuse(401, 'Bearer'), refuse(403, challenge), refuse(401, 'Bearer')];
    const seen: unknown[] = [];
    const send = async (): Promise<Response> => {
      seen.push(null);
      return (answers[seen.length - 1] as () => Response)();
    };
    expect((await withTokens(tokens(true), send)(call())).status).toBe(401);
    expect(seen).toHaveLength(3);
  });

  it('returns the original response if no better token exists', async () => {
    const { seen, send } = server(refuse(403, challenge));
    const answer = await withTokens(tokens(false), send)(call());
    expect([answer.status, await answer.text()]).toEqual([403, 'no']);
    expect(seen).toHaveLength(1);
  });

  it('is not repeated for any other rejection', async () => {
    for (const answer of [refuse(403, 'Bearer error="invalid_token"'), () => new Response(null, { status: 403 })]) {
      const asked: unknown[] = [];
      const { seen, send } = server(answer);
      await withTokens(tokens(true, asked), send)(call());
      expect([asked, seen.length]).toEqual([[], 1]);
    }
  });
});
