/** MCP clients as users run them: the SDK's client in each era mode, and the Inspector's command line. */
import { Client, StreamableHTTPClientTransport, type ClientOptions } from '@modelcontextprotocol/client';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './service.ts';

/** How a client chooses the era: 2025 without negotiation, negotiated with the server, 2026-07-28 only. */
export const clientEras = { legacy: 'legacy', auto: 'auto', pinned: { pin: '2026-07-28' } } as const;
export type ClientEra = keyof typeof clientEras;

/** As long as the service takes to start again on a busy machine. */
const reconnectionOptions = {
  initialReconnectionDelay: 200,
  maxReconnectionDelay: 1_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 60,
};

/** `prepare` registers handlers before the client connects. `origin`: the service's, which has another port after a restart. */
export async function connectClient(
  url: string,
  key: string | null,
  era: ClientEra,
  capabilities: ClientOptions['capabilities'] = {},
  prepare: (client: Client) => void = () => {},
  more: Record<string, string> = {},
  origin: () => string = () => url,
): Promise<Client> {
  const client = new Client({ name: 'moniker-tests', version: '1.0.0' }, { capabilities, versionNegotiation: { mode: clientEras[era] } });
  prepare(client);
  const headers: Record<string, string> = { ...(key !== null && { authorization: `Bearer ${key}` }), ...more };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), {
      ...{ requestInit: { headers }, reconnectionOptions },
      fetch: (to, init) => fetch(new URL(new URL(to).pathname + new URL(to).search, origin()), init),
    }),
  );
  return client;
}

/** The text blocks of a result, one a line. */
export function textOf(result: { content: readonly { type: string }[] }): string {
  return result.content.flatMap((block) => ('text' in block ? [String(block.text)] : [])).join('\n');
}

const inspector = join(root, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
const inspectorTimeoutMs = 90_000;

export type InspectorRun = { code: number; json: unknown; stderr: string };

/** Runs `mcp-inspector --cli <url> --transport http …` in a separate home folder and returns its output. */
export async function runInspector(url: string, key: string, args: readonly string[]): Promise<InspectorRun> {
  const home = mkdtempSync(join(tmpdir(), 'moniker-inspector-'));
  const command = [inspector, '--cli', url, '--transport', 'http', '--format', 'json', '--quiet', ...args];
  try {
    return await new Promise((resolve) => {
      execFile(
        process.execPath,
        [...command, '--header', `Authorization: Bearer ${key}`],
        { env: { ...process.env, HOME: home }, timeout: inspectorTimeoutMs },
        (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code ?? 1), json: parse(stdout), stderr }),
      );
    });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The output is not JSON: the error shows the text.
    return text;
  }
}
