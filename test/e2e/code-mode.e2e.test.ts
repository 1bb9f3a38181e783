import { beforeAll, describe, expect, it } from 'vitest';
import { describeCorpus } from '../fixtures.ts';
import { rightAnswer, runCodeModeStory, type StoryResult } from './code-mode-story.ts';
import { shareService } from './shared-service.ts';
import { printStatistics } from '../statistics.ts';

describeCorpus('mcp-tools/github.json', (corpus) => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
  let results: StoryResult[] = [];
  beforeAll(async () => {
    results = await runCodeModeStory(service.call, corpus);
  });
  const way = (sent: StoryResult['sent'], mode: StoryResult['mode']): StoryResult => {
    const found = results.find((one) => one.sent === sent && one.mode === mode);
    if (found === undefined) throw new Error('no such result');
    return found;
  };

  describe.each(['on demand', 'all'] as const)('a question over 117 tools of GitHub, definitions sent: %s', (sent) => {
    it('returns the right answer in both modes, from the same calls', () => {
      for (const mode of ['plain', 'code'] as const) {
        const { text, asked, toolCalls } = way(sent, mode);
        expect(text).toBe(rightAnswer);
        expect(asked).toEqual(['list_issues', 'list_issues 50', 'issue_read get_comments']);
        expect(toolCalls.every(({ isError }) => !isError)).toBe(true);
      }
      expect(new Set(way(sent, 'code').toolCalls.map(({ canonical }) => canonical))).toEqual(new Set(['builtin.run_code']));
    });

    it('sends the model less than a third as much in code mode', () => {
      const [plain, inCode] = [way(sent, 'plain'), way(sent, 'code')];
      printStatistics(`  ${sent}: plain ${plain.tokens} tokens in ${plain.requests} requests, code ${inCode.tokens} in ${inCode.requests}`);
      expect(inCode.requests).toBeLessThan(plain.requests);
      expect(inCode.tokens).toBeLessThan(plain.tokens / 3);
    });
  });
});

describe('run_code in a turn', () => {
  const service = shareService();
  let session: string;
  beforeAll(async () => {
    const tools = ['write_file', 'read_file', 'delete_file', 'list_directory'].map((name) => ({ tool: `builtin.${name}` }));
    const named = [...tools.slice(1), { tool: 'builtin.write_file', name: 'save', aliases: ['store'] }];
    await service.call('PUT', '/v1/toolsets/files', { tools: named });
    await service.call('PUT', '/v1/toolsets/scripts', { tools: [...tools, { tool: 'builtin.run_code' }] });
    await service.call('PUT', '/v1/agents/coder', { model: 'rehearsal/default', toolset: 'files', codeMode: true });
    session = (await service.call('POST', '/v1/sessions', { agent: 'coder' })).json.id;
  });
  const turn = async (input: string) => (await service.call('POST', `/v1/sessions/${session}/turns`, { input })).json;
  const runCode = (code: string) => turn(`/run_code ${JSON.stringify({ code })}`);

  it('calls tools by any of their names, and writes an audit row for each call', async () => {
    const { toolCalls, status } = await runCode(
      'await tools.store({ path: "a.txt", content: "one" }); await tools.save({ path: "b.txt", content: "two" }); const a = await tools["builtin.read_file"]({ path: "a.txt" }); const b = await tools.ReadFile({ path: "b.txt" }); return [a.output, b.output];',
    );
    expect(status).toBe('completed');
    expect(toolCalls).toMatchObject([
      { canonical: 'builtin.run_code', isError: false, content: [{ type: 'text', text: '["one","two"]' }] },
    ]);
    const { items } = (await service.call('GET', `/v1/audit?session=${session}`)).json;
    const rows = items.map(({ requested, canonical, parent }: Record<string, unknown>) => [requested, canonical, parent]);
    expect(rows).toEqual(
      expect.arrayContaining([
        ['store', 'builtin.write_file', toolCalls[0].callId],
        ['ReadFile', 'builtin.read_file', toolCalls[0].callId],
        ['run_code', 'builtin.run_code', null],
      ]),
    );
  });

  it('returns an error for tools that cannot be called outside of code', async () => {
    const { toolCalls } = await turn('/read_file {"path": "a.txt"}');
    expect(toolCalls[0]).toMatchObject({ isError: true, code: 'unknown_tool', canonical: null });
    expect(toolCalls[0].content[0].text).toContain('Call it in code: run_code with code such as `return await tools.read_file({…})`');
  });

  it('waits for the approval of a nested call, then resumes', async () => {
    const asked = await runCode(
      'const made = await tools.save({ path: "c.txt", content: "three" }); const gone = await tools.delete_file({ path: "a.txt" }); return [made.success, gone.success];',
    );
    expect(asked).toMatchObject({
      status: 'waiting',
      pending: [{ kind: 'approval', canonical: 'builtin.delete_file', arguments: { path: 'a.txt' } }],
    });
    const { callId } = asked.pending[0];
    expect((await service.call('POST', `/v1/sessions/${session}/approvals/${callId}`, { decision: 'approve' })).status).toBe(200);
    const after = await turn('/run_code {"code": "return (await tools.list_directory({})).output"}');
    expect(after.toolCalls[0].content[0].text).toContain('c.txt');
    expect(after.toolCalls[0].content[0].text).not.toContain('a.txt');
    const { items } = (await service.call('GET', `/v1/sessions/${session}/messages`)).json;
    expect(JSON.stringify(items)).toContain('[true,true]');
  });

  it('finds tools with their declarations', async () => {
    const { toolCalls } = await runCode('return (await tools.find_tools({ query: "delete a file", limit: 1 })).output');
    expect(toolCalls[0].content[0].text).toMatch(
      /1 of 4 tools[\s\S]*\/\*\* Deletes .* \*\/\ndelete_file\(args: \{ .*path: string.* \}\): Result;/,
    );
  });

  describe('in a toolset', () => {
    const code = 'const { output } = await tools.list_directory({}); return { output };';

    it('runs over REST and over MCP, where a nested call that requires approval is rejected', async () => {
      const called = await service.call('POST', '/v1/toolsets/scripts/calls', { name: 'run_code', arguments: { code } });
      expect(called.json).toMatchObject({ isError: false, structuredContent: { output: expect.any(String) } });
      const request = {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: 'run_code',
          arguments: { code: 'const r = await tools.write_file({ path: "/etc/x", content: "x" }); return r.code' },
        },
      };
      const served = await service.call('POST', '/mcp/scripts', request, {
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-06-18',
      });
      expect(served.text).toContain('approval_required');
    });

    it('is listed among the other tools for a model, which calls them in code as well', async () => {
      const { id } = (await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'scripts' })).json;
      const { toolCalls } = (
        await service.call('POST', `/v1/sessions/${id}/turns`, {
          input: `/write_file {"path": "x", "content": "1"}\n\n/run_code ${JSON.stringify({ code })}`,
        })
      ).json;
      expect(toolCalls.map(({ canonical, isError }: Record<string, unknown>) => [canonical, isError])).toEqual([
        ['builtin.write_file', false],
        ['builtin.run_code', false],
      ]);
    });
  });
});
