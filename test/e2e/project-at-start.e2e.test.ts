/** A project file with a server that is a command of this machine is applied when the service starts. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { placeholder } from '../../src/core/project/expand-variables.ts';
import { eventually } from './eventually.ts';
import { makeDataDir, removeDataDir, root, type RunningService, startService } from './service.ts';

const folder = makeDataDir();
const file = join(folder, 'moniker.yaml');
let service: RunningService;

beforeAll(async () => {
  writeFileSync(
    file,
    `
secrets:
  FAKE_TOKEN:
    value: ${placeholder('FAKE_TOKEN')}
servers:
  fake:
    kind: mcp
    command: ${process.execPath}
    args: [${join(root, 'test/local/stdio/fake-server.mjs')}]
    env: { FAKE_TOKEN: { secret: FAKE_TOKEN } }
    trusted: true
toolsets:
  local:
    tools:
      - { tool: fake.*, except: [echo] }
      - { tool: fake.echo, aliases: [say] }
agents:
  helper: { model: '${placeholder('HELPER_MODEL:-rehearsal/default')}', toolset: local }
`,
  );
  service = await startService(folder, { MONIKER_PROJECT: file, FAKE_TOKEN: 'value-of-the-token' });
});
afterAll(async () => {
  await service.stop();
  removeDataDir(folder);
});

it('lists the tools of the command, and writes the toolset that names them', async () => {
  await eventually('the project is applied', () => (service.printed().includes('moniker.yaml is applied: 4 created') ? true : undefined));
  const { json } = await service.call('POST', '/v1/toolsets/local/calls', { name: 'say', arguments: { n: 1 } });
  expect(json.content?.[0]?.text).toContain('{"n":1}');
  expect((await service.call('GET', '/v1/agents/helper')).json.model).toBe('rehearsal/default');
  const project = (await service.call('GET', '/v1/projects')).json.items[0];
  expect(project.documents.map(({ name, state }: { name: string; state: string }) => `${name} ${state}`).toSorted()).toEqual([
    'agents.helper current',
    'secrets.FAKE_TOKEN current',
    'servers.fake current',
    'toolsets.local current',
  ]);
});

it('changes nothing at the next start, and reports a file that cannot be applied', async () => {
  await service.stop();
  service = await startService(folder, { MONIKER_PROJECT: file, FAKE_TOKEN: 'value-of-the-token' });
  await eventually('the project is applied again', () => (service.printed().includes('applied: 4 unchanged') ? true : undefined));
  await service.stop();
  service = await startService(folder, { MONIKER_PROJECT: file });
  await eventually('the fault is printed', () => (service.printed().includes('secrets.FAKE_TOKEN.value') ? true : undefined));
  expect(service.printed()).toContain('the environment variable FAKE_TOKEN is not set');
  expect((await service.call('GET', '/v1/agents/helper')).status).toBe(200);
});
