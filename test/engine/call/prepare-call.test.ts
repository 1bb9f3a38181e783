/** What a toolset entry does to a call, from the called name to the result, through `callTool`. */
import { beforeAll, describe, expect, it } from 'vitest';
import { buildAliasMap } from '../../../src/core/toolset/alias-map.ts';
import type { AuditRow } from '../../../src/core/records/audit.ts';
import type { Edition } from '../../../src/core/toolset/edition-tool.ts';
import { canonicalJson, sha256Hex } from '../../../src/core/hash.ts';
import { PolicyRule } from '../../../src/core/policy/rule.ts';
import { Problem } from '../../../src/core/problem.ts';
import type { ServerAccess } from '../../../src/core/servers/server.ts';
import { contentText, textResult, type ContentBlock, type ToolResult } from '../../../src/core/tools/tool.ts';
import { callTool } from '../../../src/engine/call/call-tool.ts';
import { dryRunCall } from '../../../src/engine/call/direct-call.ts';
import type { CallDeps, CallScope } from '../../../src/engine/call/call-scope.ts';
import type { Directory } from '../../../src/ports/directory.ts';
import type { ToolContext } from '../../../src/ports/tool-executor.ts';
import { createMemoryFiles } from '../../../src/storage/files/memory-files.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';
import { fakeClock, keptLog } from '../../fakes/runtime.ts';
import { callWith, type How } from '../approve.ts';

const inputSchema = {
  type: 'object',
  properties: {
    method: { type: 'string', enum: ['get_workflow', 'get_job'] },
    resource_id: { type: 'string', minLength: 1 },
    per_page: { type: 'integer' },
    team: { type: 'string', enum: ['payments', 'search'] },
    token: { type: 'string' },
  },
  required: ['method', 'resource_id'],
  additionalProperties: false,
};
const source = { state: 'ready', trusted: true, pin: '' } as const;
const known = knownTools([
  toolOf('github', 'actions_get', { kind: 'static', inputSchema, source }),
  toolOf('github', 'create', { kind: 'static', source: { ...source, trusted: false } }),
  toolOf('builtin', 'bash', { kind: 'builtin' }),
]);
const document = {
  tools: [
    {
      tool: 'github.actions_get',
      name: 'get_workflow',
      aliases: [
        'gh_workflow',
        { name: 'workflow_get', mode: 'deprecated', note: 'use get_workflow' },
        { name: 'old_get', mode: 'deprecated' },
      ],
      arguments: {
        preset: { method: 'get_workflow', token: { secret: 'GH' }, team: { caller: 'team' } },
        rename: { id: 'resource_id' },
        default: { per_page: 20 },
      },
    },
    {
      tool: 'github.actions_get',
      name: 'get_job',
      aliases: [],
      arguments: { preset: { method: 'get_job' } },
      result: { pick: ['/name', '/nothing'] },
    },
    { tool: 'github.actions_get', name: 'brief', aliases: [], result: { maxBytes: 256 } },
    { tool: 'github.create', aliases: [] },
    { tool: 'github.create', name: 'create_asked', aliases: [], approval: 'always', arguments: { preset: { token: { secret: 'GH' } } } },
    { tool: 'github.create', name: 'create_freely', aliases: [], approval: 'never', arguments: { preset: { any: { secret: 'GH' } } } },
  ],
};
const own = { resource_id: '7', per_page: 20, method: 'get_workflow', token: { secret: 'GH' }, team: 'payments' };
const access: ServerAccess = {
  ...{ name: 'github', kind: 'static', url: 'https://tools.example/call', trusted: true },
  ...{ ready: ['actions_get', 'create'], held: [], version: 1, connection: null, staleAt: null },
};

let edition: Edition;
beforeAll(async () => {
  ({ edition } = await compile(document, known));
});

type Options = {
  answer?: (args: Record<string, unknown>, context: ToolContext) => ToolResult | Promise<ToolResult>;
  server?: CallDeps['server'];
  secret?: CallDeps['secret'];
  scope?: Partial<CallScope>;
};

function door({
  answer = () => textResult('done'),
  server = async () => access,
  secret = async () => 's3cr3t-value',
  scope = {},
}: Options = {}) {
  const ran: Record<string, unknown>[] = [];
  const kept = new Map<string, readonly ContentBlock[]>();
  const audit: Omit<AuditRow, 'sequence'>[] = [];
  const log = keptLog();
  const names = buildAliasMap(edition, { aliases: true });
  const deps: CallDeps = {
    clock: fakeClock(),
    log,
    executor: {
      host: async () => 'tools.example:443',
      isSafe: () => false,
      execute: async (_tool, args, context) => {
        ran.push(args);
        return await answer(args, context);
      },
    },
    server,
    fetch: () => Promise.reject(new Error('no network here')),
    secret,
  };
  const callScope: CallScope = {
    ...{ keyId: 'k1', caller: { team: 'payments', key: 'k1', workspace: 'default' }, session: 's1', turn: null, names: () => names },
    ...{ edition: null, files: createMemoryFiles(() => 0), timeoutMs: 30_000, rules: [], canWait: true },
    results: {
      hasAny: () => kept.size > 0,
      has: (id) => kept.has(id),
      store: (id, content) => void kept.set(id, content),
      read: () => null,
    },
    audit: (row) => void audit.push(row),
    ...scope,
  };
  const call = async (requested: string, args: Record<string, unknown>, how: How = {}) => {
    const request = { callId: 'call_1', requested, arguments: args };
    const outcome = await callWith(how, (more) => callTool(deps, callScope, { ...request, ...more }, new AbortController().signal));
    if ('waitFor' in outcome) return { waitFor: outcome.waitFor };
    const { result } = outcome.answer;
    return { result, ran: outcome.answer.ran, text: contentText(result.content) };
  };
  return { deps, ran, kept, audit, log, call };
}

describe('a call with repaired arguments', () => {
  const refused = { ran: false, result: { code: 'invalid_json' } };

  it('runs a tool of a server if its effect needs no approval', async () => {
    const { call, ran } = door();
    expect(await call('get_workflow', { id: '7' }, { guessed: true })).toMatchObject({ ran: true, text: 'done' });
    expect(ran).toHaveLength(1);
  });

  it('is refused instead of asking for approval', async () => {
    const { call, ran } = door({ server: async () => ({ ...access, trusted: false }) });
    expect(await call('create', { title: 'x' })).toMatchObject({ waitFor: { kind: 'approval' } });
    expect(await call('create', { title: 'x' }, { guessed: true })).toMatchObject(refused);
    expect(await call('create_asked', { title: 'x' }, { guessed: true })).toMatchObject(refused);
    expect(ran).toEqual([]);
  });

  it('does not run a destructive tool of a server, nor with a number that was rounded', async () => {
    const tools = edition.tools.map((tool) => ({ ...tool, annotations: { destructiveHint: true } }));
    const destructive = door({ scope: { names: () => buildAliasMap({ ...edition, tools }, { aliases: true }) } });
    expect(await destructive.call('get_workflow', { id: '7' }, { guessed: true })).toMatchObject(refused);
    const { call, ran } = door();
    expect(await call('create_freely', { of: [{ id: 1e18 }] }, { guessed: true })).toMatchObject(refused);
    expect([...destructive.ran, ...ran]).toEqual([]);
  });
});

describe('a call whose arguments do not fit the schema and can be repaired', () => {
  const repaired = [{ path: 'per_page', from: '"5"', to: '5' }];

  it('runs with the repaired arguments, under the names that the call used, and says so in its result', async () => {
    const { call, ran, audit } = door();
    const { result, text } = await call('get_workflow', { id: '7', per_page: '5' });
    expect(ran).toEqual([{ ...own, per_page: 5, token: 's3cr3t-value' }]);
    expect(result).toMatchObject({ isError: false, repaired });
    expect(text).toBe('done');
    expect(audit[0]?.argumentsHash).toBe(await sha256Hex(canonicalJson({ ...own, per_page: 5 })));
  });

  it('fills in a default where an optional argument was null', async () => {
    const { call, ran } = door();
    const { result } = await call('get_workflow', { id: '7', per_page: null });
    expect(ran).toEqual([{ ...own, token: 's3cr3t-value' }]);
    expect(result?.repaired).toEqual([{ path: 'per_page', from: 'null', to: 'nothing' }]);
  });

  it('shows the repaired arguments where it waits for approval', async () => {
    const { call } = door({ server: async () => ({ ...access, trusted: false }) });
    const { waitFor } = await call('get_workflow', { id: '7', per_page: '5' });
    expect(waitFor).toMatchObject({ kind: 'approval', arguments: { per_page: 5 } });
  });

  it('is refused for a tool of the client, which runs it with the arguments of the model', async () => {
    const tools = edition.tools.map((tool) => ({ ...tool, kind: 'client' as const }));
    const { call } = door({ scope: { names: () => buildAliasMap({ ...edition, tools }, { aliases: true }) } });
    const { result } = await call('get_workflow', { id: '7', per_page: '5' });
    expect(result).toMatchObject({ code: 'invalid_arguments', issues: [{ path: 'per_page' }] });
  });

  it('names no repairs when nothing was repaired, or when the call is refused for its other arguments', async () => {
    const { call, ran } = door();
    expect((await call('get_workflow', { id: '7', per_page: 5 })).result).not.toHaveProperty('repaired');
    const { result } = await call('get_workflow', { per_page: '5' });
    expect(result).toMatchObject({ code: 'invalid_arguments', issues: [{ path: 'id' }] });
    expect(result).not.toHaveProperty('repaired');
    expect(ran).toHaveLength(1);
  });
});

describe('a call in an old shape on a merged tool', () => {
  it('sends the tool its own arguments, with the secret in place', async () => {
    const { call, ran } = door();
    expect(await call('get_workflow', { id: '7' })).toMatchObject({ ran: true, text: 'done' });
    expect(ran).toEqual([{ ...own, token: 's3cr3t-value' }]);
  });

  it('cannot override presets: such arguments are dropped and named in the result', async () => {
    const { call, ran } = door();
    const { text } = await call('gh_workflow', { id: '7', method: 'get_job', team: 'search' });
    expect(ran[0]).toMatchObject({ method: 'get_workflow', team: 'payments' });
    expect(text).toBe('done\n[Ignored: "method", "team". The toolset sets these arguments, not the call.]');
  });

  it('is validated against the schema that was shown', async () => {
    const { call, ran } = door();
    expect(await call('get_workflow', {})).toMatchObject({ ran: false, result: { code: 'invalid_arguments', issues: [{ path: 'id' }] } });
    expect((await call('get_workflow', { id: '7', other: 1 })).result?.issues).toMatchObject([{ path: 'other' }]);
    expect((await call('get_workflow', { id: '7', method: 'x', other: 1 })).text).toContain('[Ignored: "method".');
    expect(ran).toEqual([]);
  });

  it('says that the toolset has to be fixed when its own values are not valid', async () => {
    const { call } = door({ scope: { caller: { team: 'nobody' } } });
    const { result, text } = await call('get_workflow', { id: '7' });
    expect(result).toMatchObject({ code: 'invalid_arguments', issues: [{ path: 'team' }] });
    expect(text).toContain(
      'the values that the toolset sets for get_workflow (github.actions_get) are not valid for the tool. No call can fix this',
    );
  });

  it('does not show the model the invalid preset values', async () => {
    const team = {
      ...edition,
      tools: edition.tools.map((tool) => ({ ...tool, sourceSchema: { properties: { team: { enum: ['red'] } } } })),
    };
    const { call, ran } = door({ scope: { names: () => buildAliasMap(team, { aliases: true }) } });
    const { result, text } = await call('get_workflow', { id: '7' });
    expect(result?.issues).toEqual([{ path: 'team', message: 'its value is not valid for the tool' }]);
    expect(JSON.stringify([result, text])).not.toContain('payments');
    expect(ran).toEqual([]);
  });

  it('requires the key fields that the preset uses', async () => {
    const { call, ran } = door({ scope: { caller: { key: 'k1' } } });
    const { result, text } = await call('get_workflow', { id: '7' });
    expect(result?.code).toBe('not_allowed');
    expect(text).toContain(
      'the field "team" of the calling key, and this key does not have it. Create a key with this field: {"caller": {"team": …}}',
    );
    expect(ran).toEqual([]);
  });

  it('is hashed in the audit as sent, before secrets', async () => {
    const { call, audit } = door();
    await call('get_workflow', { id: '7' });
    expect(audit[0]?.argumentsHash).toBe(await sha256Hex(canonicalJson(own)));
  });
});

describe('a secret among the presets', () => {
  it('is read with the tool and the host it is sent to', async () => {
    const asked: unknown[] = [];
    const secret = async (...use: string[]): Promise<string> => {
      asked.push(use);
      return 'value-of-it';
    };
    const { call } = door({ secret });
    await call('get_workflow', { id: '7' });
    expect(asked).toEqual([['GH', 'github.actions_get', 'tools.example:443']]);
  });

  it('is in no result, error, log or audit row, in any encoding the tool returns', async () => {
    const secret = 's3cr3t "value" €';
    const answer = (args: Record<string, unknown>, context: ToolContext): ToolResult => {
      context.log.info(`got ${String(args.token)}`, { args });
      return {
        isError: false,
        content: [
          { type: 'text', text: `${String(args.token)} ${encodeURIComponent(String(args.token))}` },
          { type: 'resource_link', uri: `https://x.example/?t=${encodeURIComponent(String(args.token))}`, name: String(args.token) },
        ],
        structuredContent: { [String(args.token)]: [args.token, 1, null] },
      };
    };
    const told = door({ answer, secret: async () => secret });
    const failing = door({ answer: (args) => Promise.reject(new Error(`cannot use ${String(args.token)}`)), secret: async () => secret });
    const shown = [await told.call('get_workflow', { id: '7' }), await failing.call('get_workflow', { id: '7' })];
    expect(shown[0]?.result?.structuredContent).toEqual({ '[secret]': ['[secret]', 1, null] });
    expect(shown[1]?.text).toContain('cannot use [secret]');
    const everything = JSON.stringify([shown, told.audit, failing.audit, told.log, failing.log]);
    expect(everything).not.toMatch(/s3cr3t/);
    expect(everything).toContain('got [secret]');
  });

  it('that looks like a number does not damage results', async () => {
    const { call } = door({ secret: async () => '1234', answer: () => ({ ...textResult('ok'), structuredContent: { n: 12345, m: 5 } }) });
    expect((await call('get_workflow', { id: '7' })).result?.structuredContent).toEqual({ n: '[secret]5', m: 5 });
  });

  it('that cannot be read stops the call before it starts, and is named', async () => {
    const refused = () => Promise.reject(new Problem('not_found', 'There is no secret "GH".'));
    const { call, ran } = door({ secret: refused });
    expect(await call('get_workflow', { id: '7' })).toMatchObject({ ran: false, result: { code: 'tool_error' } });
    expect((await call('get_workflow', { id: '7' })).text).toContain('There is no secret "GH".');
    expect(ran).toEqual([]);
  });

  it('cannot be named by a model', async () => {
    const { call, ran } = door();
    await call('create_freely', { config: { secret: 'GH' }, any: { secret: 'OTHER' } });
    expect(ran).toEqual([{ config: { secret: 'GH' }, any: 's3cr3t-value' }]);
  });
});

describe('a call that requires approval', () => {
  it('shows the arguments that would be sent, with secrets as names', async () => {
    const { call, ran } = door();
    expect(await call('create_asked', { n: 1 })).toMatchObject({
      waitFor: { ask: { kind: 'always' }, arguments: { n: 1, token: { secret: 'GH' } } },
    });
    expect(await call('create', { n: 1 })).toMatchObject({ waitFor: { ask: { kind: 'untrusted', target: 'github.create' } } });
    expect(ran).toEqual([]);
    expect(await call('create', { n: 1 }, { approved: true })).toMatchObject({ ran: true });
    expect(await call('create_freely', {})).toMatchObject({ ran: true });
  });

  it('needs no further approval once a rule was remembered', async () => {
    const rule = PolicyRule.parse({ decision: 'allow', kind: 'untrusted', tool: 'github.create' });
    expect(await door({ scope: { rules: [rule] } }).call('create', {})).toMatchObject({ ran: true });
  });

  it("gets the same verdict in a dry run, on the tool's own arguments", async () => {
    const { deps } = door();
    const directory = (rules: PolicyRule[]) =>
      ({
        toolset: async () => ({ pointer: {}, names: buildAliasMap(edition, { aliases: true }) }),
        rules: async () => rules,
      }) as unknown as Directory;
    const noMarks = { read: async () => null, add: async () => undefined, known: () => null };
    const verdict = async (
      name: string,
      args: Record<string, unknown>,
      caller: Record<string, string> = { team: 'payments' },
      call = deps,
    ) => {
      const principal = { workspace: 'default', keyId: 'k1', scopes: ['tools' as const], caller };
      return await dryRunCall({ call, directory: directory([]), aliases: true, marks: () => noMarks }, principal, {
        toolset: 'test',
        name,
        arguments: args,
      });
    };
    expect(await verdict('get_workflow', { id: '7' })).toMatchObject({ valid: true, verdict: 'allow' });
    expect(await verdict('create', {})).toMatchObject({ valid: true, verdict: 'ask' });
    expect(await verdict('get_workflow', { id: '7' }, {})).toMatchObject({ valid: false, verdict: 'deny', issues: [{ path: '' }] });
    expect(await verdict('get_workflow', { id: 7 })).toMatchObject({ valid: false, issues: [{ path: 'id' }] });
    const repaired = [{ path: 'per_page', from: '"5"', to: '5' }];
    expect(await verdict('get_workflow', { id: '7', per_page: '5' })).toMatchObject({ valid: true, verdict: 'allow', repaired });
    const held = { ...deps, server: async () => ({ ...access, held: ['create'] }) };
    expect(await verdict('create', {}, {}, held)).toMatchObject({ verdict: 'tool_held' });
  });
});

describe('a result', () => {
  it('is reduced to the picked fields, says where nothing matches, and is stored in full', async () => {
    const whole = { name: 'build', steps: Array.from({ length: 50 }, (_, index) => index) };
    const { call, kept } = door({ answer: () => textResult(JSON.stringify(whole)) });
    const { result, text } = await call('get_job', { resource_id: '7' });
    expect(result?.structuredContent).toEqual({ '/name': 'build' });
    expect(text).toContain('Not in this result: "/nothing". To read the whole result: fetch_result {"callId":"call_1","offset":0}');
    expect(contentText(kept.get('call_1') ?? [])).toBe(JSON.stringify(whole));
  });

  it("is truncated at the entry's bytes, and can be fetched from there", async () => {
    const { call, kept } = door({ answer: () => textResult('y'.repeat(400)) });
    const { text } = await call('brief', { method: 'get_job', resource_id: '7' });
    expect(text).toContain('To read the rest: fetch_result {"callId":"call_1","offset":256}');
    expect(contentText(kept.get('call_1') ?? [])).toHaveLength(400);
  });

  it('is not truncated if it is an error of this service', async () => {
    const { text } = await door().call(
      'brief',
      Object.fromEntries(Array.from({ length: 15 }, (_, index) => [`unknown_argument_${index}`, 1])),
    );
    expect(text).toContain('unknown_argument_14');
    expect(text).not.toContain('[Cut');
  });
});

describe('a deprecated name', () => {
  it.each(['workflow_get', 'Workflow-Get', 'functions.workflowGet'])('adds its notice once, in any spelling: %s', async (name) => {
    const { text } = await door().call(name, { id: '7' });
    expect(text?.split('\n')).toEqual(['done', '[The name workflow_get is deprecated: use get_workflow.]']);
  });

  it('names the replacement where it has no note, after a long result and with structured content only', async () => {
    const long = door({ answer: () => textResult('x'.repeat(100_000)) });
    expect((await long.call('OldGet', { id: '7' })).text?.endsWith('\n[The name old_get is deprecated: use get_workflow.]')).toBe(true);
    const structured = door({ answer: () => ({ isError: false, content: [], structuredContent: { a: 1 } }) });
    expect((await structured.call('old_get', { id: '7' })).result).toEqual({
      isError: false,
      structuredContent: { a: 1 },
      content: [{ type: 'text', text: '[The name old_get is deprecated: use get_workflow.]' }],
    });
  });

  it('is not matched by spellings of the other names', async () => {
    for (const name of ['get_workflow', 'GetWorkflow', 'gh-workflow'])
      expect((await door().call(name, { id: '7' })).text, name).toBe('done');
  });
});

describe('the server of a tool', () => {
  it('holds a tool whatever the edition says, before anything is asked', async () => {
    const { call, ran } = door({ server: async () => ({ ...access, held: ['create'] }) });
    expect(await call('create', {})).toMatchObject({ ran: false, result: { code: 'tool_held' } });
    expect(await call('create_freely', {})).toMatchObject({ ran: false, result: { code: 'tool_held' } });
    expect(await call('get_job', { resource_id: '7' })).toMatchObject({ ran: true });
    expect(ran).toHaveLength(1);
  });

  it('refuses a tool that its server no longer lists, which an earlier version of a toolset still has', async () => {
    const { call, ran } = door({ server: async () => ({ ...access, ready: ['actions_get'] }) });
    const { ran: isRun, result } = await call('create_freely', {});
    expect([isRun, result]).toMatchObject([false, { isError: true, code: 'tool_error' }]);
    expect(JSON.stringify(result)).toContain('no longer lists it');
    expect(await call('get_job', { resource_id: '7' })).toMatchObject({ ran: true });
    expect(ran).toHaveLength(1);
  });

  it('that has never listed a tool is reported as not read yet, with a hint where to look', async () => {
    const { edition: early } = await compile({ tools: [{ tool: 'sleepy.deploy' }] }, knownTools([], ['sleepy']));
    const { call, ran } = door({ scope: { names: () => buildAliasMap(early, { aliases: true }) } });
    const { result, text } = await call('deploy', {});
    expect(result).toMatchObject({ isError: true, code: 'tool_error' });
    expect(text).toMatch(/^deploy cannot be called: its server "sleepy" has listed no tools yet; GET \/v1\/servers\/sleepy shows/);
    expect(text).not.toContain('no longer lists');
    expect(ran).toEqual([]);
  });

  it('that lost its trust is not trusted, whatever the edition says', async () => {
    const trusting = { ...edition, tools: edition.tools.map((tool) => ({ ...tool, trusted: true as const })) };
    const scope = { names: () => buildAliasMap(trusting, { aliases: true }) };
    expect(await door({ scope }).call('create', {})).toMatchObject({ ran: true });
    const { deps, call, ran } = door({ scope, server: async () => ({ ...access, trusted: false }) });
    expect(await call('create', {})).toMatchObject({ waitFor: { ask: { kind: 'untrusted' } } });
    // Its annotations no longer make the tool safe to retry.
    deps.executor.isSafe = ({ trusted }) => trusted === true;
    expect(await call('create_freely', {}, { interrupted: true })).toMatchObject({ result: { code: 'outcome_unknown' } });
    expect(ran).toEqual([]);
  });

  it('may be removed, which is reported with the canonical name', async () => {
    const { call } = door({ server: () => Promise.reject(new Problem('not_found', 'There is no server "github".')) });
    const { result, text } = await call('create_freely', {});
    expect(result?.code).toBe('tool_error');
    expect(text).toContain('create_freely (github.create) cannot be called: its server "github" was removed');
  });

  it('is not looked up for built-in tools', async () => {
    const { edition: plain } = await compile({ tools: [{ tool: 'builtin.bash', aliases: [] }] }, known);
    const names = buildAliasMap(plain, { aliases: true });
    const { call } = door({ server: () => Promise.reject(new Error('asked')), scope: { names: () => names } });
    expect(await call('bash', {})).toMatchObject({ ran: true });
  });
});
