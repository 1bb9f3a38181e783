import { expect, it } from 'vitest';
import { shareService } from './shared-service.ts';
import { agUiSurface, elicitationSurface, inputRequiredSurface, ownSurface, uiSurface } from './approval-surfaces.ts';
import { describeApprovals, input } from './approval-table.ts';

const service = shareService();

describeApprovals(service, [
  ['the AI SDK’s chat', uiSurface(service)],
  ['AG-UI', agUiSurface(service)],
  ['the API of sessions', ownSurface(service, { by: 'api' })],
  ['the page of a link', ownSurface(service, { by: 'link' })],
  ['Chat Completions, by the sentence', ownSurface(service, { by: 'api', chat: true })],
  ['an MCP client of 2025, by elicitation', elicitationSurface(service)],
  ['an MCP client of 2026-07-28, by input_required', inputRequiredSurface(service)],
]);

it('an MCP client of 2025 that resumes its stream after a restart is asked again, and the call runs once, on the files that it had named', async () => {
  await service.call('PUT', '/v1/toolsets/guarded', { tools: [{ tool: 'builtin.bash', name: 'shell', approval: 'always' }] });
  await service.call('PUT', '/v1/agents/guarded', { model: 'rehearsal/default', toolset: 'guarded', instructions: '' });
  const { json } = await service.call('POST', '/v1/sessions', { agent: 'guarded' });
  const version = '2025-11-25';
  const headers: Record<string, string> = {
    ...{ authorization: `Bearer ${service.key}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    'mcp-protocol-version': version,
  };
  const send = (message: object, more: Record<string, string> = {}) =>
    fetch(`${service.url}/mcp/guarded`, {
      ...{ method: 'POST', headers: { ...headers, ...more } },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
  const params = { protocolVersion: version, capabilities: { elicitation: {} }, clientInfo: { name: 'raw', version: '1' } };
  const begun = await send({ id: 0, method: 'initialize', params });
  await begun.text();
  headers['mcp-session-id'] = begun.headers.get('mcp-session-id') ?? '';
  await send({ method: 'notifications/initialized' });

  const call = { name: 'shell', arguments: { command: input.slice('/shell '.length) } };
  const calling = await send({ id: 'seven', method: 'tools/call', params: call }, { 'x-moniker-session': json.id });
  const asked = await readingOf(calling)('elicitation/create');
  await service.restart();
  const last = [...asked.matchAll(/^id: (\S+)$/gm)].at(-1)?.[1] ?? '';
  const resumed = await fetch(`${service.url}/mcp/guarded`, { headers: { ...headers, 'last-event-id': last } });
  const read = readingOf(resumed);
  const again = await read('elicitation/create');
  const [, question = ''] = /^data: (\{.*elicitation\/create.*\})$/m.exec(again) ?? [];
  await send({ id: JSON.parse(question).id, result: { action: 'accept', content: { approve: true } } });
  expect(await read('"id":"seven"')).toContain('it ran');
  expect((await service.call('GET', `/v1/sessions/${json.id}/files/ran.txt`)).text).toBe('it ran\n');
});

/** Returns what reads a stream up to the event with a text, and returns all that was read. */
function readingOf({ body }: Response): (text: string) => Promise<string> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let received = '';
  return async (text) => {
    for (;;) {
      const at = received.indexOf(text);
      if (at >= 0 && received.includes('\n\n', at)) return received;
      const { done, value = '' } = (await reader?.read()) ?? { done: true };
      if (done) throw new Error(`the stream ended without ${text}: ${received}`);
      received += value;
    }
  };
}
