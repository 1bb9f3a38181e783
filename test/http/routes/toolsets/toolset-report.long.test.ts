import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AliasMap, buildAliasMap } from '../../../../src/core/toolset/alias-map.ts';
import { sentTools } from '../../../../src/core/turn/offered-tools.ts';
import type { ProviderKind } from '../../../../src/core/names/provider-kind.ts';
import type { ToolDefinition } from '../../../../src/core/tools/tool.ts';
import { planNames, turnNames } from '../../../../src/engine/plan/plan-names.ts';
import {
  type ReportTarget,
  reportTools,
  type ToolReport,
  type ToolsetReport,
} from '../../../../src/http/routes/toolsets/toolset-report.ts';
import { exampleAccess } from '../../../../src/providers/wire-tool-names.ts';
import { describeCorpus, readJson } from '../../../fixtures.ts';
import { compile, knownTools, toolOf } from '../../../fakes/known-tools.ts';

const to = (kind: ProviderKind): ReportTarget => ({ provider: kind, access: exampleAccess(kind), model: '' });
const text: ReportTarget = { provider: 'text', access: null, model: '' };

async function namesOf(document: { tools: object[] }, tools: readonly ToolDefinition[], down: string[] = []): Promise<AliasMap> {
  return buildAliasMap((await compile(document, knownTools(tools, down))).edition, { aliases: true });
}
const many = (count: number, more: Partial<ToolDefinition> = {}): ToolDefinition[] =>
  Array.from({ length: count }, (_, index) => toolOf('s', `tool_${index}`, more));
const entriesOf = (tools: readonly ToolDefinition[]): { tool: string }[] => tools.map(({ canonical }) => ({ tool: canonical }));
const messages = ({ warnings }: ToolsetReport): string[] => warnings.map(({ path, message }) => `${path}: ${message}`);
const rowOf = ({ tools }: ToolsetReport, wireName: string): ToolReport => {
  const row = tools.find((tool) => tool.wireName === wireName);
  if (row === undefined) throw new Error(`No row of ${wireName}`);
  return row;
};

describe('a toolset as a provider receives it', () => {
  it('is computed once per provider, model and profile', async () => {
    const names = await namesOf({ tools: entriesOf(many(3)) }, many(3));
    const report = reportTools(names, to('openai'));
    expect(reportTools(names, to('openai'))).toBe(report);
    const others = [to('anthropic'), { ...to('openai'), model: 'gpt-4' }, text];
    for (const other of others) expect(reportTools(names, other)).not.toBe(report);
    const changed = { ...exampleAccess('openai'), profile: { maxTools: 1 } };
    expect(reportTools(names, { ...to('openai'), access: changed }).tools[1]?.left).toContain('accepts 1 tools');
  });

  it('shows held and missing tools with their details, and sends neither', async () => {
    const source = { trusted: false, pin: 'a'.repeat(64) };
    const held = { reason: 'changed' as const, refId: 'b'.repeat(64), changes: [{ path: '/description', from: 'a', to: 'b' }] };
    const tools = [
      toolOf('s', 'fine'),
      toolOf('s', 'held', { source: { ...source, state: 'held', held } }),
      toolOf('s', 'gone', { source: { ...source, state: 'missing', renamedTo: 's.here' } }),
    ];
    const report = reportTools(await namesOf({ tools: entriesOf(tools) }, tools), to('openai'));
    expect(report.tools.map(({ wireName, state, definition, entry }) => [wireName, state, definition !== null, entry])).toEqual([
      ['fine', 'ready', true, 'tools[0]'],
      ['held', 'held', false, 'tools[1]'],
      ['gone', 'missing', false, 'tools[2]'],
    ]);
    expect(rowOf(report, 'held')).toMatchObject({ held, left: expect.stringContaining('held (changed)') });
    expect(rowOf(report, 'gone')).toMatchObject({ renamedTo: 's.here', left: expect.stringContaining('s.here') });
    expect(messages(report)).toEqual([
      expect.stringMatching(/^tools\[1\]\.tool: s\.held cannot be called: it is held/),
      expect.stringMatching(/^tools\[2\]\.tool: s\.gone cannot be called: its server does not list s\.gone; s\.here/),
    ]);
  });

  it('names where to find the reason for a missing tool of a server that never listed any', async () => {
    const report = reportTools(await namesOf({ tools: [{ tool: 'sleepy.deploy' }] }, [], ['sleepy']), to('openai'));
    expect(rowOf(report, 'deploy').left).toContain('GET /v1/servers/sleepy');
  });

  it('lists UI tools as never sent, without a warning', async () => {
    const ui = { label: 'Camera', description: 'Takes a picture.', category: 'media', triggers: ['photo'] };
    const tools = [toolOf('s', 'fine'), toolOf('ui', 'camera', { kind: 'ui', ui })];
    const report = reportTools(await namesOf({ tools: entriesOf(tools) }, tools), to('openai'));
    expect(rowOf(report, 'camera')).toMatchObject({ kind: 'ui', definition: null, tokens: 0, left: expect.stringContaining('users') });
    expect(report.warnings).toEqual([]);
  });

  it('names hidden arguments without their values', async () => {
    const inputSchema = { type: 'object', properties: { method: { type: 'string' }, id: { type: 'string' } }, required: ['method', 'id'] };
    const tools = [toolOf('s', 'get', { inputSchema })];
    const entry = { tool: 's.get', arguments: { preset: { method: 'read' } } };
    const row = rowOf(reportTools(await namesOf({ tools: [entry] }, tools), to('openai')), 'get');
    expect(row.hiddenArguments).toEqual(['method']);
    expect(JSON.stringify(row.definition)).not.toContain('method');
  });

  it('has a row for each definition of a tool', async () => {
    const entry = { tool: 's.tool_0', name: 'one', aliases: [{ name: 'two', mode: 'function' }] };
    const report = reportTools(await namesOf({ tools: [entry] }, many(1)), to('anthropic'));
    expect(report.tools.map(({ wireName, entry, definition }) => [wireName, entry, definition?.name])).toEqual([
      ['one', 'tools[0]', 'one'],
      ['two', 'tools[0]', 'two'],
    ]);
  });

  it('counts the prompt once with the text protocol', async () => {
    const report = reportTools(await namesOf({ tools: entriesOf(many(3)) }, many(3)), text);
    expect(report.prompt).toContain('tool_2');
    expect([report.tokens, report.promptTokens]).toEqual([Math.ceil((report.prompt ?? '').length / 4), report.tokens]);
  });

  it('summarizes schema changes for it, most frequent first', async () => {
    const inputSchema = (size: number) => ({
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: size }, (_, index) => [`p${index}`, { type: 'string', default: 'x' }])),
    });
    const tools = [toolOf('s', 'a', { inputSchema: inputSchema(2) }), toolOf('s', 'b', { inputSchema: inputSchema(3) })];
    const report = reportTools(await namesOf({ tools: entriesOf(tools) }, tools), to('gemini'));
    expect(messages(report)).toEqual([
      'tools: for gemini: `default` is not supported: moved to the description (5 times, in 2 tools, such as a)',
    ]);
  });
});

describe('a toolset with more tools than are sent at once', () => {
  const document = { tools: entriesOf(many(300)).map((entry, index) => (index === 7 ? { ...entry, alwaysOffered: true } : entry)) };

  it('shows find_tools, fetch_result and always offered tools; the rest as sent after it was found', async () => {
    const report = reportTools(await namesOf(document, many(300)), to('openai'));
    const first = report.tools.filter(({ onDemand }) => onDemand === undefined);
    expect(first.map(({ wireName, entry }) => [wireName, entry])).toEqual([
      ['tool_7', 'tools[7]'],
      ['find_tools', null],
      ['fetch_result', null],
    ]);
    const later = report.tools.filter(({ onDemand }) => onDemand === true);
    expect(later).toHaveLength(299);
    expect(later.every(({ definition, tokens, left }) => definition !== null && tokens > 0 && left === undefined)).toBe(true);
    expect(report.tokens).toBe(first.reduce((sum, { tokens }) => sum + tokens, report.promptTokens));
    expect(report.warnings).toEqual([]);
  });

  it('is shown as its turns send it, with or without find_tools in the table', async () => {
    const names = await namesOf(document, many(300));
    const view = planNames(names, { aliases: true, allow: null });
    const sent = sentTools(turnNames(names, { aliases: true, allow: null }) ?? names).map(({ name }) => name);
    for (const table of [names, view]) {
      const { tools } = reportTools(table, to('openai'));
      expect(tools.filter(({ onDemand }) => onDemand === undefined).map(({ wireName }) => wireName)).toEqual(sent);
      expect(tools.filter(({ entry }) => entry === null).map(({ wireName }) => wireName)).toEqual(['find_tools', 'fetch_result']);
    }
  });

  it('warns about their number if all are sent', async () => {
    const all = { ...document, onDemandAbove: 500 };
    const report = reportTools(await namesOf(all, many(300)), to('openai'));
    expect(report.tools.filter(({ definition }) => definition !== null)).toHaveLength(128);
    const told = messages(report);
    expect(told).toHaveLength(22);
    expect(told.slice(19)).toEqual([
      expect.stringContaining('the provider accepts 128 tools per request'),
      'tools: and 152 more tools that are not sent to openai',
      expect.stringContaining('300 definitions are offered from the start: OpenAI and Copilot accept 128'),
    ]);
    expect(messages(reportTools(await namesOf(all, many(300)), to('anthropic')))).toHaveLength(1);
  });

  it('is described in the prompt by the text protocol in the same way', async () => {
    const report = reportTools(await namesOf(document, many(300)), text);
    expect(report.prompt).toContain('tool_7');
    expect(report.prompt).not.toContain('tool_8"');
    expect(rowOf(report, 'tool_8')).toMatchObject({ onDemand: true, definition: { name: 'tool_8' } });
  });
});

describeCorpus('mcp-tools/index.json', (path) => {
  const index = readJson<{ servers: { server: string; file: string }[] }>(path);
  const tools = index.servers.flatMap(({ server, file }) =>
    readJson<(Partial<ToolDefinition> & { name: string })[]>(path.replace(basename(path), file)).map(({ name, ...rest }) =>
      toolOf(/^[a-z]/.test(server) ? server : `s-${server}`, name, rest),
    ),
  );
  /** Own names of different servers conflict, so each entry has a given name. */
  const batches = [tools.slice(0, 1_000), tools.slice(1_000)].map((batch, number) => ({
    count: batch.length,
    batch,
    document: {
      onDemandAbove: 1_000,
      tools: batch.map(({ canonical }, place) => ({ tool: canonical, name: `t${number}_${place}`, aliases: [] })),
    },
  }));

  it.each(batches)('$count real tools are reported for every provider, on demand or all at once', async ({ batch, document }) => {
    const all = await namesOf(document, batch);
    const onDemand = await namesOf({ tools: document.tools }, batch);
    for (const recipient of [...(['openai', 'openai-responses', 'anthropic', 'gemini', 'cohere'] as const).map(to), text]) {
      const report = reportTools(all, recipient);
      expect(report.tools).toHaveLength(batch.length);
      expect(report.tools.every(({ definition, left }) => (definition === null) === (left !== undefined))).toBe(true);
      const found = reportTools(onDemand, recipient);
      expect(found.tools).toHaveLength(batch.length + 2); // To find by, and to read on.
      expect(found.tools.filter(({ definition }) => definition === null).map(({ canonical, left }) => [canonical, left])).toEqual([]);
      expect(found.tokens).toBeLessThan(report.tokens);
      expect(JSON.stringify(report.warnings).length).toBeLessThan(60_000);
    }
  });
});
