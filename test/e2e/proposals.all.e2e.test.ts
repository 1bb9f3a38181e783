/**
 * An agent's list in mixed spellings, and UI tools, over a running service: what is proposed, to which clients, and that proposals are
 * stored.
 */
import OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseEvents } from './service.ts';
import { shareService } from './shared-service.ts';

const tools = {
  camera: { label: 'Camera', description: 'Takes a photo of homework.', category: 'upload', triggers: ['take a picture'], href: '/camera' },
  quiz: { label: 'Quiz', description: 'Asks questions about a topic.', category: 'practice', triggers: ['test me'] },
};
const camera = {
  canonical: 'ui.camera',
  label: 'Camera',
  text: 'Camera (“take a picture”): Takes a photo of homework.',
  relevance: 1,
  category: 'upload',
  href: '/camera',
};

describe('a workspace with UI tools', () => {
  const service = shareService();
  const made = async (path: string, body: unknown) => {
    const { status, text } = await service.call('PUT', path, body);
    expect(status, text).toBe(201);
  };
  const session = async (agent: string): Promise<string> => (await service.call('POST', '/v1/sessions', { agent })).json.id;
  const turn = async (id: string, input: string) => (await service.call('POST', `/v1/sessions/${id}/turns`, { input })).json;

  beforeAll(async () => {
    for (const [name, tool] of Object.entries(tools)) await made(`/v1/tools/ui.${name}`, tool);
    const listed = [{ tool: 'ui.camera' }, { tool: 'ui.quiz' }, { tool: 'local.calculate', aliases: ['reckon'] }];
    await made('/v1/toolsets/study', { tools: listed });
    await made('/v1/toolsets/pages', { tools: listed.slice(0, 2) });
    const agent = { model: 'rehearsal/default', toolset: 'study' };
    await made('/v1/agents/tutor', agent);
    await made('/v1/agents/shy', { ...agent, tools: ['Quiz', ' RECKON', 'Task', 'constructor'] });
    await made('/v1/agents/guide', { ...agent, toolset: 'pages' });
  });

  it('reports unknown names in a list of mixed spellings, and accepts the agent as it is returned', async () => {
    const { json: read } = await service.call('GET', '/v1/agents/shy');
    expect(read).toMatchObject({
      tools: ['Quiz', ' RECKON', 'Task', 'constructor'],
      warnings: [{ path: 'tools[2]' }, { path: 'tools[3]' }],
    });
    const again = await service.call('PUT', '/v1/agents/shy', read);
    expect([again.status, again.headers.get('etag')]).toEqual([200, '"1"']);
  });

  it('sends proposals before the end of a turn, in its stream, in its response, and to readers that resume after a crash', async () => {
    const id = await session('tutor');
    const asked = { input: 'May I take a picture?' };
    const stream = await service.call('POST', `/v1/sessions/${id}/turns`, asked, { accept: 'text/event-stream' });
    const events = parseEvents(stream.text);
    expect(events.slice(-2)).toMatchObject([{ type: 'proposal', data: camera }, { type: 'turn-end' }]);
    const plain = await turn(id, 'Now test me');
    expect(plain.proposals).toMatchObject([{ canonical: 'ui.quiz', relevance: 1 }]);

    await service.restart();
    const resumed = await fetch(`${service.url}/v1/sessions/${id}/events`, {
      headers: { authorization: `Bearer ${service.key}`, 'last-event-id': String((events.at(-2)?.id ?? 0) - 1) },
    });
    let text = '';
    for await (const piece of resumed.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      if (text.split('event: turn-end').length > 2 && text.endsWith('\n\n')) break;
    }
    const kinds = parseEvents(text).flatMap(({ type, data }) =>
      type === 'proposal' ? [data.canonical] : type === 'turn-end' ? ['end'] : [],
    );
    expect(kinds).toEqual(['ui.camera', 'end', 'ui.quiz', 'end']);
    expect((await service.call('GET', `/v1/sessions/${id}/messages`)).text).not.toContain('Takes a photo');
  });

  it('proposes only the tools that the agent’s list allows', async () => {
    const id = await session('shy');
    const { proposals } = await turn(id, 'take a picture and test me');
    expect(proposals).toMatchObject([{ canonical: 'ui.quiz' }]);
    const { proposals: listed } = await turn(id, 'Could you calculate it?');
    expect(listed).toMatchObject([{ canonical: 'local.calculate', label: 'Reckon', category: 'tool' }]);
  });

  it('runs an agent with UI tools only, without tools for its model', async () => {
    const id = await session('guide');
    const answer = await turn(id, '/camera {}');
    expect(answer).toMatchObject({ status: 'completed', proposals: [{ canonical: 'ui.camera' }] });
    expect(answer.toolCalls).toMatchObject([{ canonical: 'ui.camera', code: 'not_allowed' }]);
  });

  it('hides them from stock clients of the chat dialects', async () => {
    const client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.key, maxRetries: 0 });
    const answer = await client.chat.completions.create({ model: 'agent/tutor', messages: [{ role: 'user', content: 'take a picture' }] });
    expect(answer.choices[0]?.finish_reason).toBe('stop');
    expect(JSON.stringify(answer)).not.toMatch(/Takes a photo|ui\.camera|proposal/);
  });
});
