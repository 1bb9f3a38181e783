/** A forced tool, and a list of allowed tools, in each dialect: checked against the plan before a turn starts. */
import { beforeEach, describe, expect, it } from 'vitest';
import { bodyOf, createChatHarness, type Harness } from './harness.ts';

let h: Harness;
beforeEach(async () => {
  h = await createChatHarness();
  const ui = { label: 'Camera', description: 'Takes a photo.', category: 'upload', triggers: [] };
  await h.send('PUT', '/v1/tools/ui.camera', ui);
  await h.send('PUT', '/v1/toolsets/both', {
    tools: [{ tool: 'builtin.bash', aliases: ['shell'] }, { tool: 'builtin.read_file' }, { tool: 'ui.camera' }],
  });
  const agents = { all: undefined, reader: ['ReadFile', 'Camera'], looker: ['camera'], idle: [] as string[] };
  for (const [name, tools] of Object.entries(agents))
    await h.send('PUT', `/v1/agents/${name}`, { model: 'rehearsal/default', toolset: 'both', ...(tools && { tools }) });
});

type Ask = (agent: string, choice: Record<string, unknown>) => Promise<Response>;
const dialects: [string, { ask: Ask; forced(name: string): object; required: unknown; param(problem: never): unknown }][] = [
  [
    '/v1/chat/completions',
    {
      ask: (agent, more) =>
        h.send('POST', '/v1/chat/completions', { model: `agent/${agent}`, messages: [{ role: 'user', content: 'x' }], ...more }),
      forced: (name) => ({ type: 'function', function: { name } }),
      required: 'required',
      param: ({ error }: { error: { param: string } }) => error.param,
    },
  ],
  [
    '/v1/responses',
    {
      ask: (agent, more) => h.send('POST', '/v1/responses', { model: `agent/${agent}`, input: 'x', ...more }),
      forced: (name) => ({ type: 'function', name }),
      required: 'required',
      param: ({ error }: { error: { param: string } }) => error.param,
    },
  ],
  [
    '/v1/messages',
    {
      ask: (agent, more) =>
        h.send('POST', '/v1/messages', { model: `agent/${agent}`, max_tokens: 9, messages: [{ role: 'user', content: 'x' }], ...more }),
      forced: (name) => ({ type: 'tool', name }),
      required: { type: 'any' },
      param: ({ error }: { error: { message: string } }) => error.message.split(':')[0],
    },
  ],
];

describe.each(dialects)('a choice of tools at %s', (_path, { ask, forced, required, param }) => {
  it('accepts any offered tool by any of its names', async () => {
    for (const name of ['shell', 'builtin.bash', 'Shell', 'bash'])
      expect((await ask('all', { tool_choice: forced(name) })).status).toBe(200);
    expect((await ask('reader', { tool_choice: forced('readFile') })).status).toBe(200);
    expect((await ask('reader', { tool_choice: required })).status).toBe(200);
    expect(h.sessions.submitted).toHaveLength(6);
  });

  it.each([
    ['all', 'nonesuch', 'is not a tool of this turn'],
    ['reader', 'shell', 'is not a tool of this turn'],
    ['reader', 'builtin.bash', 'is not a tool of this turn'],
    ['reader', 'camera', 'is shown to the user and cannot be called'],
    ['idle', 'shell', 'is not a tool of this turn'],
    ['plain', 'shell', 'is not a tool of this turn'],
    ['all', 'constructor', 'is not a tool of this turn'],
  ])('of the agent %s is not %s', async (agent, name, why) => {
    const answer = await ask(agent, { tool_choice: forced(name) });
    const body = await bodyOf(answer);
    expect(param(body as never)).toBe('tool_choice');
    expect([answer.status >= 400 && answer.status < 500, body.error.message]).toEqual([true, expect.stringContaining(why)]);
    expect(h.sessions.all.size).toBe(0);
  });

  it.each(['looker', 'idle', 'plain'])('cannot require a call of the agent %s, which has no tools', async (agent) => {
    const answer = await ask(agent, { tool_choice: required });
    const body = await bodyOf(answer);
    expect([answer.status >= 400 && answer.status < 500, body.error.message]).toEqual([
      true,
      expect.stringContaining('no tool that could be called'),
    ]);
    expect(h.sessions.all.size).toBe(0);
  });
});

describe('a list of allowed tools', () => {
  const mine = { type: 'function', function: { name: 'mine', parameters: { type: 'object' } } };
  const chat = (agent: string, names: string[], mode: string | undefined = undefined, tools: unknown[] = []) =>
    dialects[0]?.[1].ask(agent, {
      tools,
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode, tools: names.map((name) => ({ type: 'function', function: { name } })) },
      },
    }) ?? Promise.reject(new Error('there is a first dialect'));
  const respond = (agent: string, names: string[]) =>
    h.send('POST', '/v1/responses', {
      model: `agent/${agent}`,
      input: 'x',
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: names.map((name) => ({ type: 'function', name })) },
    });

  it('restricts the server’s and the caller’s tools to those that it names, in any spelling', async () => {
    expect((await chat('all', ['ReadFile', 'mine'], 'required', [mine])).status).toBe(200);
    expect((await respond('all', ['shell'])).status).toBe(200);
    expect((await chat('all', ['mine'], 'auto', [mine, { ...mine, function: { ...mine.function, name: 'other' } }])).status).toBe(200);
    expect(h.sessions.submitted.map(({ plan }) => [plan.allow, plan.clientTools?.map(({ name }) => name)])).toEqual([
      [['builtin.read_file'], ['mine']],
      [['builtin.bash'], undefined],
      [[], ['mine']],
    ]);
    expect(h.sessions.submitted[0]?.plan.settings.toolChoice).toBe('required');
  });

  it('never adds tools to the agent', async () => {
    const answer = await chat('reader', ['read_file', 'shell']);
    expect([answer.status, (await bodyOf(answer)).error.param]).toEqual([422, 'tool_choice.allowed_tools.tools[1].function.name']);
    const other = await respond('reader', ['read_file', 'camera']);
    expect([other.status, (await bodyOf(other)).error.param]).toEqual([422, 'tool_choice.tools[1].name']);
  });

  it('cannot require a call if it is empty', async () => {
    expect((await bodyOf(await chat('all', [], 'required'))).error.message).toContain('no tool that could be called');
  });
});
