/** MCP clients as users have them: the SDK's, in each way of finding the era, and the Inspector's command line. */
import { Client, StreamableHTTPClientTransport, type ClientOptions } from '@modelcontextprotocol/client';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './service.ts';

/** How a client finds the era: 2025 without asking, what the server speaks, 2026-07-28 or nothing. */
export const clientEras = { legacy: 'legacy', auto: 'auto', pinned: { pin: '2026-07-28' } } as const;
export type ClientEra = keyof typeof clientEras;

/** `prepare`: handlers that must be there before it connects. */
export async function connectClient(
  url: string,
  key: string | null,
  era: ClientEra,
  capabilities: ClientOptions['capabilities'] = {},
  prepare: (client: Client) => void = () => {},
): Promise<Client> {
  const client = new Client({ name: 'moniker-tests', version: '1.0.0' }, { capabilities, versionNegotiation: { mode: clientEras[era] } });
  prepare(client);
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return client;
}

/** The text blocks of a result, a line each. */
export function textOf(result: { content: readonly { type: string }[] }): string {
  return result.content.flatMap((block) => ('text' in block ? [String(block.text)] : [])).join('\n');
}

const inspector = join(root, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
const inspectorTimeoutMs = 30_000;

export type InspectorRun = { code: number; json: unknown; stderr: string };

/** `mcp-inspector --cli <url> --transport http …` in a home of its own, and what it printed. */
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
    // What it printed is no answer: the test shows the text.
    return text;
  }
}
