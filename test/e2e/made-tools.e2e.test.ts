/** Tools that a model makes: stored over restarts, offered to later sessions, put into toolsets under aliases, and shared or changed only after an approval. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDir, removeDataDir, startService, type Answer, type RunningService } from './service.ts';

const code =
  'const read = await tools.read_file({ path: args.path }); if (!read.success) return { replaced: 0, error: read.error }; const parts = read.output.split(args.find); const written = await tools.write_file({ path: args.path, content: parts.join(args.replace) }); return { replaced: parts.length - 1, written: written.success };';
const findAndReplace = {
  name: 'find_and_replace',
  description: 'Replaces a text in a file wherever it stands.',
  parameters: ['path', 'find', 'replace'].map((name) => ({ name, type: 'string', description: `The ${name}`, required: true })),
  implementation: code,
  aliases: ['swap_text'],
};

describe('tools that a model makes', () => {
  const dataDir = makeDataDir();
  let service: RunningService;
  beforeAll(async () => {
    service = await startService(dataDir);
    await put('/v1/toolsets/desk', {
      tools: [{ tool: 'builtin.read_file' }, { tool: 'builtin.write_file' }, { tool: 'builtin.create_tool' }],
    });
    await put('/v1/toolsets/shelf', { tools: [{ tool: 'builtin.bash' }] });
    await put('/v1/agents/maker', { model: 'rehearsal/default', toolset: 'desk', made: true });
  });
  afterAll(async () => {
    await service.stop();
    removeDataDir(dataDir);
  });

  const put = async (path: string, body: unknown): Promise<Answer> => {
    const answer = await service.call('PUT', path, body);
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer;
  };
  const session = async (agent = 'maker', headers = {}): Promise<string> =>
    (await service.call('POST', '/v1/sessions', { agent }, headers)).json.id;
  const say = async (id: string, input: string, headers = {}): Promise<Answer['json']> => {
    const answer = await service.call('POST', `/v1/sessions/${id}/turns`, { input }, headers);
    expect(answer.status, answer.text).toBe(200);
    return answer.json;
  };
  const restart = async (): Promise<void> => {
    await service.stop('SIGKILL');
    service = await startService(dataDir);
  };
  const replaces = async (id: string, name: string, headers = {}) => {
    const called = `/write_file ${JSON.stringify({ path: `${name}.txt`, content: 'one two two' })}\n\n/${name} ${JSON.stringify({ path: `${name}.txt`, find: 'two', replace: '2' })}\n\n/read_file path=${name}.txt`;
    return (await say(id, called, headers)).toolCalls;
  };

  it('are created in a turn without approval, and called in the next', async () => {
    const id = await session();
    const turn = await say(id, `/create_tool ${JSON.stringify(findAndReplace)}`);
    expect(turn).toMatchObject({ status: 'completed', toolCalls: [{ canonical: 'builtin.create_tool', isError: false }] });
    expect(turn.toolCalls[0].content[0].text).toContain(
      'Created made.find_and_replace, version 1. It may call only builtin.read_file, builtin.write_file.',
    );
    const calls = await replaces(id, 'find_and_replace');
    expect(calls[1]).toMatchObject({ canonical: 'made.find_and_replace', isError: false });
    expect(JSON.stringify(calls[1].content)).toContain('replaced');
    expect(calls[2].content).toEqual([{ type: 'text', text: 'one 2 2' }]);
  });

  it('say from when they can be called, in the turn that made them', async () => {
    const id = await session();
    const made = { ...findAndReplace, name: 'replace_later', aliases: ['later'] };
    const { toolCalls } = await say(id, `/create_tool ${JSON.stringify(made)}\n\n/replace_later {}\n\n/nothing_like_it {}`);
    expect(toolCalls.map(({ code }: { code?: string }) => code)).toEqual([undefined, 'unknown_tool', 'unknown_tool']);
    expect(toolCalls[1].content[0].text).toContain('replace_later was made in this turn: it can be called from the next turn on');
    expect(toolCalls[2].content[0].text).toContain('There is no tool');
  });

  it('read the stdout of the shell and no error as output, and pass on the result of a call that they return', async () => {
    await put('/v1/toolsets/passing', {
      tools: [{ tool: 'builtin.bash' }, { tool: 'builtin.read_file' }, { tool: 'builtin.create_tool' }],
    });
    await put('/v1/agents/passing', { model: 'rehearsal/default', toolset: 'passing', made: true });
    const id = await session('passing');
    const path = { name: 'path', type: 'string', description: 'The path', required: true };
    const make = (name: string, implementation: string) => ({ name, description: `Does ${name}.`, parameters: [path], implementation });
    const shown =
      'const ran = await tools.bash({ command: "echo hello" }); const read = await tools.read_file({ path: args.path }); return [ran.output, read.success, read.output, read.error.length > 0];';
    for (const tool of [make('show_it', shown), make('pass_it', 'return tools.read_file({ path: args.path });')])
      expect((await say(id, `/create_tool ${JSON.stringify(tool)}`)).toolCalls).toMatchObject([{ isError: false }]);
    const { toolCalls } = await say(id, '/show_it path=missing.txt\n/pass_it path=missing.txt\n/read_file path=missing.txt');
    expect(JSON.parse(toolCalls[0].content[0].text)).toEqual(['hello\n', false, '', true]);
    expect(toolCalls[1]).toMatchObject({ isError: true, content: toolCalls[2].content });
  });

  it('are available after a restart, in another session, by an alias', async () => {
    await restart();
    // The process may have been killed before other sessions could see the tool; they do within 90 seconds.
    const called = async () => (await replaces(await session(), 'swap_text'))[1];
    await expect.poll(called).toMatchObject({ canonical: 'made.find_and_replace', isError: false });
  });

  it('are available to other keys once they are shared', async () => {
    const { json } = await service.call('POST', '/v1/keys', { name: 'reader', scopes: ['chat'] });
    const headers = { authorization: `Bearer ${json.key}` };
    expect((await replaces(await session('maker', headers), 'swap_text', headers))[1]).toMatchObject({ code: 'unknown_tool' });
    const id = await session();
    const turn = await say(id, `/create_tool ${JSON.stringify({ ...findAndReplace, share: true })}`);
    expect(turn).toMatchObject({ status: 'waiting', pending: [{ reason: expect.stringContaining('shares') }] });
    await service.call('POST', `/v1/sessions/${id}/approvals/${turn.pending[0].callId}`, { decision: 'approve' });
    await expect.poll(async () => (await service.call('GET', '/v1/tools/made.find_and_replace')).json.visibility).toBe('shared');
    const calls = await replaces(await session('maker', headers), 'swap_text', headers);
    expect(calls[1]).toMatchObject({ requested: 'swap_text', canonical: 'made.find_and_replace', isError: false });
    expect(calls[2].content).toEqual([{ type: 'text', text: 'one 2 2' }]);
  });

  it('are added to a toolset under an alias, and found by it', async () => {
    await put('/v1/toolsets/office', {
      tools: [{ tool: 'made.find_and_replace', aliases: ['exchange'] }, { tool: 'builtin.write_file' }, { tool: 'builtin.read_file' }],
    });
    await put('/v1/agents/clerk', { model: 'rehearsal/default', toolset: 'office' });
    expect((await service.call('GET', '/v1/toolsets/office/resolve?name=exchange')).json).toMatchObject({
      canonical: 'made.find_and_replace',
      via: 'wire',
    });
    const calls = await replaces(await session('clerk'), 'exchange');
    expect(calls[1]).toMatchObject({ canonical: 'made.find_and_replace', via: 'wire', isError: false });
    expect(calls[2].content).toEqual([{ type: 'text', text: 'one 2 2' }]);
  });

  it('are replaced by a model only after an approval', async () => {
    const id = await session();
    const other = { ...findAndReplace, description: 'Replaces all of it.', share: true };
    const turn = await say(id, `/create_tool ${JSON.stringify(other)}`);
    expect(turn).toMatchObject({
      status: 'waiting',
      pending: [{ canonical: 'builtin.create_tool', reason: expect.stringContaining('made.find_and_replace') }],
    });
    const version = async () => (await service.call('GET', '/v1/tools/made.find_and_replace')).json.made.version;
    expect(await version()).toBe(1);
    const { callId } = turn.pending[0];
    expect((await service.call('POST', `/v1/sessions/${id}/approvals/${callId}`, { decision: 'approve' })).status).toBeLessThan(300);
    await expect.poll(version).toBe(2);
  });

  it('are listed in a toolset by a model only after an approval', async () => {
    const id = await session();
    const lines = {
      name: 'line_count',
      description: 'Counts lines.',
      parameters: [{ name: 'path', type: 'string' }],
      implementation: 'return (await tools.read_file({ path: args.path })).output.split("\\n").length',
      toolset: 'shelf',
    };
    const turn = await say(id, `/create_tool ${JSON.stringify(lines)}`);
    expect(turn).toMatchObject({ status: 'waiting', pending: [{ reason: expect.stringContaining('shelf') }] });
    const listed = async () => (await service.call('GET', '/v1/toolsets/shelf')).json.tools.map(({ tool }: { tool: string }) => tool);
    expect(await listed()).toEqual(['builtin.bash']);
    await service.call('POST', `/v1/sessions/${id}/approvals/${turn.pending[0].callId}`, { decision: 'approve' });
    await expect.poll(listed).toEqual(['builtin.bash', 'made.line_count']);
  });

  it('are rejected with what to fix, and the turn continues', async () => {
    const id = await session();
    const bad = (change: object) => `/create_tool ${JSON.stringify({ ...findAndReplace, name: 'other', aliases: [], ...change })}`;
    const { toolCalls, status } = await say(
      id,
      [bad({ implementation: 'return (' }), bad({ implementation: 'return tools.bash({})' }), bad({ name: 'bash' })].join('\n'),
    );
    expect(status).toBe('completed');
    const texts = toolCalls.map(({ isError, content }: Answer['json']) => `${isError} ${content[0].text}`);
    expect(texts[0]).toMatch(/^true [\s\S]*implementation: is not valid JavaScript: line \d/);
    expect(texts[1]).toContain('"bash" is not one of the offered tools');
    expect(texts[2]).toContain('name: "bash" is the name of builtin.bash');
  });
});
