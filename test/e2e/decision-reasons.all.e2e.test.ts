/** The reason that a person gives with a decision, by every way of Moniker's own API. `approval-table.ts` has the protocols of clients. */
import { beforeAll, describe, expect, it } from 'vitest';
import { endedTurn } from './eventually.ts';
import { shareService } from './shared-service.ts';

const service = shareService();

beforeAll(async () => {
  const tools = [{ tool: 'builtin.bash', name: 'shell', approval: 'always' }, { tool: 'builtin.write_file' }, { tool: 'builtin.run_code' }];
  expect((await service.call('PUT', '/v1/toolsets/asking', { tools })).status).toBe(201);
});

const reason = 'Use the "staging" database';
const begin = async (): Promise<string> =>
  (await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'asking' })).json.id;
const ask = async (session: string, input = '/shell echo it ran') => {
  const { pending } = (await service.call('POST', `/v1/sessions/${session}/turns`, { input })).json;
  return pending[0].callId as string;
};
const pathOf = (session: string, callId: string) => `/v1/sessions/${session}/approvals/${callId}`;
const lastText = async (session: string) => {
  await endedTurn(service, session);
  return JSON.stringify((await service.call('GET', `/v1/sessions/${session}/messages?order=desc&limit=2`)).json.items);
};

describe('the reason of a decision', () => {
  it('is in the approval and the audit, and the model reads it after a denial but not after an approval', async () => {
    for (const decision of ['deny', 'approve']) {
      const session = await begin();
      const callId = await ask(session);
      expect((await service.call('POST', pathOf(session, callId), { decision, reason: `  ${reason} ` })).status).toBe(200);
      expect((await service.call('GET', pathOf(session, callId))).json).toMatchObject({ decisionReason: reason });
      expect((await lastText(session)).includes('staging')).toBe(decision === 'deny');
      const { items } = (await service.call('GET', `/v1/audit?session=${session}`)).json;
      expect(items.filter((row: { reason?: string }) => row.reason === reason)).toHaveLength(1);
    }
    expect((await service.call('GET', '/v1/audit/verify')).json).toMatchObject({ ok: true });
  });

  it('stays the first one when the decision is repeated with another', async () => {
    const session = await begin();
    const callId = await ask(session);
    for (const given of [reason, 'another']) await service.call('POST', pathOf(session, callId), { decision: 'deny', reason: given });
    expect((await service.call('GET', pathOf(session, callId))).json).toMatchObject({ decisionReason: reason });
  });

  it('is in the result of a denied direct call, also after a restart', async () => {
    const session = await begin();
    const request = { name: 'shell', arguments: { command: 'echo it ran' }, session };
    const { json } = await service.call('POST', '/v1/toolsets/asking/calls', request);
    await service.call('POST', pathOf(session, json.callId), { decision: 'deny', reason });
    await service.restart();
    const repeated = (await service.call('POST', '/v1/toolsets/asking/calls', request)).json;
    expect(repeated).toMatchObject({ code: 'denied' });
    expect(repeated.content[0].text).toContain(JSON.stringify(reason));
  });

  it('is in the result of a denied nested call, which the code reads', async () => {
    const session = await begin();
    const code = 'return await tools.shell({command: "echo it ran"});';
    const callId = await ask(session, `/run_code ${JSON.stringify({ code })}`);
    expect(callId).toContain('.');
    await service.call('POST', pathOf(session, callId), { decision: 'deny', reason });
    expect(await lastText(session)).toContain('staging');
  });

  it('is sent from the page of a link, and an empty field is no reason', async () => {
    for (const given of [reason, ' ']) {
      const session = await begin();
      const callId = await ask(session);
      const { url } = (await service.call('POST', `${pathOf(session, callId)}/link`)).json;
      expect(await (await fetch(url)).text()).toContain('name="reason"');
      expect((await fetch(url, { method: 'POST', body: new URLSearchParams({ decision: 'deny', reason: given }) })).status).toBe(200);
      const { decisionReason } = (await service.call('GET', pathOf(session, callId))).json;
      expect(decisionReason).toBe(given === reason ? reason : undefined);
    }
  });

  it('is refused when it is empty, too long or not a text, and nothing is decided', async () => {
    const session = await begin();
    const callId = await ask(session);
    for (const wrong of ['', ' ', 'x'.repeat(1_001), 7]) {
      const { status, json } = await service.call('POST', pathOf(session, callId), { decision: 'deny', reason: wrong });
      expect([status, json.issues?.[0]?.path]).toEqual([422, 'reason']);
    }
    const { url } = (await service.call('POST', `${pathOf(session, callId)}/link`)).json;
    const longest = 'ü'.repeat(1_000);
    expect((await fetch(url, { method: 'POST', body: new URLSearchParams({ decision: 'deny', reason: `${longest}ü` }) })).status).toBe(422);
    expect((await service.call('GET', pathOf(session, callId))).json).toMatchObject({ state: 'pending' });
    expect((await fetch(url, { method: 'POST', body: new URLSearchParams({ decision: 'deny', reason: longest }) })).status).toBe(200);
  });

  it('is redacted by the rules of the workspace before anything stores it, and hidden characters are shown to the model', async () => {
    await service.call('PUT', '/v1/workspaces/default', { settings: { redaction: { rules: ['email'] } } });
    const session = await begin();
    const callId = await ask(session);
    await service.call('POST', pathOf(session, callId), { decision: 'deny', reason: 'Ask someone@example.com first\u202e' });
    expect(await lastText(session)).toContain('Ask [email] first');
    const stored = ['events?follow=false', 'approvals/'.concat(callId), 'messages'].map((part) => `/v1/sessions/${session}/${part}`);
    for (const path of [...stored, `/v1/audit?session=${session}`]) {
      const { text } = await service.call('GET', path);
      expect(text).toContain('[email]');
      expect(text).not.toContain('someone@example.com');
    }
    expect(await lastText(session)).not.toContain('\u202e');
    expect(service.printed()).not.toContain('someone@example.com');
  });
});
