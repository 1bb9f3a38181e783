/** A workspace with documents of every kind is exported, emptied, imported and exported again. */
import { describe, expect, it } from 'vitest';
import { expandVariables, placeholder } from '../../src/core/project/expand-variables.ts';
import { readYaml } from '../../src/formats/read-yaml.ts';
import { projectKinds } from '../../src/ports/projects.ts';
import { projectSections } from '../../src/core/project/project-sections.ts';
import { send } from '../objects/catalog/real-service.ts';
import { bodyOf } from './harness.ts';

const signing = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const literal = placeholder('HOME');
const project = {
  secrets: {
    'a.TOKEN': { value: 'Bearer abcdef', hosts: ['tools.example.com'], tools: ['weather.forecast'] },
    a_TOKEN: { value: 'another', hosts: ['api.anthropic.com'] },
  },
  providers: {
    near: {
      kind: 'openai-compatible',
      baseUrl: 'http://127.0.0.1:9/v1',
      apiKey: 'sk-near',
      models: ['m'],
      prices: { m: { input: 1, output: 2 } },
    },
    far: { kind: 'anthropic', apiKeySecret: 'a_TOKEN' },
  },
  members: { ada: { email: 'ada@example.com', role: 'editor', toolsets: ['work'] } },
  modelAliases: { 'gpt-*': { model: 'near/m', description: 'For old clients.' } },
  servers: {
    weather: {
      kind: 'static',
      url: 'https://tools.example.com/call',
      headers: { authorization: { secret: 'a.TOKEN' }, 'x-literal': `$${literal}`, 'x-tools-pass': 'hunter2-of-tools' },
      trusted: true,
      tools: [
        {
          name: 'forecast',
          description: 'The weather.',
          inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
          annotations: { readOnlyHint: true },
        },
      ],
    },
    pets: {
      kind: 'openapi',
      baseUrl: 'https://pets.example.com',
      document: {
        openapi: '3.1.0',
        info: { title: 'P', version: '1' },
        paths: { '/pets': { get: { operationId: 'listPets', responses: { 200: { description: 'ok' } } } } },
      },
    },
    unreached: { kind: 'mcp', url: 'http://127.0.0.1:1/mcp?api_key=key-in-url' },
  },
  tools: {
    'made.rain': {
      description: 'Whether it rains.',
      parameters: [{ name: 'city', type: 'string' }],
      implementation: `return \`${literal}\` + (await tools.forecast(args));`,
      uses: ['weather.forecast'],
    },
    'ui.camera': { label: 'Camera', description: 'Takes a photo.', category: 'upload', triggers: ['photo'] },
  },
  toolAliases: { 'builtin.bash': { aliases: ['terminal', { name: 'old_shell', mode: 'hidden' }] } },
  toolsets: {
    work: {
      nameMap: { weather_now: 'forecast' },
      tools: [
        { tool: 'weather.*' },
        { tool: 'pets.listPets' },
        { tool: 'unreached.later' },
        { tool: 'made.rain' },
        { tool: 'builtin.bash' },
      ],
    },
  },
  skills: {
    notes: {
      content: '---\nname: notes\ndescription: Writes notes. Use for notes.\n---\nWrite them.\n',
      resources: { 'a/b.txt': 'text', 'c.bin': { base64: 'AP8A' } },
    },
  },
  agents: {
    helper: {
      model: 'gpt-4',
      toolset: 'work',
      skills: ['notes'],
      instructions: `Print ${literal}, and "yes": no, 007, {{x}}\n\ttabs`,
      limits: { maxSteps: 3 },
    },
  },
  suites: {
    calls: { select: { agent: 'helper', days: 7 }, rules: [{ calls: 'same' }, { answer: { 'json-equal': { a: literal } } }] },
    one: { description: 'One turn.', cases: [{ session: 's', turn: 'turn_1', rules: [{ maxCalls: 2 }] }, { request: 'r' }], rules: [] },
  },
  policy: { rules: [{ decision: 'deny', tool: 'builtin.delete_file' }], taint: 'ask' },
  webhooks: {
    triage: {
      agent: 'helper',
      scheme: 'github',
      secret: ['first secret', 'second secret'],
      input: 'Look: {{json payload}}',
      filter: 'event == "issues"',
    },
    orders: {
      agent: 'helper',
      scheme: 'standard',
      secret: signing,
      input: 'x',
      callbackUrl: 'https://cb.example.com/x',
      callbackSecret: signing,
    },
  },
  schedules: {
    morning: {
      agent: 'helper',
      cron: '0 7 * * *',
      input: 'Good morning.',
      callbackUrl: 'https://cb.example.com/x',
      callbackSecret: signing,
    },
  },
  subscriptions: { ends: { url: 'https://cb.example.com/y', secret: signing, events: ['turn.completed'] } },
  workspace: { settings: { retention: { auditDays: 30 }, nameMap: { weather_app: 'forecast' } } },
};
/** The values of the variables in the export. */
const environment = {
  a_TOKEN: 'Bearer abcdef',
  a_TOKEN_2: 'another',
  PROVIDER_NEAR_API_KEY: 'sk-near',
  SERVER_WEATHER_X_TOOLS_PASS: 'hunter2-of-tools',
  SERVER_UNREACHED_URL: 'key-in-url',
  WEBHOOK_TRIAGE_SECRET: 'first secret',
  WEBHOOK_TRIAGE_SECRET_2: 'second secret',
  WEBHOOK_ORDERS_SECRET: signing,
  WEBHOOK_ORDERS_CALLBACK_SECRET: signing,
  SCHEDULE_MORNING_CALLBACK_SECRET: signing,
  SUBSCRIPTION_ENDS_SECRET: signing,
};
const secretValues = ['hunter2-of-tools', 'key-in-url', 'abcdef', 'another', 'sk-near', 'first secret', 'second secret', signing];

describe('an export', () => {
  it('has no secret, and is equal after it was imported into an empty workspace', async () => {
    const applied = await bodyOf(await send('PUT', '/v1/projects/all', project));
    expect(applied).toMatchObject({ skipped: [], waiting: [] });
    const exported = await bodyOf(await send('GET', '/v1/export'));
    expect(new Set(Object.keys(exported))).toEqual(new Set(projectKinds.map((kind) => projectSections[kind])));
    for (const value of secretValues) expect(JSON.stringify(exported)).not.toContain(value);
    expect(exported.agents.helper.instructions).toBe(project.agents.helper.instructions);
    expect(exported.servers.weather.headers['x-literal']).toBe(`$${literal}`);

    const text = await (await send('GET', '/v1/export?format=yaml')).text();
    expect(readYaml(text, { maxDepth: 64, maxSeparators: 10_000, maxAliased: 0 })).toEqual(exported);

    const { removed, kept } = await bodyOf(await send('DELETE', '/v1/projects/all?documents=true'));
    expect(kept).toEqual([]);
    expect(await bodyOf(await send('GET', '/v1/export'))).toEqual({});
    const expanded = expandVariables(exported, environment);
    expect(expanded.issues).toEqual([]);
    const imported = await bodyOf(await send('POST', '/v1/import', expanded.project));
    expect(imported).toMatchObject({ skipped: [] });
    expect(imported.created.toSorted()).toEqual(removed.toSorted());
    expect(await bodyOf(await send('GET', '/v1/export'))).toEqual(exported);
    expect((await bodyOf(await send('POST', '/v1/import', expanded.project))).updated).toEqual([]);
  });

  it('can be imported without the secrets: what needs one is skipped', async () => {
    const exported = await bodyOf(await send('GET', '/v1/export'));
    await send('PUT', '/v1/projects/all?force=true', exported);
    const { updated, unchanged } = await bodyOf(await send('POST', '/v1/import', exported));
    expect(updated).toEqual([]);
    expect(unchanged.length).toBeGreaterThan(15);
    for (const name of ['webhooks/triage', 'secrets/a.TOKEN']) await send('DELETE', `/v1/${name}`);
    const again = await bodyOf(await send('POST', '/v1/import', exported));
    expect(again.skipped.map(({ name }: { name: string }) => name)).toEqual(['secrets.a.TOKEN', 'webhooks.triage']);
  });
});
