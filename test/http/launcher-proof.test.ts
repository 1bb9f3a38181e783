import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { readSettings } from '../../src/core/people/settings.ts';
import { launcherHeader } from '../../src/core/servers/stdio.ts';
import type { AppEnv } from '../../src/http/middleware/request-context.ts';
import { commandPermission } from '../../src/http/launcher-proof.ts';

const local = { MONIKER_LAUNCHER_TOKEN: 'token-of-the-launcher', MONIKER_STDIO_URL: 'http://127.0.0.1:1/' };

async function isPermitted(variables: Record<string, string>, token?: string): Promise<boolean> {
  const app = new Hono<AppEnv>().get('/', (c) => c.json(commandPermission(c, readSettings(variables)).mayRunCommands === true));
  const response = await app.request('/', { headers: token === undefined ? {} : { [launcherHeader]: token } });
  return (await response.json()) === true;
}

it('permits servers with a command with the token of the launcher, or where the operator allows it, and never when deployed', async () => {
  expect(await isPermitted(local, 'token-of-the-launcher')).toBe(true);
  for (const token of [undefined, '', 'token-of-the-launcheR', 'token']) expect(await isPermitted(local, token)).toBe(false);
  expect(await isPermitted({ ...local, MONIKER_ALLOW_STDIO: 'api' })).toBe(true);
  for (const value of ['on', 'true', 'API']) expect(await isPermitted({ ...local, MONIKER_ALLOW_STDIO: value })).toBe(false);
  expect(await isPermitted({ MONIKER_ALLOW_STDIO: 'api', MONIKER_LAUNCHER_TOKEN: 'token' }, 'token')).toBe(false);
});
