/** A project with a document of each kind that an edge handler serves, and the answers of its upstreams. */
export const edgeProject = {
  secrets: {
    UP: { value: 'a-key-of-the-provider' },
    TOOLS: { value: 'a-key-of-the-server', hosts: ['tools.example.com'] },
    ARGUMENT: { value: 'a-secret-argument', hosts: ['tools.example.com'] },
  },
  providers: {
    up: { kind: 'openai-compatible', baseUrl: 'https://up.example.com/v1', apiKeySecret: 'UP', models: ['m'] },
    claude: { kind: 'anthropic', baseUrl: 'https://claude.example.com', apiKey: 'a-key-of-claude' },
    gem: { kind: 'gemini', baseUrl: 'https://gem.example.com/v1beta', apiKey: 'a-key-of-gemini' },
    answers: { kind: 'openai-responses', baseUrl: 'https://answers.example.com/v1', apiKey: 'a-key-of-answers' },
  },
  modelAliases: { fast: { model: 'up/m' }, smart: { model: 'claude/c' } },
  servers: {
    facts: {
      kind: 'static',
      url: 'https://tools.example.com/call',
      headers: { authorization: { secret: 'TOOLS' } },
      trusted: true,
      instructions: 'Cite the facts.',
      tools: [
        {
          name: 'look_up',
          description: 'Looks a fact up.',
          inputSchema: {
            type: 'object',
            properties: { topic: { type: 'string' }, depth: { type: 'integer', minimum: 1 }, token: { type: 'string' } },
            required: ['topic'],
          },
          annotations: { readOnlyHint: true },
          aliases: ['fact'],
        },
        { name: 'remove', description: 'Removes a fact.', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } },
      ],
    },
    shop: {
      kind: 'openapi',
      trusted: true,
      document: {
        openapi: '3.1.0',
        info: { title: 'Shop', version: '1' },
        servers: [{ url: 'https://tools.example.com' }],
        paths: {
          '/pets/{id}': {
            get: {
              operationId: 'getPet',
              summary: 'Reads a pet',
              parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
              responses: { 200: { description: 'ok' } },
            },
          },
          '/pets': { get: { operationId: 'listPets', summary: 'Lists pets', responses: { 200: { description: 'ok' } } } },
        },
      },
    },
  },
  tools: {
    'made.double': {
      description: 'Doubles a number.',
      parameters: [{ name: 'n', type: 'number' }],
      implementation: 'const sum = await tools.calculate({ expression: args.n + " * 2" });\nreturn { value: args.n * 2, sum };',
    },
    'ui.camera': { label: 'Camera', description: 'Takes a picture.', category: 'media', triggers: ['photo'] },
  },
  toolAliases: { 'local.current_time': { aliases: ['clock'] } },
  workspace: { settings: { nameMap: { search_facts: 'facts.look_up' } } },
  toolsets: {
    plain: { tools: [{ tool: 'facts.look_up' }, { tool: 'local.calculate' }, { tool: 'local.current_time' }] },
    named: {
      announce: 'description',
      tools: [
        { tool: 'facts.look_up', name: 'lookUp', aliases: ['find', { name: 'search', mode: 'function', note: 'the old name' }] },
        {
          tool: 'local.calculate',
          aliases: ['sum', 'compute'],
          description: 'Adds numbers up.',
          notes: [{ name: 'units', note: 'no units' }],
        },
      ],
    },
    preset: {
      tools: [
        {
          tool: 'facts.look_up',
          arguments: { preset: { depth: 2, token: { secret: 'ARGUMENT' } }, rename: { about: 'topic' } },
          result: { maxBytes: 400 },
        },
      ],
    },
    wide: {
      tools: [
        { tool: 'shop.*', except: ['listPets'] },
        { tool: 'facts.*' },
        { tool: 'made.double', aliases: ['twice'] },
        { tool: 'ui.camera' },
      ],
    },
    demand: {
      onDemandAbove: 1,
      tools: [{ tool: 'facts.look_up' }, { tool: 'local.calculate', alwaysOffered: true }, { tool: 'builtin.bash' }],
    },
  },
} as const;

/** Requests that name tools of these toolsets in every way: own names, aliases, other spellings, mistakes. */
export const edgeCalls: readonly { toolset: string; name: string; arguments: Record<string, unknown> }[] = [
  { toolset: 'plain', name: 'look_up', arguments: { topic: 'bees' } },
  { toolset: 'plain', name: 'facts.look_up', arguments: { topic: 'bees' } },
  { toolset: 'plain', name: 'search_facts', arguments: { topic: 'bees' } },
  { toolset: 'plain', name: 'look-up', arguments: { topic: 7 } },
  { toolset: 'plain', name: 'calculate', arguments: { expression: '6 * 7' } },
  { toolset: 'plain', name: 'calculat', arguments: { expression: '6 * 7' } },
  { toolset: 'named', name: 'lookUp', arguments: { topic: 'bees', depth: 1 } },
  { toolset: 'named', name: 'find', arguments: { topic: 'bees', depth: '1' } },
  { toolset: 'named', name: 'search', arguments: {} },
  { toolset: 'named', name: 'sum', arguments: { expression: '1 +' } },
  { toolset: 'preset', name: 'look_up', arguments: { about: 'bees' } },
  { toolset: 'preset', name: 'look_up', arguments: { topic: 'bees', token: 'mine' } },
  { toolset: 'wide', name: 'getPet', arguments: { id: 'a/b' } },
  { toolset: 'wide', name: 'listPets', arguments: {} },
  { toolset: 'wide', name: 'twice', arguments: { n: 21 } },
  { toolset: 'demand', name: 'bash', arguments: { command: 'printf "b\\na\\n" | sort' } },
  { toolset: 'missing', name: 'bash', arguments: {} },
];

/** Answers as the tools' endpoint and each provider's API would. */
export async function edgeUpstream(request: Request): Promise<Response> {
  const { host, pathname } = new URL(request.url);
  const text = await request.clone().text();
  switch (host) {
    case 'tools.example.com':
      return Response.json({ asked: pathname, sent: text, authorization: request.headers.get('authorization') });
    case 'claude.example.com':
      return Response.json({
        ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'c', content: [{ type: 'text', text: 'Hello.' }] },
        ...{ stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 3, output_tokens: 2 } },
      });
    case 'gem.example.com':
      return Response.json({
        candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
      });
    case 'answers.example.com':
      return Response.json({
        ...{
          id: 'resp_1',
          object: 'response',
          created_at: 1,
          status: 'completed',
          model: 'a',
          usage: { input_tokens: 3, output_tokens: 2 },
        },
        output: [
          { type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content: [{ type: 'output_text', text: 'Hello.' }] },
        ],
      });
    default:
      if (pathname.endsWith('/embeddings'))
        return Response.json({ object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5] }], model: 'm' });
      if (text.includes('"stream":true')) return new Response(streamed, { headers: { 'content-type': 'text/event-stream' } });
      return Response.json({
        ...{
          id: 'x',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
        },
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
      });
  }
}

const chunk = (choice: object) =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, ...choice }] })}\n\n`;
const streamed = [
  chunk({ delta: { role: 'assistant', content: 'Hel' }, finish_reason: null }),
  chunk({ delta: { content: 'lo.' }, finish_reason: null }),
  chunk({ delta: {}, finish_reason: 'stop' }),
  'data: [DONE]\n\n',
].join('');
