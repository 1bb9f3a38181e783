/** Many sessions of one program. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { StdioRun } from '../../../src/core/servers/stdio.ts';
import { programEnvironment } from '../../../src/local/stdio/program-environment.ts';
import { maxSessions, type RpcMessage } from '../../../src/local/stdio/bridge-sessions.ts';
import { SharedServer } from '../../../src/local/stdio/shared-server.ts';

const run: StdioRun = {
  ...{ workspace: 'w', server: 'fake', version: 1, command: process.execPath, env: {}, capabilities: {}, roots: [], hidden: [] },
  ...{ args: [join(import.meta.dirname, 'fake-server.mjs')], instances: 'shared' },
};

it('A new session ends the one that was unused for longest, and none with a call in progress or an open stream', async () => {
  const server = new SharedServer(run, programEnvironment(process.env, tmpdir()), { onLog: () => undefined, onExit: () => undefined });
  await server.start();
  const open = () => server.openSession({}, { owner: null, conversation: 'c' }).session;
  const received: RpcMessage[] = [];
  const stream = { send: (message: RpcMessage) => received.push(message) > 0, end: () => undefined };
  const [busy, watched, unused, used] = [open(), open(), open(), open()];
  server.request(busy, { id: 1, method: 'tools/call', params: { name: 'hang' } }, stream);
  watched.streams.add({ send: () => true, end: () => undefined });
  server.request(used, { id: 2, method: 'tools/list' }, stream);
  await expect.poll(() => received.length).toBe(1);
  while (server.sessions.size < maxSessions) open();
  const isOpen = (session: { id: string }) => server.sessions.has(session.id);
  expect([busy, watched, unused, used].map(isOpen)).toEqual([true, true, true, true]);
  open();
  expect([busy, watched, unused, used].map(isOpen)).toEqual([true, true, false, true]);
  for (let count = 0; count < maxSessions - 10; count += 1) open();
  expect([busy, watched, used].map(isOpen)).toEqual([true, true, false]);
  expect(server.sessions.size).toBe(maxSessions);
  expect(received).toHaveLength(1);
  await server.end();
});
