/**
 * Calls over real tools, files, a fake network and fake servers, for the tests of the taint rule. Servers are untrusted (`wiki`;
 * `tracker`, with credentials) or trusted (`crm`, with credentials; `plain`, without).
 */
import { buildAliasMap } from '../../src/core/toolset/alias-map.ts';
import type { Edition, EditionTool } from '../../src/core/toolset/edition-tool.ts';
import { PolicyRule } from '../../src/core/policy/rule.ts';
import type { ServerAccess } from '../../src/core/servers/server.ts';
import { createTaintMarks, type TaintMarks } from '../../src/core/policy/taint.ts';
import { contentText, textResult, type ToolResult } from '../../src/core/tools/tool.ts';
import { callTool } from '../../src/engine/call/call-tool.ts';
import type { CallDeps, CallScope } from '../../src/engine/call/call-scope.ts';
import { createOutbound } from '../../src/net/outbound.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { ToolContext } from '../../src/ports/tool-executor.ts';
import { createMemoryFiles } from '../../src/storage/files/memory-files.ts';
import { createCodeExecutor } from '../../src/tools/executor.ts';
import { codeTools, toolDefinitions } from '../../src/tools/registry.ts';
import { compile, knownTools, toolOf } from '../fakes/known-tools.ts';
import { countedIds, keptLog } from '../fakes/runtime.ts';
import { callWith, type How } from './approve.ts';

const served = (server: string, name: string, annotations: object = {}, trusted = false) => {
  const accepted = Object.keys(annotations).length > 0 && !trusted;
  const source = { state: 'ready' as const, trusted, pin: `${server}.${name}`, ...(accepted && { annotationsAccepted: true as const }) };
  return toolOf(server, name, { kind: 'mcp', annotations, inputSchema: { type: 'object' }, source });
};
const readOnly = { readOnlyHint: true };
const known = knownTools([
  ...toolDefinitions(),
  served('wiki', 'search', readOnly),
  served('tracker', 'get_issue', readOnly),
  served('tracker', 'get_user', readOnly),
  served('tracker', 'create_issue'),
  served('crm', 'find', readOnly, true),
  served('crm', 'note', {}, true),
  served('plain', 'look', readOnly, true),
  toolOf('local', 'weather', { kind: 'local', inputSchema: { type: 'object' } }),
]);
const servers: Record<string, Partial<ServerAccess>> = {
  wiki: {},
  tracker: { headers: { authorization: { secret: 'TRACKER' } } },
  crm: { trusted: true, mcp: { oauth: { grant: 'authorization_code' } } },
  plain: { trusted: true, headers: { 'x-team': 'search' } },
};
/** `items`: requests to an API whose address and key are secrets of the workspace. */
const items = { tool: 'builtin.http_request', name: 'items', aliases: [], arguments: { preset: { url: { secret: 'ITEMS_URL' } } } };
const entries = (approval?: string) =>
  [...known.all()]
    .filter(
      ({ server, name }) => server !== 'builtin' || ['bash', 'read_file', 'write_file', 'http_request', 'list_directory'].includes(name),
    )
    .map(({ canonical, server, name }) => ({
      tool: canonical,
      name: server === 'builtin' ? name : `${server}_${name}`,
      aliases: [],
      ...(approval !== undefined && { approval }),
    }));
const document = (approval?: string) => ({ tools: [...entries(approval), items] });

const editions: Record<'policy' | 'never', Edition> = {
  policy: (await compile(document(), known)).edition,
  never: (await compile(document('never'), known)).edition,
};

export type TaintDoorOptions = {
  rules?: object[];
  marks?: TaintMarks;
  scope?: Partial<CallScope>;
  entry?: 'policy' | 'never';
  answer?: (tool: EditionTool, args: Record<string, unknown>, context: ToolContext) => Promise<ToolResult>;
};

/** Hosts of `.example` are known; `secret.txt` and `empty.txt` were stored by the caller, `own.txt` by the session. */
export function taintDoor({ rules = [], marks = createTaintMarks(), scope: given = {}, entry = 'policy', answer }: TaintDoorOptions = {}) {
  const files = createMemoryFiles(() => 0);
  const bytes = (text: string) => new TextEncoder().encode(text);
  files.write('/workspace/secret.txt', bytes('the plan'), { own: false });
  files.write('/workspace/empty.txt', bytes(''), { own: false });
  files.write('/workspace/own.txt', bytes('scribbles'), { own: true });
  const sent: string[] = [];
  const ids = countedIds();
  const outbound = createOutbound({ allowPrivateHosts: [], publicUrl: null }, async (request) => {
    sent.push(`${request.method} ${new URL(request.url).hostname}`);
    if (request.url.endsWith('/away')) return Response.redirect('https://other.example/', 302);
    return new Response('a page');
  });
  const code = createCodeExecutor(codeTools());
  const called: string[] = [];
  const deps: CallDeps = {
    clock: systemClock,
    log: keptLog(),
    executor: {
      isSafe: () => false,
      execute: async (tool, args, context) => {
        called.push(tool.canonical);
        if (answer !== undefined) return await answer(tool, args, context);
        return tool.kind === 'builtin' ? await code.execute(tool, args, context) : textResult(`${tool.canonical} says so`);
      },
    },
    server: async (name, tool) => ({
      ...{ name, kind: 'mcp', url: `https://${name}.example/mcp`, trusted: false, ready: [tool], held: [], annotated: [`${name}.${tool}`] },
      ...{ version: 1, connection: null, staleAt: null },
      ...servers[name],
    }),
    fetch: (request, signal, onHop) => outbound(request, { purpose: 'tool', signal, ...(onHop && { onHop }) }),
    secret: async (name) => (name === 'ITEMS_URL' ? 'https://api.example/items?key=k3y' : `value-of-${name}`),
    isBlockedUrl: (url) => new URL(url).hostname === '127.0.0.1',
  };
  const hosts = ['page.example', 'api.example', 'other.example'].map((host) => ({ decision: 'allow', kind: 'network', host }));
  const free = { decision: 'allow', kind: 'untrusted' };
  const names = buildAliasMap(editions[entry], { aliases: true });
  const scope: CallScope = {
    keyId: 'root',
    session: 's1',
    turn: 't1',
    names: () => names,
    edition: null,
    files,
    results: null,
    timeoutMs: 5_000,
    rules: [...hosts, free, ...rules].map((rule) => PolicyRule.parse(rule)),
    taint: marks,
    canWait: true,
    audit: () => undefined,
    ...given,
  };
  async function call(requested: string, args: Record<string, unknown> = {}, how: How = {}) {
    const request = { callId: ids.next('call'), requested, arguments: args };
    const outcome = await callWith(how, (more) => callTool(deps, scope, { ...request, ...more }, new AbortController().signal));
    if ('answer' in outcome) return { asked: null, ...outcome.answer.result, text: contentText(outcome.answer.result.content) };
    if (outcome.waitFor.kind !== 'approval') throw new Error('it waits for something else');
    return { asked: outcome.waitFor.ask, isError: false, code: undefined, text: '' };
  }
  return {
    files,
    sent,
    called,
    marks,
    call,
    readSecret: () => call('read_file', { path: 'secret.txt' }),
    readPage: () => call('http_request', { url: 'https://page.example/' }),
    post: (more: How = {}) => call('http_request', { url: 'https://api.example/', method: 'POST', body: 'the plan' }, more),
  };
}
