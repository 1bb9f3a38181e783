import { expect, it } from 'vitest';
import { exchangeJson } from '../../src/sign-in/exchange.ts';
import type { OutboundHttp } from '../../src/ports/outbound.ts';

const request = (): Request => new Request('https://id.example.com/token', { method: 'POST', body: 'code=1' });

it('An identity provider has 15 seconds for each response', async () => {
  const given: unknown[] = [];
  const outbound: OutboundHttp = async (_request, options) => {
    given.push(options);
    return Response.json({ ok: true });
  };
  expect(await exchangeJson(outbound, request())).toEqual({ ok: true });
  expect(given).toMatchObject([{ purpose: 'server', timeoutMs: 15_000 }]);
});

it('A response that is too large, no JSON or an error fails without its text', async () => {
  const secret = 'a-token-of-the-provider';
  for (const response of [new Response('x'.repeat(200_000)), new Response(secret), new Response(secret, { status: 400 })]) {
    const failed = await exchangeJson(async () => response, request()).catch(String);
    expect(failed).toContain('The identity provider id.example.com could not complete the sign-in');
    expect(failed).not.toContain(secret);
  }
});
