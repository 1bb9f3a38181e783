import { describe, expect, it } from 'vitest';
import { shareService } from './shared-service.ts';

describe('names over HTTP', () => {
  const service = shareService();

  it.each([false, true])('reports two tools under one alias as a conflict that names both and a fix (reversed: %s)', async (reversed) => {
    const tools = [
      { tool: 'builtin.bash', aliases: ['run'] },
      { tool: 'builtin.read_file', aliases: ['run'] },
    ];
    const { status, json } = await service.call('PUT', '/v1/toolsets/clash', { tools: reversed ? tools.reverse() : tools });
    expect([status, json.code]).toEqual([409, 'name_conflict']);
    expect(json.conflicts[0]).toMatchObject({ name: 'run', suggestion: expect.any(String) });
    expect([...json.conflicts[0].tools].sort()).toEqual(['builtin.bash', 'builtin.read_file']);
    expect((await service.call('GET', '/v1/toolsets/clash')).status).toBe(404);
  });

  it.each([
    ['terminalRun', 'builtin.bash', 'wire'],
    ['builtin.bash', 'builtin.bash', 'canonical'],
    ['shell', 'builtin.bash', 'alias'],
    ['TerminalRun', 'builtin.bash', 'folded'],
    ['functions.terminal-run', 'builtin.bash', 'folded'],
    ['cat', 'builtin.read_file', 'wire'],
    ['read_file', 'builtin.read_file', 'own'],
  ])('resolves %s to %s, via %s', async (name, canonical, via) => {
    const { status, json } = await service.call('GET', `/v1/toolsets/demo/resolve?name=${encodeURIComponent(name)}`);
    expect(status).toBe(200);
    expect(json).toMatchObject({ requested: name, canonical, via });
  });

  it('suggests similar names for an unknown name', async () => {
    const { status, json } = await service.call('GET', '/v1/toolsets/demo/resolve?name=terminalRum');
    expect([status, json.code]).toEqual([404, 'unknown_tool']);
    expect(json.suggestions).toContain('terminalRun');
  });

  it('shows both names of a call by alias in the response, the audit and the log', async () => {
    const { status, json } = await service.call('POST', '/v1/toolsets/demo/calls', { name: 'shell', arguments: { command: 'echo seen' } });
    expect(status).toBe(200);
    expect(json).toMatchObject({ requested: 'shell', canonical: 'builtin.bash', via: 'alias', isError: false });
    const { json: audit } = await service.call('GET', '/v1/audit?limit=1');
    expect(audit.items[0]).toMatchObject({ requested: 'shell', canonical: 'builtin.bash' });
    const line = service
      .printed()
      .split('\n')
      .find((text) => text.startsWith('{') && text.includes('"requested":"shell"'));
    expect(line).toContain('"canonical":"builtin.bash"');
  });

  it('names wrong and missing arguments by path, and runs nothing', async () => {
    const wrong = await service.call('POST', '/v1/toolsets/demo/calls', { name: 'save_file', arguments: { path: 7 } });
    expect(wrong.json).toMatchObject({ isError: true, code: 'invalid_arguments' });
    expect(wrong.json.content[0].text).toMatch(/path/);
    expect(wrong.json.content[0].text).toMatch(/content/);
  });

  it('returns an unknown tool as a result that the caller can act on', async () => {
    const { status, json } = await service.call('POST', '/v1/toolsets/demo/calls', { name: 'no_such_thing', arguments: {} });
    expect(status).toBe(200);
    expect(json).toMatchObject({ isError: true, code: 'unknown_tool', canonical: null, via: null });
  });

  it('rejects an outdated If-Match and changes nothing', async () => {
    const before = await service.call('GET', '/v1/toolsets/demo');
    const lost = await service.call('PUT', '/v1/toolsets/demo', { tools: [{ tool: 'builtin.bash' }] }, { 'if-match': '"99"' });
    expect([lost.status, lost.json.code]).toEqual([412, 'precondition_failed']);
    expect((await service.call('GET', '/v1/toolsets/demo')).json).toEqual(before.json);
  });
});
