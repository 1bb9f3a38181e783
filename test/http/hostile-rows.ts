/**
 * Hostile names, definitions and changes of definitions: each is sent over HTTP and compared with the verdict of the core
 * (`core/toolset/edition.ts`, `core/listing/listing.ts`); stored documents are read and sent back unchanged. Uses no Node APIs, so that the
 * same rows run with the in-memory and the real catalog.
 */
import { expect } from 'vitest';
import type { NameConflict } from '../../src/core/toolset/name-claims.ts';
import { readListing, type ListedDefinition } from '../../src/core/listing/listing.ts';
import { parseAlias, parseWireName } from '../../src/core/names/names.ts';
import { Problem } from '../../src/core/problem.ts';
import type { ServerTool } from '../../src/core/servers/server-tool.ts';
import type { ToolDefinition } from '../../src/core/tools/tool.ts';
import { listingOf, type MetadataRow, verdicts } from '../core/listing-cases.ts';
import { compile, knownTools } from '../fakes/known-tools.ts';
import { mayBeRefused } from '../unread-refusals.ts';
import { pages } from '../contracts/catalog/workspace.ts';
import { bodyOf } from './harness.ts';
import { printStatistics } from '../statistics.ts';

export type Send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Response>;
export type NameRow = { id: string; name: string; expect: 'accept' | 'reject' | 'either' | 'warn' };
type AliasRow = { canonical: string; server?: string; alias?: string | null };
export type AliasSet = { id: string; tools?: AliasRow[]; generate?: { tools: number }; expect: string };
type Listed = Record<string, unknown> & { name: string };
export type PinCase = { id: string; first: Listed; second?: Listed; sequence?: string[]; expect: string };

/** Counts for a table: `exceptions` name rows with another verdict, and the reason. */
export type Count = { rows: number; asExpected: number; exceptions: string[] };

export function createCount(): Count {
  return { rows: 0, asExpected: 0, exceptions: [] };
}

export function tally(count: Count, id: string, reason: string | undefined): void {
  count.rows += 1;
  if (reason === undefined) count.asExpected += 1;
  else count.exceptions.push(`${id}: ${reason}`);
}

export function printCount(title: string, { rows, asExpected, exceptions }: Count): void {
  printStatistics(
    `${title}: ${rows} rows, ${asExpected} as expected, ${exceptions.length} otherwise${exceptions.map((line) => `\n  ${line}`)}`,
  );
}

export const url = 'https://tools.example.com/call';
const object = { type: 'object' };

export function serverOf(tools: readonly unknown[], more: Record<string, unknown> = {}): Record<string, unknown> {
  return { kind: 'static', updates: 'review', url, tools, ...more };
}

export function plainTool(name: string): Listed {
  return { name, description: `Does ${name}.`, inputSchema: object };
}

/** All tools of the workspace, as the compiler receives them. */
async function known(send: Send) {
  const tools = await pages<ToolDefinition>(async ({ cursor }) => {
    const answer = await send('GET', `/v1/tools?limit=200${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
    return await bodyOf(answer);
  }, 200);
  return knownTools(tools);
}

type Verdict = { status: number; etag: string | null; body: Record<string, unknown> };

/** Writes it, and expects the compiler's verdict with the same tools; after a rejection the stored document is unchanged. */
export async function putToolset(send: Send, name: string, document: Record<string, unknown>): Promise<Verdict> {
  const before = await send('GET', `/v1/toolsets/${name}`);
  const text = before.status === 200 ? await before.text() : null;
  const compiled = await compile(document, await known(send)).catch((error: unknown) => error);
  const answer = await send('PUT', `/v1/toolsets/${name}`, document);
  const verdict = { status: answer.status, etag: answer.headers.get('etag'), body: await bodyOf(answer) };
  if (compiled instanceof Problem) {
    const { code, issues, conflicts } = compiled.toBody();
    expect(verdict.body).toMatchObject({ code, ...(issues !== undefined && { issues }), ...(conflicts !== undefined && { conflicts }) });
    const after = await send('GET', `/v1/toolsets/${name}`);
    expect([after.headers.get('etag'), after.status === 200 ? await after.text() : null]).toEqual([before.headers.get('etag'), text]);
    return verdict;
  }
  if (compiled instanceof Error) throw compiled;
  const { warnings } = compiled as { warnings: string[] };
  expect([200, 201]).toContain(verdict.status);
  expect((verdict.body.warnings as { path: string; message: string }[]).map(({ path, message }) => `${path}: ${message}`)).toEqual(
    warnings,
  );
  await putBack(send, `/v1/toolsets/${name}`, verdict.body.warnings);
  return verdict;
}

/** The output of GET can be sent back, with the same warnings and without a new version. */
export async function putBack(send: Send, path: string, warnings?: unknown): Promise<void> {
  const read = await send('GET', path);
  const text = await read.text();
  expect(read.status).toBe(200);
  const again = await send('PUT', path, text);
  const answer = await bodyOf(again);
  expect([path, again.status, again.headers.get('etag'), answer.issues]).toEqual([path, 200, read.headers.get('etag'), undefined]);
  if (warnings !== undefined) expect(answer.warnings).toEqual(warnings);
  expect(await (await send('GET', path)).text()).toBe(text);
}

/** Rows for which the rule for aliases (trim first; start with a letter) has another verdict. */
const namesOtherwise = new Map<string, { verdict: NameRow['expect']; reason: string }>([
  ['valid-015', { verdict: 'reject', reason: 'a given name may begin with "_", an alias may not' }],
  ['shape-035', { verdict: 'accept', reason: 'white space around an alias is trimmed' }],
  ['shape-036', { verdict: 'accept', reason: 'white space around an alias is trimmed' }],
  ['shape-039', { verdict: 'accept', reason: 'white space around an alias is trimmed, so that no line feed is left' }],
]);

/** Setup for the rows of names: a server `s` with `a_tool`, and toolsets that no row changes. */
export async function prepareNames(send: Send): Promise<void> {
  expect((await send('PUT', '/v1/servers/s', serverOf([plainTool('a_tool')]))).status).toBe(201);
  for (const name of ['aliased', 'named', 'inheriting'])
    expect((await send('PUT', `/v1/toolsets/${name}`, { tools: [{ tool: 's.a_tool' }] })).status).toBe(201);
}

export async function clearNames(send: Send): Promise<void> {
  for (const path of ['tools/s.a_tool/aliases', 'toolsets/aliased', 'toolsets/named', 'toolsets/inheriting', 'servers/s'])
    expect((await send('DELETE', `/v1/${path}`)).status).toBe(204);
}

export async function checkName(send: Send, { id, name, expect: row }: NameRow, count: Count): Promise<void> {
  const otherwise = namesOtherwise.get(id);
  const verdict = otherwise?.verdict ?? row;
  const isStored = verdict === 'accept' || verdict === 'warn';

  const aliased = await putToolset(send, 'aliased', { tools: [{ tool: 's.a_tool', aliases: [name] }] });
  expect([id, aliased.status]).toEqual([id, isStored ? 200 : 422]);
  const named = await putToolset(send, 'named', { tools: [{ tool: 's.a_tool', name }] });
  expect([id, named.status]).toEqual([id, parseWireName(name).ok ? 200 : 422]);

  const path = '/v1/tools/s.a_tool/aliases';
  const before = await send('GET', path);
  const defaults = await send('PUT', path, { aliases: [name] });
  const parsed = parseAlias(name);
  if (parsed.ok) {
    expect([id, isStored]).toEqual([id, true]);
    expect(await bodyOf(await send('GET', path))).toEqual({ aliases: [parsed.alias] });
    await putBack(send, path);
    const resolved = await bodyOf(await send('GET', `/v1/toolsets/inheriting/resolve?name=${parsed.alias}`));
    // A stored toolset keeps its wire names; its new default alias resolves.
    expect(resolved).toMatchObject({ canonical: 's.a_tool', wireName: 'a_tool' });
  } else {
    expect([id, isStored, defaults.status]).toEqual([id, false, 422]);
    expect((await bodyOf(defaults)).issues).toEqual([{ path: 'aliases[0]', message: parsed.reason }]);
    expect((await send('GET', path)).headers.get('etag')).toBe(before.headers.get('etag'));
  }

  await checkListing(send, [{ ...plainTool('x'), name }]);
  tally(count, id, otherwise?.reason);
}

/** A new server with these tools and a valid one: each is accepted, held or skipped as the core decides, and the valid one remains. */
export async function checkListing(send: Send, tools: readonly Record<string, unknown>[]): Promise<ListedDefinition[]> {
  const all = [plainTool('beside_it'), ...tools];
  const read = readListing(all);
  const answer = await send('PUT', '/v1/servers/listed', serverOf(all));
  expect(answer.status).toBe(201);
  const made = await bodyOf(answer);
  const offered = read.filter(({ verdict }) => verdict !== 'refuse');
  expect([made.toolCount, made.held]).toEqual([offered.length, read.filter(({ verdict }) => verdict === 'hold').length]);
  const shown: ServerTool[] = (await bodyOf(await send('GET', '/v1/servers/listed'))).tools;
  for (const { name, path, verdict, findings, definition } of read) {
    const isDoubled = findings.some(({ finding }) => finding === 'duplicate-name');
    const tool = isDoubled ? undefined : shown.find((candidate) => candidate.name === name);
    // A tool whose name cannot be shown is only in the warnings of the response.
    if (verdict === 'refuse' && tool === undefined) {
      expect(made.warnings.map((warning: { path: string }) => warning.path).join()).toContain(path);
      continue;
    }
    expect([name, tool?.state]).toEqual([name, { offer: 'ready', hold: 'held', refuse: 'refused' }[verdict]]);
    expect((tool?.findings ?? []).map(({ finding }) => finding)).toEqual(findings.map(({ finding }) => finding));
    if (definition !== null) expect(tool).toMatchObject({ description: definition.description, inputSchema: definition.inputSchema });
  }
  await putBack(send, '/v1/servers/listed');
  expect((await send('DELETE', '/v1/servers/listed')).status).toBe(204);
  return read;
}

/** Sets with another verdict than their row. */
const setsOtherwise = new Map([
  ['separator-collision', 'warn there: names that differ in separators only are refused, with a name that is free'],
  ['namespace-ambiguity', 'the server a__b has no legal name, and names are never joined by "__"'],
]);

/** `off`: the same workspace with aliases disabled; absent: not available here. */
export async function checkAliasSet(send: Send, set: AliasSet, count: Count, off?: Send): Promise<void> {
  const rows: Required<AliasRow>[] = (
    set.tools ??
    Array.from({ length: set.generate?.tools ?? 0 }, (_, index): AliasRow => ({ canonical: `s.tool_${index}`, alias: `alias-${index}` }))
  ).map(({ canonical, server, alias = null }) => {
    const [first = '', ...rest] = canonical.split('.');
    return server === undefined ? { server: first, canonical: rest.join('.'), alias } : { server, canonical, alias };
  });
  const servers = new Map<string, string[]>();
  for (const { server, canonical } of rows) servers.set(server, [...(servers.get(server) ?? []), canonical]);
  const refusedServers: string[] = [];
  for (const [server, names] of servers) {
    const { status } = await send('PUT', `/v1/servers/${server}`, serverOf(names.map(plainTool)));
    if (status === 422) refusedServers.push(server);
    else expect([set.id, server, status]).toEqual([set.id, server, 201]);
  }
  const tools = rows.map(({ server, canonical, alias }) => ({ tool: `${server}.${canonical}`, aliases: alias === null ? [] : [alias] }));
  const resolve = async (name: string, by: Send = send) => {
    const answer = await by('GET', `/v1/toolsets/set/resolve?name=${encodeURIComponent(name)}`);
    return { status: answer.status, ...(await bodyOf(answer)) };
  };

  const answer = await putToolset(send, 'set', { tools });
  switch (set.id) {
    case 'dup-alias':
    case 'alias-shadows-other-canonical':
    case 'alias-swap':
    case 'alias-chain':
    case 'separator-collision': {
      expect([set.id, answer.status, answer.body.code]).toEqual([set.id, 409, 'name_conflict']);
      const turned = await putToolset(send, 'set', { tools: tools.toReversed() });
      // The claims have the positions of the entries.
      const withoutClaims = (all: NameConflict[]) => all.map(({ claims: _claims, ...conflict }) => conflict);
      expect([turned.status, turned.body.detail]).toEqual([409, answer.body.detail]);
      expect(withoutClaims(turned.body.conflicts as NameConflict[])).toEqual(withoutClaims(answer.body.conflicts as NameConflict[]));
      // With every suggestion applied, it compiles.
      const conflicts = answer.body.conflicts as NameConflict[];
      const settled = tools.map(({ tool, aliases }) => {
        const mine = conflicts.filter(({ tools: [, mover] }) => mover === tool);
        const proposed = (alias: string): string => mine.find(({ name }) => name === alias)?.suggestion ?? alias;
        const own = mine.find(({ name }) => !aliases.includes(name));
        return { tool, aliases: aliases.map(proposed), ...(own !== undefined && { name: own.suggestion }) };
      });
      expect([set.id, (await putToolset(send, 'set', { tools: settled })).status]).toEqual([set.id, 201]);
      break;
    }
    case 'case-fold-collision':
      expect([answer.status, answer.body.issues]).toMatchObject([422, [{ path: 'tools[1].aliases[0]' }]]);
      break;
    case 'namespace-ambiguity':
      expect([refusedServers, answer.status, answer.body.issues]).toMatchObject([['a__b'], 422, [{ path: 'tools[1].tool' }]]);
      break;
    case 'alias-equals-own-canonical':
    case 'same-tool-two-servers-no-alias':
    case 'truncation-collision':
    case 'five-hundred-tools': {
      expect([set.id, answer.status]).toEqual([set.id, 201]);
      const sent = await bodyOf(await send('GET', '/v1/toolsets/set/tools'));
      const rows: { canonical: string; wireName: string }[] = sent.tools;
      const own = rows.filter(({ canonical }) => tools.some(({ tool }) => tool === canonical));
      expect([own.length, new Set(own.map(({ wireName }) => wireName)).size]).toEqual([tools.length, tools.length]);
      for (const { tool, aliases } of [...tools.slice(0, 5), ...tools.slice(-5)])
        for (const name of [tool, ...aliases]) expect(await resolve(name)).toMatchObject({ status: 200, canonical: tool });
      break;
    }
    case 'server-listed-later-takes-alias':
      await send('PUT', '/v1/servers/late', serverOf([plainTool('deploy')]));
      expect(await resolve('deploy')).toMatchObject({ status: 200, canonical: 'trusted.x' });
      expect((await putToolset(send, 'set', { tools })).body.warnings).toMatchObject([{ message: expect.stringContaining('late.deploy') }]);
      servers.set('late', []);
      break;
    case 'alias-to-removed-tool': {
      await send('PUT', '/v1/servers/a', serverOf([plainTool('other')]));
      await send('PUT', '/v1/servers/b', serverOf([plainTool('x')]));
      servers.set('b', []);
      expect(await resolve('yy')).toMatchObject({ status: 200, canonical: 'a.x', state: 'missing' });
      const called = await bodyOf(await send('POST', '/v1/toolsets/set/calls', { name: 'yy', arguments: {} }));
      expect(called).toMatchObject({ canonical: 'a.x', isError: true, content: [{ text: expect.stringContaining('a.x') }] });
      break;
    }
    case 'alias-disabled-flag':
      expect(answer.status).toBe(201);
      if (off === undefined) break;
      expect(await resolve('a.x', off)).toMatchObject({ status: 200, via: 'canonical' });
      expect(await resolve('yy', off)).toMatchObject({ status: 404, code: 'unknown_tool' });
      break;
    default:
      expect.fail(`an unknown set ${set.id}`);
  }
  tally(count, set.id, setsOtherwise.get(set.id));

  await mayBeRefused(send('DELETE', '/v1/toolsets/set'));
  for (const server of servers.keys()) await mayBeRefused(send('DELETE', `/v1/servers/${server}`));
}

/** Invalid in any body, so a listing with it is never parsed. */
const refusedBodies = new Map([
  ['proto-schema', { status: 422, path: 'tools[0].inputSchema.properties.__proto__', reason: 'a key __proto__ is refused in every body' }],
  ['schema-deep', { status: 400, path: undefined, reason: 'no body may nest so deep; a listing that is fetched drops the tool' }],
]);

export async function checkMetadata(send: Send, row: MetadataRow, count: Count): Promise<void> {
  const listing = listingOf(row);
  const refused = refusedBodies.get(row.id);
  if (refused === undefined) {
    const read = await checkListing(send, listing);
    expect([row.id, read.at(-1)?.verdict]).toEqual([row.id, verdicts[row.expect.action]]);
  } else {
    const answer = await send('PUT', '/v1/servers/listed', serverOf(listing));
    expect([row.id, answer.status]).toEqual([row.id, refused.status]);
    if (refused.path !== undefined) expect((await bodyOf(answer)).issues[0].path).toBe(refused.path);
    expect((await send('GET', '/v1/servers/listed')).status).toBe(404);
  }
  tally(count, row.id, refused?.reason);
}

export async function checkPin(send: Send, { id, first, second, sequence, expect: wanted }: PinCase, count: Count): Promise<void> {
  // An empty list is not a valid listing, so another tool is always added.
  const list = async (...tools: Listed[]) => {
    const answer = await send('PUT', '/v1/servers/facts', serverOf([{ ...first, name: 'another', description: id }, ...tools]));
    expect([id, answer.ok]).toEqual([id, true]);
    await putBack(send, '/v1/servers/facts');
  };
  const tool = async (name = 'get_fact') => await bodyOf(await send('GET', `/v1/servers/facts/tools/${name}`));
  const compiled = async () => (await bodyOf(await send('GET', '/v1/toolsets/daily/tools'))).tools[0];
  const changed = { ...first, description: `${String(first.description)} Changed.` };
  const steps = new Map([
    ['list', [first]],
    ['empty', []],
    ['changed', [changed]],
  ]);
  await list(first);
  expect((await send('PUT', '/v1/toolsets/daily', { tools: [{ tool: 'facts.get_fact' }] })).status).toBe(201);
  const seen: string[] = [];
  for (const step of sequence ?? []) {
    await list(...(steps.get(step) ?? expect.fail(`the step ${step}`)));
    seen.push((await tool()).state);
  }
  if (sequence === undefined && wanted !== 'held') await list(second ?? changed);
  else if (sequence === undefined && second !== undefined) await list(second);

  let reason: string | undefined;
  const { state, held } = await tool();
  const called = async () => await bodyOf(await send('POST', '/v1/toolsets/daily/calls', { name: 'get_fact', arguments: {} }));
  switch (wanted) {
    case 'same-pin':
      expect([id, state, (await compiled()).state]).toEqual([id, 'ready', 'ready']);
      break;
    case 'held':
      if (sequence === undefined && second === undefined) {
        reason = 'of MCP: a static server has no identity beside its name and URL';
        break;
      }
      expect([id, state, held.changes.length > 0, (await compiled()).state]).toEqual([id, 'held', true, 'held']);
      expect(await called()).toMatchObject({ isError: true, code: 'tool_held', canonical: 'facts.get_fact' });
      break;
    case 'held-every-time':
      expect([id, seen]).toEqual([id, ['ready', 'held', 'ready', 'held']]);
      break;
    case 'new-tool-held':
      expect([id, state, (await tool(second?.name)).state]).toEqual([id, 'missing', 'held']);
      expect((await tool()).renamedTo).toBe(`facts.${second?.name}`);
      break;
    case 'call-refused-or-call-uses-pinned-schema':
      expect(await called()).toMatchObject({ isError: true, code: 'tool_held' });
      expect((await tool()).inputSchema).toEqual(first.inputSchema);
      break;
    default:
      expect.fail(`${id} wants ${wanted}`);
  }
  tally(count, id, reason);
  await send('DELETE', '/v1/toolsets/daily');
  await send('DELETE', '/v1/servers/facts');
}
