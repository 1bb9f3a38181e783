/** Runs an MCP server of standard input and output behind Streamable HTTP on loopback: one process for each session. */
import { type JSONRPCMessage, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { listenUpstream } from '../fakes/upstreams/upstream.ts';

export type StdioServer = { url: string; stop(): Promise<void> };

type Session = { transport: WebStandardStreamableHTTPServerTransport; child: ChildProcessByStdio<Writable, Readable, null> };

export async function listenStdioServer(
  script: string,
  args: readonly string[] = [],
  environment: Record<string, string> = {},
): Promise<StdioServer> {
  const sessions = new Map<string, Session>();
  const begin = async (): Promise<Session> => {
    const id = randomUUID();
    const env = { PATH: process.env.PATH ?? '', ...environment };
    const child = spawn(process.execPath, [script, ...args], { env, stdio: ['pipe', 'pipe', 'ignore'] });
    const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => id });
    const session = { transport, child };
    sessions.set(id, session);
    transport.onmessage = (message) => void child.stdin.write(`${JSON.stringify(message)}\n`);
    // A message that nobody waits for any more cannot be delivered.
    createInterface(child.stdout).on('line', (line) => {
      const message = JSON.parse(line) as JSONRPCMessage;
      transport.send(message).catch(() => {});
    });
    await transport.start();
    return session;
  };
  const { url, close } = await listenUpstream({
    async handle(request) {
      const id = request.headers.get('mcp-session-id');
      const session = id === null ? await begin() : sessions.get(id);
      return session?.transport.handleRequest(request) ?? new Response('no such session', { status: 404 });
    },
  });
  return {
    url: `${url}/mcp`,
    async stop() {
      const ended = [...sessions.values()].map(async ({ transport, child }) => {
        const over = child.exitCode === null ? new Promise((resolve) => child.once('close', resolve)) : null;
        child.kill('SIGKILL');
        await Promise.all([over, transport.close()]);
      });
      await Promise.all(ended);
      close();
    },
  };
}
