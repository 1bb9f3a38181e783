import { describe, expect, it } from 'vitest';
import { rehearsalHttp } from '../../../src/providers/rehearsal/rehearsal.ts';

type WireMessage = {
  role: string;
  content: string | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
};
type Reply = { choices: { message: WireMessage; finish_reason: string }[]; usage: { total_tokens: number } };

const tools = [
  tool('terminalRun', 'Runs a bash command in the workspace.', { command: { type: 'string' }, timeout: { type: 'integer' } }, ['command']),
  tool(
    'read_file',
    'Reads a file.',
    { path: { type: 'string' }, lines: { type: 'integer' }, raw: { type: 'boolean' }, tags: { type: 'array' } },
    ['path'],
  ),
  tool('http_request', 'Sends an HTTP request to a URL.', { url: { type: 'string' }, method: { type: 'string', enum: ['GET', 'POST'] } }, [
    'url',
    'method',
  ]),
];

function tool(name: string, description: string, properties: object, required: string[]) {
  return { type: 'function', function: { name, description, parameters: { type: 'object', properties, required } } };
}

const system = {
  role: 'system',
  content: 'Be kind.\n\n## Tool names\n- terminalRun = builtin.bash (aliases: bash, shell): Runs a command.',
};

async function send(body: Record<string, unknown>): Promise<Response> {
  return await rehearsalHttp(
    new Request('https://rehearsal.invalid/v1/chat/completions', {
      method: 'POST',
      body: JSON.stringify({ model: 'default', tools, ...body }),
    }),
    { purpose: 'provider' },
  );
}

async function ask(
  input: string,
  { before = [], after = [], ...body }: { before?: WireMessage[]; after?: WireMessage[] } & Record<string, unknown> = {},
) {
  const reply = (await (
    await send({ messages: [system, ...before, { role: 'user', content: input }, ...after], ...body })
  ).json()) as Reply;
  const choice = reply.choices[0] as Reply['choices'][number];
  return {
    text: choice.message.content ?? '',
    calls: (choice.message.tool_calls ?? []).map((call) => [call.function.name, call.function.arguments]),
    message: choice.message,
    finish: choice.finish_reason,
    usage: reply.usage,
  };
}

const calls = async (input: string, body = {}) => (await ask(input, body)).calls.map(([name, text]) => [name, JSON.parse(text ?? '')]);

describe('lines that begin with a slash', () => {
  it.each([
    ['/terminalRun {"command":"ls"}', 'terminalRun', { command: 'ls' }],
    ['/read_file path=a.txt lines=3 raw=true tags=x,y', 'read_file', { path: 'a.txt', lines: 3, raw: true, tags: ['x', 'y'] }],
    ['/read_file path="a b.txt"', 'read_file', { path: 'a b.txt' }],
    ['/shell echo hello', 'shell', { command: 'echo hello' }],
    ['/shell A=1 env', 'shell', { command: 'A=1 env' }],
    ['/bash command=ls timeout=5', 'bash', { command: 'ls', timeout: 5 }],
    ['/readFile a.txt', 'readFile', { path: 'a.txt' }],
    ['/no_such_tool some text', 'no_such_tool', { input: 'some text' }],
    ['/no_such_tool n=1 s=x', 'no_such_tool', { n: 1, s: 'x' }],
    ['/terminalRun', 'terminalRun', {}],
  ])('call a tool: %s', async (line, name, value) => {
    expect(await calls(line)).toEqual([[name, value]]);
  });

  it('send invalid JSON unchanged', async () => {
    expect((await ask('/terminalRun {"command": ')).calls).toEqual([['terminalRun', '{"command":']]);
  });

  it('run at once if adjacent, and in steps if separated by a blank line', async () => {
    const input = 'Please:\n/shell echo 1\n/shell echo 2\n\n/read_file a.txt';
    const first = await ask(input);
    expect(first.calls.map(([, text]) => text)).toEqual(['{"command":"echo 1"}', '{"command":"echo 2"}']);
    expect(first.finish).toBe('tool_calls');
    const results = (first.message.tool_calls ?? []).map(
      (call, index): WireMessage => ({ role: 'tool', tool_call_id: call.id, content: String(index + 1) }),
    );
    const second = await ask(input, { after: [first.message, ...results] });
    expect(second.calls).toEqual([['read_file', '{"path":"a.txt"}']]);
    const ids = [...(first.message.tool_calls ?? []), ...(second.message.tool_calls ?? [])].map((call) => call.id);
    expect(new Set(ids).size).toBe(3);
    const last = await ask(input, {
      after: [first.message, ...results, second.message, { role: 'tool', tool_call_id: ids[2], content: 'No such file.' }],
    });
    expect(last.calls).toEqual([]);
    expect(last.text).toContain('shell({"command":"echo 2"}) gave:\n2');
    expect(last.text).toContain('No such file.');
    expect(last.finish).toBe('stop');
  });

  it('report that tools are disabled', async () => {
    const reply = await ask('/shell ls', { tool_choice: 'none' });
    expect(reply.calls).toEqual([]);
    expect(reply.text).toContain('switched off');
  });
});

describe('marked data', () => {
  it.each([
    ['lines of it', 'An issue: <data>It breaks.\n\n/shell rm -rf /\n/read_file a.txt</data>'],
    ['names in it', 'An issue: <data>run `ls` in the bash shell</data> by <data>read_file</data>'],
  ])('triggers no call by %s', async (_what, input) => {
    expect((await ask(input)).calls).toEqual([]);
  });

  it('is passed by a command line around it, on one line', async () => {
    expect(await calls('/shell echo <data>two\n/shell lines</data>')).toEqual([
      ['shell', { command: 'echo <data>two /shell lines</data>' }],
    ]);
  });

  it('ends where its mark ends: text around it is followed', async () => {
    const input = 'About <data>a\n/shell no</data>:\n/shell date\n<data>b</data> and a <data> that has no end\n/shell uptime';
    expect(await calls(input)).toEqual([
      ['shell', { command: 'date' }],
      ['shell', { command: 'uptime' }],
    ]);
  });
});

describe('plain text', () => {
  it.each([
    ['Run `ls -la` in the shell', 'terminalRun', { command: 'ls -la' }],
    ['Read the file notes/today.md, please', 'read_file', { path: 'notes/today.md' }],
    ['Send a POST request to https://a.example/x', 'http_request', { url: 'https://a.example/x', method: 'POST' }],
  ])('calls the tool that fits it: %s', async (input, name, value) => {
    expect(await calls(input)).toEqual([[name, value]]);
  });

  it('lists the tools, and says that the model is a rehearsal, if nothing matches', async () => {
    const { text, calls: made } = await ask('Hello there');
    expect(made).toEqual([]);
    expect(text).toContain('no intelligence');
    expect(text).toContain('terminalRun (also bash, shell)');
    expect((await ask('Hello there', { tools: [] })).text).toContain('no tools');
  });

  it('lists a tool once if its alias is its wire name', async () => {
    const told = 'Runs a command.\nAlias: shell (maps to builtin.bash)\nAlias: terminal (maps to builtin.bash)';
    const { text } = await ask('hello', { tools: [tool('shell', told, {}, [])] });
    expect(text).toContain('- shell (also terminal): Runs a command.');
  });

  it('calls a tool if a call is required, and the named tool', async () => {
    expect((await calls('Hello there', { tool_choice: 'required' })).map(([name]) => name)).toEqual(['terminalRun']);
    expect(
      (await calls('Hello there', { tool_choice: { type: 'function', function: { name: 'read_file' } } })).map(([name]) => name),
    ).toEqual(['read_file']);
  });
});

it('summarizes what was said and its results', async () => {
  const before: WireMessage[] = [
    { role: 'user', content: 'My colour is green.' },
    { role: 'assistant', content: 'Fine.' },
    { role: 'user', content: '/shell date' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'c', function: { name: 'shell', arguments: '{"command":"date"}' } }] },
    { role: 'tool', tool_call_id: 'c', content: 'Monday' },
    { role: 'assistant', content: 'It is Monday.' },
  ];
  for (const question of ['What did I say before?', 'Do you remember my colour?', 'What happened so far?', 'Hello again']) {
    const { text } = await ask(question, { before });
    expect(text, question).toContain('you said: My colour is green.');
    expect(text, question).toContain('shell({"command":"date"}) gave: Monday');
  }
  expect((await ask('What did I say?')).text).toContain('nothing to remember');
});

describe('the HTTP side', () => {
  it('streams the same reply in several deltas, with usage if requested', async () => {
    const body = { messages: [system, { role: 'user', content: 'Hello there' }] };
    const plain = ((await (await send(body)).json()) as Reply).choices[0]?.message.content;
    const text = await (await send({ ...body, stream: true, stream_options: { include_usage: true } })).text();
    const chunks = text
      .split('\n\n')
      .filter((frame) => frame.startsWith('data: {'))
      .map((frame) => JSON.parse(frame.slice(6)));
    const deltas = chunks.flatMap((chunk) => chunk.choices.map((choice: { delta: { content?: string } }) => choice.delta.content ?? ''));
    expect(deltas.filter((delta) => delta !== '').length).toBeGreaterThan(3);
    expect(deltas.join('')).toBe(plain);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: expect.any(Number) } });
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(await (await send({ ...body, stream: true })).text()).not.toContain('usage');
  });

  it('is deterministic', async () => {
    expect(await ask('Hello there')).toEqual(await ask('Hello there'));
  });

  it('stops at the token limit, in text and in arguments', async () => {
    const text = await ask('Hello there', { max_tokens: 3 });
    expect(text).toMatchObject({ finish: 'length' });
    expect(text.text).toHaveLength(12);
    expect(await ask('/shell echo hello world', { max_completion_tokens: 3 })).toMatchObject({
      finish: 'length',
      calls: [['shell', '{"command":"']],
    });
  });

  it('knows one model', async () => {
    const reply = await send({ model: 'other', messages: [] });
    expect(reply.status).toBe(404);
    expect(await reply.json()).toMatchObject({ error: { code: 'model_not_found' } });
  });
});

describe('with more tools than it sees', () => {
  const seen = [...tools, tool('find_tools', 'Finds tools by what they do.', { query: { type: 'string' } }, ['query'])];
  const question = 'open a ticket about "printer on fire"';
  const looked = { id: 'c1', function: { name: 'find_tools', arguments: JSON.stringify({ query: question }) } };
  const found = [
    { role: 'assistant', content: null, tool_calls: [looked] },
    {
      role: 'tool',
      content:
        '2 of 900 tools, best match first.\n- make_ticket (aliases: ticket): Opens one.\n  arguments: {title: string}\n- read_file: Reads.',
      tool_call_id: 'c1',
    },
  ];
  const offered = [...seen, tool('make_ticket', 'Opens one.', { title: { type: 'string' } }, ['title'])];

  it('searches for a tool with the input if no visible one matches', async () => {
    expect((await ask(question, { tools: seen })).calls).toEqual([['find_tools', JSON.stringify({ query: question })]]);
    expect((await ask('read the file a.txt', { tools: seen })).calls[0]?.[0]).toBe('read_file');
  });

  it('calls the first found tool, then reports', async () => {
    const call = await ask(question, { tools: offered, after: found });
    expect(call.calls).toEqual([['make_ticket', '{"title":"printer on fire"}']]);
    const result = { role: 'tool', content: 'Ticket 7 is open.', tool_call_id: 'call_rehearsal_2_1' };
    const report = await ask(question, { tools: offered, after: [...found, call.message, result] });
    expect(report.calls).toEqual([]);
    expect(report.text).toContain('Ticket 7 is open.');
  });

  it('reports if nothing was found, and does not search again', async () => {
    const nothing = [found[0] as WireMessage, { role: 'tool', content: 'None of the 900 tools matches.', tool_call_id: 'c1' }];
    const { calls, text } = await ask(question, { tools: seen, after: nothing });
    expect(calls).toEqual([]);
    expect(text).toContain('None of the 900 tools matches.');
  });
});
