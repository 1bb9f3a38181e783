import { describe, expect, it } from 'vitest';
import { type ApprovalRequired, type InputRequired, type MonikerClient, MonikerError, type SessionEvent } from '../../client/src/index.ts';
import { readChatCommand, runChatCommand, writtenBefore } from '../../src/cli/chat/chat-commands.ts';
import { isPromptCommand, readPromptCommand, usePrompt } from '../../src/cli/chat/chat-prompts.ts';
import { askApproval, askInput, describeApproval } from '../../src/cli/chat/chat-questions.ts';
import { createScreen } from '../../src/cli/chat/chat-screen.ts';

const approval = {
  type: 'approval-required',
  name: 'shell',
  canonical: 'builtin.bash',
  arguments: { command: 'rm "a\u202eb"' },
  reason: 'It deletes a file',
  effects: [{ action: 'delete', kind: 'delete-file', target: '/workspace/a\u202eb' }],
  effectCount: 40,
  round: 2,
} as unknown as ApprovalRequired; // The members that the terminal shows.

const answers =
  (...lines: (string | null)[]) =>
  async () =>
    lines.shift() ?? null;
const nowhere = () => undefined;

describe('an approval in the terminal', () => {
  it('is given by a yes only', async () => {
    for (const yes of ['y', 'Y', ' yes ']) expect(await askApproval(answers(yes), nowhere, approval)).toEqual({ decision: 'approve' });
    for (const no of ['', 'n', 's', 'yep', 'no', null])
      expect(await askApproval(answers(no), nowhere, approval)).toEqual({ decision: 'deny' });
  });

  it('is denied with the reason that follows the no', async () => {
    for (const no of ['n, use staging', 'no: use staging', ' N  use staging '])
      expect(await askApproval(answers(no), nowhere, approval)).toEqual({ decision: 'deny', reason: 'use staging' });
    expect(await askApproval(answers('not this one'), nowhere, approval)).toEqual({ decision: 'deny' });
  });

  it('can be for the session if it can be remembered', async () => {
    const host = {
      ask: 'network',
      target: 'a.example',
      effects: [{ action: 'send', kind: 'network', target: 'a.example' }],
      effectCount: 1,
    };
    const forSession = { decision: 'approve', remember: 'session' };
    for (const asked of [host, { canRemember: true, ask: undefined }]) {
      const request = { ...approval, ...asked } as ApprovalRequired;
      expect(await askApproval(answers('s'), nowhere, request)).toEqual(forSession);
      expect(await askApproval(answers('y'), nowhere, request)).toEqual({ decision: 'approve' });
      expect(await askApproval(answers(null), nowhere, request)).toEqual({ decision: 'deny' });
    }
    const always = { ...approval, ...host, ask: 'always', target: null } as ApprovalRequired;
    expect(await askApproval(answers('s'), nowhere, always)).toEqual({ decision: 'deny' });
  });

  it('shows the tool, the reason, the arguments and the effects', () => {
    expect(describeApproval(approval)).toEqual([
      '  shell (builtin.bash) requires approval, round 2',
      '  It deletes a file',
      '  arguments: {"command":"rm \\"a\\u202eb\\""}',
      expect.stringContaining('- delete /workspace/a'),
      '  - and 39 more; the console shows all',
    ]);
  });
});

describe('a form of a server in the terminal', () => {
  const request = (params: object) =>
    ({ server: 'docs', requests: { one: { method: 'elicitation/create', params } } }) as unknown as InputRequired;
  const form = request({
    message: 'Which one?',
    requestedSchema: {
      properties: { count: { type: 'integer' }, sure: { type: 'boolean' }, note: { type: 'string' }, tags: { type: 'array', items: {} } },
      required: ['count', 'sure'],
    },
  });

  it('becomes an answer with the types of its fields', async () => {
    expect(await askInput(answers('3', 'yes', '', 'a, b', ''), nowhere, form)).toEqual({
      one: { action: 'accept', content: { count: 3, sure: true, tags: ['a', 'b'] } },
    });
  });

  it('can be declined or cancelled', async () => {
    expect(await askInput(answers('3', 'n', '', '', 'n'), nowhere, form)).toEqual({ one: { action: 'decline' } });
    expect(await askInput(answers('3', null), nowhere, form)).toEqual({ one: { action: 'cancel' } });
  });

  it('is a page to open for a URL', async () => {
    const lines: string[] = [];
    const open = request({ message: 'Sign in', url: 'https://example.com/in' });
    expect(await askInput(answers('y'), (line) => lines.push(line), open)).toEqual({ one: { action: 'accept' } });
    expect(lines.join('\n')).toContain('https://example.com/in');
  });
});

describe('the screen of a chat', () => {
  const shown = (...events: object[]): string => {
    let text = '';
    const screen = createScreen((part) => {
      text += part;
    });
    for (const event of events) screen.show(event as SessionEvent); // The members that the screen reads.
    screen.finish({ status: 'completed', reason: 'stop', text: 'x' } as Parameters<typeof screen.finish>[0]);
    return text;
  };

  it('shows text as it is written, and calls and results on separate lines', () => {
    expect(
      shown(
        { type: 'text-delta', text: 'Let me ' },
        { type: 'text-delta', text: 'look.' },
        { type: 'tool-input-start', callId: '1', name: 'ls', canonical: 'builtin.list_directory' },
        { type: 'tool-input-end', callId: '1', arguments: { path: '.' } },
        { type: 'tool-result', callId: '1', isError: true, content: [{ type: 'text', text: 'a\n b\n' }, { type: 'image' }] },
        { type: 'text-delta', text: 'Nothing.' },
      ),
    ).toBe('Let me look.\n  > ls → builtin.list_directory {"path":"."}\n    failed: a | b | [image]\nNothing.\n');
  });

  it('keeps emoji and joiners in texts, arguments and results', () => {
    const text = '⚠\ufe0f 👨\u200d👩\u200d👧 می\u200cخواهم क्\u200dष';
    const printed = shown(
      { type: 'text-delta', text },
      { type: 'tool-input-start', callId: '1', name: 'say', canonical: 'a.say' },
      { type: 'tool-input-end', callId: '1', arguments: { text } },
      { type: 'tool-result', callId: '1', isError: false, content: [{ type: 'text', text }] },
    );
    expect(printed.split(text)).toHaveLength(4);
  });

  it('joins a character that is cut between two events', () => {
    expect(shown({ type: 'text-delta', text: '\ud83d' }, { type: 'text-delta', text: '\ude00' })).toBe('😀\n');
  });
});

describe('the commands of a chat', () => {
  const session = { id: 's1', model: 'openai/a', toolset: 'work' };
  const messages = [
    { role: 'assistant', parts: [{ type: 'text', text: 'Hi ⚠\ufe0f\u202e' }], turn: 't1' },
    { role: 'user', parts: [{ type: 'text', text: 'Hello' }], turn: 't1' },
  ];
  const run = async (line: string, of: object = session, instructions?: string) => {
    const printed: string[] = [];
    const sent: unknown[] = [];
    const answers: Record<string, object> = {
      '/v1/sessions/{id}': of,
      '/v1/sessions/{id}/messages': { items: messages },
      '/v1/toolsets': { items: [{ name: 'work' }, { name: 'home' }] },
      '/v1/models': { data: [{ id: 'openai/a' }, { id: 'agent/demo' }] },
    };
    const client = {
      get: async (path: string) => answers[path],
      post: async (_: string, { body }: { body: object }) => {
        sent.push(body);
        return { id: 's2' };
      },
    } as unknown as MonikerClient; // What the commands use of it.
    const command = readChatCommand(line);
    const next = command && (await runChatCommand({ client, session: 's1', instructions }, command, (one) => void printed.push(one)));
    return { next, sent, printed: printed.join('\n'), client };
  };

  it('are listed by /help', async () => {
    expect((await run('/help')).printed).toContain('/toolset NAME');
  });

  it('name the model and the toolset, and those that there are', async () => {
    expect((await run('/model')).printed).toBe('This conversation has the model: openai/a\n  openai/a\n  agent/demo');
    expect((await run('/toolset')).printed).toBe('This conversation has the toolset: work\n  work\n  home');
    expect((await run('/model', { id: 's1', agent: 'demo', toolset: null })).printed).toContain('agent demo');
  });

  it('begin a new conversation with another model or toolset, and keep the rest', async () => {
    const changed = await run('/model openai/b', session, 'Be brief.');
    expect([changed.next, changed.sent]).toEqual(['s2', [{ model: 'openai/b', toolset: 'work', instructions: 'Be brief.' }]]);
    expect(changed.printed).toContain('moniker chat --session s1');
    expect((await run('/toolset home')).sent).toEqual([{ model: 'openai/a', toolset: 'home' }]);
    expect((await run('/model openai/b', { id: 's1', agent: 'demo', toolset: 'work' })).printed).toContain('without the agent demo');
    await expect(run('/toolset home', { id: 's1', agent: 'demo', toolset: 'work' })).rejects.toThrow('that of its agent, demo');
  });

  it('show the messages, and bring back what was written', async () => {
    const { printed, client } = await run('/history');
    expect(printed.replaceAll(/\p{Cc}\[\d+m/gu, '')).toMatch(/^> Hello\nHi ⚠\ufe0f<U\+202E>$/);
    expect(await writtenBefore(client, 's1')).toEqual(['Hello']);
  });

  it('are refused if there is none of the name, and leave messages alone', async () => {
    await expect(run('/modle')).rejects.toThrow('There is no command /modle');
    for (const line of ['/etc hosts', '/etc/hosts', '/', 'help', '/Model']) expect((await run(line)).next).toBeNull();
  });
});

describe('the command /prompt', () => {
  it.each([
    ['/prompt', null],
    ['/prompt review', { name: 'review' }],
    ['/prompt review file=a.ts focus="two words" empty=', { name: 'review', arguments: { file: 'a.ts', focus: 'two words', empty: '' } }],
    ['/prompt review {"file": "a b", "count": 2}', { name: 'review', arguments: { file: 'a b', count: '2' } }],
  ])('is read: %s', (line, prompt) => {
    expect(isPromptCommand(line)).toBe(true);
    expect(readPromptCommand(line)).toEqual(prompt);
  });

  it('leaves other messages alone, and names what is no argument', () => {
    expect(['/prompts', 'prompt', '/exit'].filter(isPromptCommand)).toEqual([]);
    expect(() => readPromptCommand('/prompt review a=1 and more')).toThrow('Not an argument of a prompt: and more');
  });

  const place = (lines: (string | null)[], sent: unknown[][] = []) => {
    const printed: string[] = [];
    const items = [{ name: 'review', description: 'Reviews.\u202e', server: 'docs', arguments: [{ name: 'file', required: true }] }];
    const client = { get: async () => ({ items }), post: async (...request: unknown[]) => void sent.push(request) };
    const own = { session: 's1', ask: answers(...lines), print: (line: string) => void printed.push(line) };
    return { printed, place: { ...own, client: client as unknown as MonikerClient } }; // What the command uses of it.
  };

  it('lists the prompts with their arguments', async () => {
    const { printed, place: at } = place([]);
    await usePrompt(at, '/prompt', () => Promise.reject(new Error('nothing is sent')));
    expect(printed).toEqual([expect.stringMatching(/^ {2}review file=…: Reviews\..*202e/i)]);
  });

  it.each(['y', 'n'])('asks for an approval, sends the decision (%s), and sends the prompt again', async (line) => {
    const sent: unknown[][] = [];
    const { place: at, printed } = place([line], sent);
    const pending = [{ callId: 'call_1', kind: 'approval', canonical: 'docs.prompts/get', arguments: {}, reason: 'Not trusted' }];
    const refused = new MonikerError({ code: 'forbidden', detail: 'It waits.', pending }, { status: 403, requestId: null });
    const runs: unknown[] = [];
    await usePrompt(at, '/prompt review', async (prompt) => {
      runs.push(prompt);
      if (runs.length === 1) throw refused;
    });
    expect(runs).toEqual([{ name: 'review' }, { name: 'review' }]);
    expect(sent).toMatchObject([
      [
        '/v1/sessions/{id}/approvals/{callId}',
        { params: { path: { id: 's1', callId: 'call_1' } }, body: { decision: line === 'y' ? 'approve' : 'deny' } },
      ],
    ]);
    expect(printed.join('\n')).toContain('Not trusted');
  });

  it('reports the error when nothing is decided, and any other error', async () => {
    const pending = [{ callId: 'call_1', kind: 'approval', canonical: 'docs.prompts/get', arguments: {}, reason: 'Not trusted' }];
    for (const body of [
      { code: 'forbidden', detail: 'It waits.', pending },
      { code: 'not_found', detail: 'None.' },
    ]) {
      const error = new MonikerError(body, { status: 403, requestId: null });
      await expect(usePrompt(place([null]).place, '/prompt review', () => Promise.reject(error))).rejects.toBe(error);
    }
  });
});
