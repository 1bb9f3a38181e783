/**
 * Requests to `/mcp/{toolset}` as bytes on keep-alive connections, without a client that parses the responses: a call of a local tool, one of
 * a tool of an MCP server, and a list of a thousand tools, of which each request returns one of two pages; in the current revision and in a
 * session of 2025-11-25.
 */
import { type Verdict, verdictLine } from './goals.ts';
import { load, type LoadResult, median, prepare, type Prepared } from './load.ts';
import { measure } from './process-usage.ts';
import type { Servers } from './servers.ts';

const modern = '2026-07-28';
const sessionRevision = '2025-11-25';
const accept = 'application/json, text/event-stream';
const client = { name: 'bench', version: '1.0.0' };

/** `toolset`: with `local`, and with `upstream` and at least a page of other tools. */
export type McpWork = { toolset: string; local: { name: string; arguments: object }; upstream: { name: string; arguments: object } };

export async function measureRequests(servers: Servers, work: McpWork, effort: { rounds: number; ms: number }): Promise<void> {
  console.log(
    `\nRequests on keep-alive connections, medians of ${effort.rounds} rounds of ${effort.ms} ms. CPU is that of the service's processes.\n`,
  );
  const verdicts: Verdict[] = [];
  console.log('| revision | request | at once | p50 ms | p99 ms | CPU µs | requests/s |');
  console.log(`|${'---|'.repeat(7)}`);
  for (const revision of ['modern', 'session'] as const)
    for (const request of ['local', 'upstream', 'list'] as const)
      for (const connections of [1, 16]) {
        const requests = await requestsOf(servers, work, revision, request, connections);
        await load(requests, { connections, ms: effort.ms, sse: false });
        const rounds: (LoadResult & { cpuUs: number })[] = [];
        for (let round = 0; round < effort.rounds; round++) {
          const before = measure(servers.ours.pid).cpuMs;
          const result = await load(requests, { connections, ms: effort.ms, sse: false });
          if (result.bad + result.errors > 0 || result.answers === 0)
            throw new Error(`${revision} ${request}: ${result.bad} refused, ${result.errors} broken`);
          rounds.push({ ...result, cpuUs: ((measure(servers.ours.pid).cpuMs - before) * 1_000) / result.answers });
        }
        const of = (field: 'p50' | 'p99' | 'cpuUs' | 'requestsPerSecond', digits = 0): string =>
          median(rounds.map((round) => round[field])).toFixed(digits);
        console.log(
          `| ${revision} | ${request} | ${connections} | ${of('p50', 2)} | ${of('p99', 2)} | ${of('cpuUs')} | ${of('requestsPerSecond')} |`,
        );
        if (revision === 'modern' && connections === 1) verdicts.push(verdictOn(request, Number(of('p50', 2))));
      }
  console.log(`\n${verdicts.map(verdictLine).join('\n')}`);
}

/** The modern revision, one request after the other. A list of all tools takes a request for each of its pages. */
const goals = {
  local: { what: 'a call of a local tool', requests: 1, mostMs: 1 },
  upstream: { what: 'a call of a tool of an MCP server', requests: 1, mostMs: 1.6 },
  list: { what: 'a list of 1000 tools, in two requests,', requests: 2, mostMs: 1 },
};

function verdictOn(request: keyof typeof goals, p50: number): Verdict {
  const { what, requests, mostMs } = goals[request];
  const ms = requests * p50;
  return { text: `${what} takes ${ms.toFixed(2)} ms p50 (at most ${mostMs})`, holds: ms <= mostMs, required: false };
}

/** Each connection has a separate session, in which ids are not repeated while a request is in flight. */
async function requestsOf(
  { ours, key }: Servers,
  { toolset, local, upstream }: McpWork,
  revision: 'modern' | 'session',
  request: 'local' | 'upstream' | 'list',
  connections: number,
): Promise<Prepared[]> {
  const url = `${ours.url}/mcp/${toolset}`;
  const authorization = `Bearer ${key}`;
  const method = request === 'list' ? 'tools/list' : 'tools/call';
  const params = request === 'list' ? null : request === 'local' ? local : upstream;
  const send = async (headers: Record<string, string>, body: object): Promise<Response> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization, accept, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method}: ${response.status} ${await response.text()}`);
    return response;
  };
  if (revision === 'session') {
    const prepared: Prepared[] = [];
    const initialize = { protocolVersion: sessionRevision, capabilities: {}, clientInfo: client };
    for (let index = 0; index < connections; index++) {
      const begun = await send({}, { jsonrpc: '2.0', id: 'start', method: 'initialize', params: initialize });
      await begun.text();
      const headers = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': sessionRevision };
      await (await send(headers, { jsonrpc: '2.0', method: 'notifications/initialized' })).text();
      prepared.push(
        ...[0, 1, 2, 3].map((id) =>
          prepare(url, { headers: { authorization, accept, ...headers }, body: { jsonrpc: '2.0', id, method, params: params ?? {} } }),
        ),
      );
    }
    // Requests are taken in turn: neighbors are of different sessions.
    return [0, 1, 2, 3].flatMap((id) => prepared.filter((_, index) => index % 4 === id));
  }
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': modern,
    'io.modelcontextprotocol/clientInfo': client,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const name: Record<string, string> = params === null ? {} : { 'mcp-name': params.name };
  const headers = { accept, 'mcp-protocol-version': modern, 'mcp-method': method, ...name };
  const message = (more: object) => ({ jsonrpc: '2.0', id: 1, method, params: { ...params, ...more, _meta } });
  if (request !== 'list') return [prepare(url, { headers: { authorization, ...headers }, body: message({}) })];
  const { result } = (await (await send(headers, message({}))).json()) as { result: { tools: unknown[]; nextCursor?: string } };
  const pages = [{}, ...(result.nextCursor === undefined ? [] : [{ cursor: result.nextCursor }])];
  return pages.map((page) => prepare(url, { headers: { authorization, ...headers }, body: message(page) }));
}
