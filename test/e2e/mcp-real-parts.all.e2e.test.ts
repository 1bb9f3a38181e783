/**
 * Third-party implementations on both sides: the reference server `server-everything`, and as clients the SDK in each era and the command
 * line of the MCP Inspector. They list and call tools by the names of a toolset.
 */
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEverything, type EverythingServer } from './everything-server.ts';
import { clientEras, connectClient, runInspector, textOf, type ClientEra } from './mcp-clients.ts';
import { shareService } from './shared-service.ts';

const toolset = {
  tools: [
    { tool: 'everything.echo', name: 'repeat_after_me', aliases: ['say'] },
    { tool: 'everything.get-sum', aliases: ['add'] },
    { tool: 'everything.trigger-long-running-operation', name: 'long_job' },
    { tool: 'everything.get-tiny-image', aliases: ['picture'] },
    { tool: 'everything.get-resource-links', aliases: ['links'] },
    { tool: 'everything.get-annotated-message', aliases: ['annotated'] },
    { tool: 'everything.get-structured-content', aliases: ['weather'] },
    { tool: 'everything.trigger-elicitation-request', aliases: ['ask_user'] },
    { tool: 'everything.trigger-sampling-request', aliases: ['ask_model'] },
  ],
};

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'servers:127.0.0.1:*' });
let everything: EverythingServer;
let endpoint = '';

beforeAll(async () => {
  everything = await startEverything();
  const document = { kind: 'mcp', url: everything.url, trusted: true, sampling: true };
  const stored = await service.call('PUT', '/v1/servers/everything', document);
  // One of the tools reads from the internet by default, which is no reason to hold it.
  expect(stored.json).toMatchObject({ health: { status: 'ok' }, held: 0 });
  expect((await service.call('PUT', '/v1/toolsets/real', toolset)).json).toMatchObject({ warnings: [] });
  endpoint = `${service.url}/mcp/real`;
});
afterAll(() => everything.stop());

describe.each(Object.keys(clientEras) as ClientEra[])("the SDK's client, %s", (era) => {
  let client: Client;
  const questions: string[] = [];
  beforeAll(async () => {
    client = await connectClient(endpoint, service.key, era, { elicitation: { form: {} }, sampling: {} }, (made) => {
      made.setRequestHandler('elicitation/create', ({ params }) => {
        questions.push(params.message);
        return { action: 'accept', content: { name: 'Ada', check: true, email: 'ada@example.com' } };
      });
      made.setRequestHandler('sampling/createMessage', () => ({
        role: 'assistant',
        model: 'test-model',
        content: { type: 'text', text: 'said by the model of the client' },
      }));
    });
  });
  afterAll(() => client.close());

  it('negotiates its era', () => {
    expect(client.getProtocolEra()).toBe(era === 'legacy' ? 'legacy' : 'modern');
  });

  it("lists the names of the toolset with the tools' own annotations", async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'repeat_after_me',
      'add',
      'long_job',
      'picture',
      'links',
      'annotated',
      'weather',
      'ask_user',
      'ask_model',
    ]);
    const [echo] = tools;
    expect(echo).toMatchObject({
      description: expect.stringContaining('say'),
      annotations: { readOnlyHint: true },
      _meta: { canonical: 'everything.echo', aliases: ['say'] },
    });
    expect(tools.find(({ name }) => name === 'weather')?.outputSchema).toMatchObject({
      required: ['temperature', 'conditions', 'humidity'],
    });
  });

  it.each(['repeat_after_me', 'say', 'everything.echo', 'echo', 'repeatAfterMe'])('calls a tool as %s', async (name) => {
    const result = await client.callTool({ name, arguments: { message: 'hallo' } });
    expect([result.isError ?? false, textOf(result)]).toEqual([false, 'Echo: hallo']);
  });

  it('receives an error for invalid arguments, and the server is not called', async () => {
    const result = await client.callTool({ name: 'add', arguments: { a: 'two', b: 3 } });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain('a: expected a number');
  });

  it('receives progress notifications', async () => {
    const seen: number[] = [];
    const result = await client.callTool(
      { name: 'long_job', arguments: { duration: 0.4, steps: 4 } },
      { onprogress: ({ progress }) => seen.push(progress) },
    );
    expect(textOf(result)).toContain('Long running operation completed');
    expect(seen.length).toBeGreaterThan(0);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  });

  it('receives images, links, annotations and structured content unchanged', async () => {
    const image = await client.callTool({ name: 'picture' });
    expect(image.content).toContainEqual(expect.objectContaining({ type: 'image', mimeType: 'image/png' }));
    const links = await client.callTool({ name: 'links', arguments: { count: 2 } });
    expect(links.content.filter(({ type }) => type === 'resource_link')).toHaveLength(2);
    const annotated = await client.callTool({ name: 'annotated', arguments: { messageType: 'error' } });
    expect(annotated.content[0]).toMatchObject({ annotations: { priority: 1, audience: ['user', 'assistant'] } });
    const weather = await client.callTool({ name: 'weather', arguments: { location: 'Chicago' } });
    expect(weather.structuredContent).toEqual({ temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 });
  });

  // The server is of 2025 and sends its request during the call.
  it('receives elicitation and sampling requests of the server', async () => {
    const person = await client.callTool({ name: 'ask_user' });
    expect(textOf(person)).toContain('Name: Ada');
    // The message starts with the server's name.
    expect(questions).toEqual([expect.stringMatching(/^.*everything.*Please provide inputs/s)]);
    const model = await client.callTool({ name: 'ask_model', arguments: { prompt: 'hello' } });
    expect(textOf(model)).toContain('said by the model of the client');
  });

  it('reads resources and prompts of the server', async () => {
    const { resources } = await client.listResources();
    const document = resources.find(({ uri }) => uri.endsWith('features.md'));
    const { contents } = await client.readResource({ uri: document?.uri ?? '' });
    expect(contents[0]).toMatchObject({ mimeType: 'text/markdown', text: expect.stringContaining('#') });
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.length).toBe(2);
    const dynamic = resourceTemplates.find(({ uriTemplate }) => uriTemplate.includes('text'))?.uriTemplate ?? '';
    const text = await client.readResource({ uri: dynamic.replace('{resourceId}', '7') });
    expect(text.contents[0]).toMatchObject({ text: expect.stringContaining('7') });

    const { prompts } = await client.listPrompts();
    const prompt = prompts.find(({ name }) => name.endsWith('args-prompt'))?.name ?? '';
    const got = await client.getPrompt({ name: prompt, arguments: { city: 'Lisbon' } });
    expect(got.messages[0]?.content).toMatchObject({ text: expect.stringContaining('Lisbon') });
    const completed = await client.complete({
      ref: { type: 'ref/prompt', name: prompts.find(({ name }) => name.endsWith('completable-prompt'))?.name ?? '' },
      argument: { name: 'name', value: 'A' },
      context: { arguments: { department: 'Engineering' } },
    });
    expect(completed.completion.values).toEqual(['Alice']);
  });

  it('cannot call tools that the toolset does not list', async () => {
    const called = client.callTool({ name: 'everything.get-env' });
    const outcome = await called.then(
      (result) => ({ refused: result.isError === true, text: textOf(result) }),
      (error: unknown) => ({ refused: true, text: String(error) }),
    );
    expect(outcome.refused).toBe(true);
    expect(outcome.text).not.toContain('PATH');
  });
});

describe.each(['legacy', 'modern'])("the MCP Inspector's command line, %s", (era) => {
  const run = (...args: string[]) => runInspector(endpoint, service.key, ['--protocol-era', era, ...args]);

  it('lists the tools', async () => {
    const { code, json, stderr } = await run('--method', 'tools/list');
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.stringify(json)).toContain('"repeat_after_me"');
  });

  // The client can call only the names that it has listed.
  it.each([
    ['add', ['a=2', 'b=3'], 'The sum of 2 and 3 is 5.'],
    ['repeat_after_me', ['message=hallo'], 'Echo: hallo'],
  ])('calls a tool by its alias %s', async (alias, args, said) => {
    const { code, json, stderr } = await run('--method', 'tools/call', '--tool-name', alias, '--tool-arg', ...args);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.stringify(json)).toContain(said);
  });
});
