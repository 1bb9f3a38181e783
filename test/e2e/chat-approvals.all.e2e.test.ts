import OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { shareService } from './shared-service.ts';
import { maxInputsWhileWaiting } from '../../src/objects/session/turn/submit-chat.ts';
import { endedTurn } from './eventually.ts';

type Messages = OpenAI.ChatCompletionMessageParam[];

const pick: OpenAI.ChatCompletionTool = { type: 'function', function: { name: 'pick', parameters: { type: 'object' } } };
const say = (content: string): Messages[number] => ({ role: 'user', content });

describe('a chat client whose turn requires approval', () => {
  const service = shareService();
  let client: OpenAI;

  beforeAll(async () => {
    client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.key, maxRetries: 0 });
    await service.call('PUT', '/v1/toolsets/guarded', {
      tools: [
        { tool: 'builtin.bash', name: 'shell', approval: 'always' },
        { tool: 'builtin.list_directory', name: 'ls' },
      ],
    });
    await service.call('PUT', '/v1/agents/guarded', { model: 'rehearsal/default', toolset: 'guarded', instructions: '' });
  });

  const restart = async (): Promise<void> => {
    await service.restart();
    client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.key, maxRetries: 0 });
  };

  const ask = async (messages: Messages, session: string, tools: OpenAI.ChatCompletionTool[] = []) => {
    const { data, response } = await client.chat.completions
      .create({ model: 'agent/guarded', messages, ...(tools.length > 0 && { tools }) }, { headers: { 'x-moniker-session': session } })
      .withResponse();
    const [choice] = data.choices;
    if (choice === undefined) throw new Error('no choice');
    return {
      message: choice.message,
      content: choice.message.content ?? '',
      finish: choice.finish_reason,
      usage: data.usage?.total_tokens ?? 0,
      session: response.headers.get('x-moniker-session') ?? '',
    };
  };
  const callIn = (content: string): string => /\(call (call_[^)]+)\)/.exec(content)?.[1] ?? 'none';
  const decide = async (session: string, callId: string, decision: string): Promise<void> => {
    const { status } = await service.call('POST', `/v1/sessions/${session}/approvals/${callId}`, { decision });
    expect(status).toBe(200);
  };
  const ended = async (session: string): Promise<void> => expect(await endedTurn(service, session)).toMatchObject({ status: 'completed' });

  it('receives the pending approval, receives it again, and gets the rest with the next response, with a kill and restart in between', async () => {
    const history = [say('/shell echo it ran')];
    const first = await ask(history, 'new');
    expect([first.finish, first.message.tool_calls ?? []]).toEqual(['stop', []]);
    expect(first.content).toContain('builtin.bash');
    const callId = callIn(first.content);
    expect(first.content).toContain(`/v1/sessions/${first.session}/approvals/${callId}`);
    await restart();

    history.push(first.message, say('Well?'));
    const second = await ask(history, first.session);
    expect([second.session, second.finish, callIn(second.content), second.usage]).toEqual([first.session, 'stop', callId, 0]);

    await decide(first.session, callId, 'approve');
    await ended(first.session);
    history.push(second.message, say('/ls path=.'));
    const third = await ask(history, first.session);
    expect([third.session, third.finish]).toEqual([first.session, 'stop']);
    expect(third.content.indexOf('it ran')).toBeGreaterThan(-1);
    expect(third.content.indexOf('ls(')).toBeGreaterThan(third.content.indexOf('it ran'));

    history.push(third.message, say('Thank you'));
    const fourth = await ask(history, first.session);
    expect([fourth.session, fourth.content.includes('it ran\n\n')]).toEqual([first.session, false]);
  });

  it('continues the turn after the decision: a denial is returned to the model', async () => {
    const first = await ask([say('/shell echo never')], 'new');
    await decide(first.session, callIn(first.content), 'deny');
    await ended(first.session);
    const second = await ask([say('/shell echo never'), first.message, say('/ls path=.')], first.session);
    expect(second.session).toBe(first.session);
    expect(second.content).toContain('user denied the call');
  });

  it('can send only a limited amount of text before the decision', async () => {
    const first = await ask([say('/shell echo later')], 'new');
    for (let said = 0; said < maxInputsWhileWaiting; said += 1) await ask([say(`and ${said}`)], first.session);
    await expect(ask([say('and more')], first.session)).rejects.toMatchObject({ status: 429, code: 'rate_limited' });
    await decide(first.session, callIn(first.content), 'approve');
    await ended(first.session);
    expect((await ask([say('/ls path=.')], first.session)).content).toContain('ls(');
  });

  it('receives its own tool calls together with the approval notice, and completes when both are resolved', async () => {
    const history = [say('/shell echo approved\n/pick')];
    const first = await ask(history, 'new', [pick]);
    const [call] = first.message.tool_calls ?? [];
    expect([first.finish, callIn(first.content)]).toEqual(['tool_calls', expect.stringMatching(/^call_/)]);

    history.push(first.message, { role: 'tool', tool_call_id: call?.id ?? '', content: 'green' });
    const second = await ask(history, first.session, [pick]);
    expect([second.session, second.finish, callIn(second.content)]).toEqual([first.session, 'stop', callIn(first.content)]);

    await decide(first.session, callIn(first.content), 'approve');
    history.push(second.message, say('And?'));
    const third = await ask(history, first.session, [pick]);
    expect(third.session).toBe(first.session);
    for (const text of ['approved', 'green']) expect(third.content).toContain(text);
  });
});
