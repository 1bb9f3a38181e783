/** A new machine with the file of an MCP client: an import before the first start, then calls by the stock MCP client. */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, expect, it } from 'vitest';
import { makeDataDir, removeDataDir, root, startService } from './service.ts';

const dataDir = makeDataDir();
afterAll(() => removeDataDir(dataDir));

const memory = join(root, 'node_modules/@modelcontextprotocol/server-memory/dist/index.js');

it('imports before the first start, leaves nothing running, and has the tools when it starts', async () => {
  const file = join(dataDir, 'claude_desktop_config.json');
  const env = { MEMORY_FILE_PATH: join(dataDir, 'memory.json') };
  const servers = { 'Memory Store': { command: process.execPath, args: [memory], env, autoApprove: ['read_graph'] } };
  writeFileSync(file, JSON.stringify({ mcpServers: { ...servers, gone: { command: 'no-such-command' } } }));
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'src/cli/main.ts'), 'import', file], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, MONIKER_DATA_DIR: dataDir, OLLAMA_HOST: '127.0.0.1:9' },
    encoding: 'utf8',
    timeout: 120_000,
  });
  expect([status, stdout, stderr]).toEqual([0, expect.stringContaining('+ toolsets.claude'), expect.stringContaining('no-such-command')]);
  expect([existsSync(join(dataDir, 'launcher')), existsSync(join(dataDir, 'lock'))]).toEqual([false, false]);
  const service = await startService(dataDir);
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${service.key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${service.url}/mcp/claude`), { requestInit }));
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('read_graph');
  const result = await client.callTool({ name: 'read_graph', arguments: {} });
  expect([result.isError ?? false, JSON.stringify(result.content)]).toEqual([false, expect.stringContaining('entities')]);
  await client.close();
  await service.stop();
});
