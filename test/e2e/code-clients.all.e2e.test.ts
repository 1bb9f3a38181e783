/**
 * Stock clients of every dialect whose own tool is called by the model's code. The client receives that call like any other, and nothing
 * else that runs inside; an approval is one line of text. The log of nested calls can be read from any event.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { clients, type Asking } from './dialect-clients.ts';
import { readLog } from './session-log.ts';
import { shareService } from './shared-service.ts';

const pick = {
  name: 'pick_colour',
  description: 'Asks the person at the screen for a colour.',
  schema: { type: 'object' as const, properties: { of: { type: 'string' } } },
};
const shape = /^[A-Za-z0-9_-]+$/;

describe('code that calls a tool of the client', () => {
  const service = shareService();
  beforeAll(async () => {
    const tools = ['write_file', 'read_file', 'delete_file'].map((name) => ({ tool: `builtin.${name}` }));
    await service.call('PUT', '/v1/toolsets/files', { tools });
    await service.call('PUT', '/v1/agents/coder', { model: 'rehearsal/default', toolset: 'files', codeMode: true });
  });
  const runCode = (code: string): string => `/run_code ${JSON.stringify({ code })}`;
  const asking = (items: readonly unknown[], streamed: boolean): Asking => ({
    ...{ model: 'agent/coder', system: 'Be brief.', items, tools: [pick], streamed },
  });

  it.each(clients.flatMap((client) => [false, true].map((streamed) => ({ client, name: client.name, streamed }))))(
    'returns its results in $name (streamed: $streamed), one call after the other and two in parallel',
    async ({ client, streamed }) => {
      const code = `await tools.write_file({ path: 'log', content: 'begun' });
        const one = await tools.pick_colour({ of: 'two' });
        const both = await Promise.all(['a', 'b'].map((of) => tools.pick_colour({ of })));
        return [one, ...both].map(({ output }) => output).join('+');`;
      const items: unknown[] = [client.user(runCode(code))];
      const first = await client.ask(service, asking(items, streamed));
      expect(first).toMatchObject({ finish: 'calls', calls: [{ name: 'pick_colour', arguments: { of: 'two' } }] });
      items.push(...first.items, ...client.results(first.calls, ['red']));
      const second = await client.ask(service, asking(items, streamed));
      expect(second.calls.map(({ arguments: args }) => args)).toEqual([{ of: 'a' }, { of: 'b' }]);
      for (const { id } of [...first.calls, ...second.calls]) expect(id).toMatch(shape);
      items.push(...second.items, ...client.results(second.calls, ['green', 'blue']));
      const last = await client.ask(service, asking(items, streamed));
      expect(last).toMatchObject({ finish: 'stop', calls: [], text: expect.stringContaining('red+green+blue') });
      items.push(...last.items, client.user('thanks'));
      const after = await client.ask(service, asking(items, streamed));
      const session = first.headers.get('x-moniker-session');
      expect([second, last, after].map(({ headers }) => headers.get('x-moniker-session'))).toEqual([session, session, session]);
    },
  );

  it.each(clients.map((client) => ({ client, name: client.name })))(
    'is not blocked by an approval that is requested meanwhile ($name)',
    async ({ client }) => {
      const code = `await tools.write_file({ path: 'gone', content: 'x' });
        const [asked, picked] = await Promise.all([tools.write_file({ path: '/etc/x', content: 'x' }), tools.pick_colour({ of: 'one' })]);
        return (asked.code ?? 'written') + ' ' + picked.output;`;
      const items: unknown[] = [client.user(runCode(code))];
      const first = await client.ask(service, asking(items, true));
      const session = first.headers.get('x-moniker-session') ?? '';
      expect(first.finish).toBe('calls');
      expect(first.text).toContain('Waiting for approval of builtin.write_file');
      const [, callId] = /\(call (\S+)\)/.exec(first.text) ?? [];
      await service.call('POST', `/v1/sessions/${session}/approvals/${callId}`, { decision: 'approve' });
      items.push(...first.items, ...client.results(first.calls, ['red']));
      const last = await client.ask(service, asking(items, true));
      expect(last.text).toContain('written red');
      expect(last.headers.get('x-moniker-session')).toBe(session);
    },
  );

  it('appears in the log, from any event, and in no transcript', async () => {
    const { id } = (await service.call('POST', '/v1/sessions', { agent: 'coder' })).json;
    await service.call('POST', `/v1/sessions/${id}/turns`, {
      input: runCode(
        `await tools.write_file({ path: 'secret-name', content: 'x' }); return (await tools.read_file({ path: 'secret-name' })).success`,
      ),
    });
    const log = await readLog(service, id);
    const beneath = log.filter(({ type }) => type.startsWith('inner-'));
    expect(beneath.map(({ type }) => type)).toEqual(['inner-call', 'inner-result', 'inner-call', 'inner-result']);
    const from = beneath[1]?.id ?? 0;
    expect(await readLog(service, id, 1, from)).toEqual(log.filter((event) => event.id > from));
    const { text } = await service.call('GET', `/v1/sessions/${id}/messages`);
    expect(text).not.toContain('inner-');
  });
});
