import { describe, expect, it } from 'vitest';
import type { ProviderAccess } from '../../src/core/model/provider.ts';
import type { Profile } from '../../src/core/model/provider-profile.ts';
import type { OfferedTool } from '../../src/ports/chat-model.ts';
import type { OutboundHttp } from '../../src/ports/outbound.ts';
import { plainProfile } from '../../src/providers/profiles.ts';
import { createChatModel, logSkippedTools } from '../../src/providers/chat-model.ts';
import { defineTools, offerTools } from '../../src/providers/tool-definitions.ts';
import { fakeClock, keptLog } from '../fakes/runtime.ts';

const tool = (name: string, inputSchema: OfferedTool['inputSchema'] = { type: 'object', properties: {} }): OfferedTool => ({
  name,
  description: `What ${name} does.`,
  inputSchema,
});
const profile = (flags: Partial<Profile>): Profile => ({ ...plainProfile, ...flags });
const names = (tools: readonly OfferedTool[]): string[] => tools.map(({ name }) => name);

describe('the tools of a request', () => {
  it('are the same list if nothing changes, and are cached', () => {
    const tools = [tool('a'), tool('b')];
    expect(defineTools(tools, plainProfile).tools).toBe(tools);
    const strict = profile({ maxTools: 1 });
    expect(defineTools(tools, strict)).toBe(defineTools(tools, strict));
    expect(defineTools(tools, profile({ maxTools: 2 })).left.size).toBe(0);
  });

  it('are skipped if their schemas are too large together, deterministically', () => {
    const fields = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`a${index}`, { $ref: '#' }]));
    const tools = Array.from({ length: 60 }, (_, index) => tool(`t${index}`, { type: 'object', properties: { ...fields } }));
    const { tools: sent, left } = defineTools(tools, profile({ schemas: 'gemini' }));
    expect(sent[0]?.name).toBe('t0');
    expect(left.get('t59')).toBe('the input schemas of the tools before it are too large together');
    expect(defineTools([...tools], profile({ schemas: 'gemini' })).left).toEqual(left);
  });

  it('have schemas that the provider accepts, with a report of changes', () => {
    const tools = [tool('plain'), tool('either', { anyOf: [{ type: 'object', properties: { a: { type: 'string' } } }, { type: 'null' }] })];
    const { tools: sent, changes } = defineTools(tools, profile({ schemas: 'anthropic' }));
    expect(sent[0]).toBe(tools[0]);
    expect(sent[1]?.inputSchema).toEqual({ type: 'object', properties: { a: { type: 'string' } } });
    expect([...changes.keys()]).toEqual(['either']);
    expect(tools[1]?.inputSchema).toHaveProperty('anyOf');
  });

  it('skip a tool with an impossible schema, and report it with the reason', () => {
    const odd = [tool('good'), tool('list', { type: 'array' }), tool('never', { not: {}, type: 'string' }), tool('fine')];
    const { tools, left } = defineTools(odd, plainProfile);
    expect(names(tools)).toEqual(['good', 'fine']);
    expect([...left]).toEqual([
      ['list', 'its input schema accepts a value of type array, but arguments are an object'],
      ['never', 'its input schema accepts a value of type string, but arguments are an object'],
    ]);
    // Schemas are untrusted, whatever their type says here.
    expect(defineTools([tool('none', 'schema' as never)], plainProfile).left.get('none')).toBe('its input schema is not a JSON Schema');
  });

  it('have descriptions and a number within the limits; the last ones are dropped', () => {
    const long = { ...tool('long'), description: `${'x'.repeat(62)}🐎${'y'.repeat(100)}` };
    const { tools, changes, left } = defineTools([long, tool('b'), tool('c')], profile({ maxToolDescription: 64, maxTools: 2 }));
    expect(tools[0]?.description).toBe(`${'x'.repeat(62)}…`);
    expect(changes.get('long')).toEqual([{ path: '', message: 'its description is truncated to 64 characters' }]);
    expect([names(tools), [...left]]).toEqual([['long', 'b'], [['c', 'the provider accepts 2 tools per request']]]);
  });

  it('that cannot be sent do not count', () => {
    const { tools } = defineTools([tool('list', { type: 'array' }), tool('a'), tool('b')], profile({ maxTools: 2 }));
    expect(names(tools)).toEqual(['a', 'b']);
  });
});

describe('the choice of a tool', () => {
  const tools = [tool('a'), tool('b'), tool('list', { type: 'array' })];
  const offer = (toolChoice: Parameters<typeof offerTools>[0]['toolChoice'], flags: Partial<Profile> = {}) => {
    const offered = offerTools({ tools, toolChoice }, profile(flags));
    return [names(offered.tools), offered.toolChoice];
  };

  it('is sent unchanged if the provider supports it', () => {
    for (const choice of ['auto', 'none', 'required', { tool: 'b' }] as const) expect(offer(choice)).toEqual([['a', 'b'], choice]);
  });

  it('of one tool sends that tool alone if only "any" is supported', () => {
    expect(offer({ tool: 'b' }, { toolChoice: 'required' })).toEqual([['b'], 'required']);
    expect(offer('required', { toolChoice: 'required' })).toEqual([['a', 'b'], 'required']);
    expect(offer('none', { toolChoice: 'required' })).toEqual([['a', 'b'], 'none']);
  });

  it('is dropped if it cannot be forced or expressed', () => {
    for (const choice of ['required', { tool: 'b' }] as const)
      for (const toolChoice of ['auto', 'absent'] as const) expect(offer(choice, { toolChoice })).toEqual([['a', 'b'], 'auto']);
  });

  it('of none is sent, or expressed by sending no tools', () => {
    for (const toolChoice of ['forced', 'required', 'auto'] as const) expect(offer('none', { toolChoice })).toEqual([['a', 'b'], 'none']);
    expect(offer('none', { toolChoice: 'absent' })).toEqual([[], 'auto']);
  });

  it('of a tool that cannot be sent forces no other one', () => {
    expect(offer({ tool: 'list' })).toEqual([['a', 'b'], 'auto']);
    expect(offer({ tool: 'unheard_of' }, { toolChoice: 'required' })).toEqual([['a', 'b'], 'auto']);
  });

  it('includes a tool beyond the maximum number', () => {
    expect(offer({ tool: 'b' }, { maxTools: 1 })).toEqual([['b'], { tool: 'b' }]);
    expect(offer({ tool: 'b' }, { maxTools: 1, toolChoice: 'required' })).toEqual([['b'], 'required']);
  });

  it('is dropped without tools', () => {
    expect(offerTools({ tools: [], toolChoice: 'required' }, plainProfile)).toEqual({ tools: [], toolChoice: 'auto' });
    expect(offerTools({ tools: [tool('list', { type: 'array' })], toolChoice: 'required' }, plainProfile)).toEqual({
      tools: [],
      toolChoice: 'auto',
    });
  });
});

describe('a tool that is not sent', () => {
  it('is logged once per list', () => {
    const log = keptLog();
    const request = { access, model: 'm', tools: [tool('good'), tool('list', { type: 'array' })] };
    for (let step = 0; step < 3; step += 1) logSkippedTools(log, request);
    expect(log.lines).toEqual([
      {
        level: 'info',
        message: 'tools were not sent',
        fields: {
          provider: 'vllm',
          model: 'm',
          tools: { list: 'its input schema accepts a value of type array, but arguments are an object' },
        },
      },
    ]);
    logSkippedTools(log, { ...request, tools: [tool('good')] });
    logSkippedTools(undefined, request);
    expect(log.lines).toHaveLength(1);
  });

  it('is logged by the model that is called, and the others are sent', async () => {
    const log = keptLog();
    let sent: string[] = [];
    const http: OutboundHttp = async (request) => {
      const body = (await request.json()) as { tools: { function: { name: string } }[] };
      sent = body.tools.map((each) => each.function.name);
      return Response.json({ choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }] });
    };
    const model = createChatModel({ http, rehearsal: http, clock: fakeClock(), log });
    const request = { access, model: 'm', messages: [], toolChoice: 'auto' as const, settings: {} };
    const stream = model.stream({ ...request, tools: [tool('good'), tool('list', { type: 'array' })] }, new AbortController().signal);
    for await (const _batch of stream) break;
    expect([sent, log.lines.map(({ message }) => message)]).toEqual([['good'], ['tools were not sent']]);
  });
});

const access: ProviderAccess = {
  name: 'vllm',
  kind: 'openai-compatible',
  baseUrl: 'http://vllm.example/v1',
  headers: {},
  models: [],
  profile: {},
};
