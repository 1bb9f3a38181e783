/** Starts the guard of `guard.mjs`, makes three calls that it decides on, and removes it again. */
import { randomBytes } from 'node:crypto';
import { call, put } from '../lib/moniker.mjs';
import { startGuard } from './guard.mjs';

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const guard = await startGuard(secret);
const shell = async (command) => {
  const { code, content } = await call('POST', '/v1/toolsets/guarded/calls', { name: 'bash', arguments: { command } });
  console.log(
    `${command}: ${code === undefined ? '' : `${code}: `}${content
      .map(({ text }) => text)
      .join(' ')
      .trim()}`,
  );
};

try {
  await put('/v1/secrets/GUARD_SECRET', { value: secret, hosts: [new URL(guard.url).host] });
  await put('/v1/toolsets/guarded', { tools: [{ tool: 'builtin.bash', aliases: [] }] });
  await call('PATCH', '/v1/workspaces/default', {
    settings: { guard: { url: guard.url, secret: 'GUARD_SECRET', before: true, after: true, toolsets: ['guarded'] } },
  });
  await shell('rm -rf .');
  await shell('date +%Z');
  await shell('echo ORDER-1234 is paid');
} finally {
  await call('PATCH', '/v1/workspaces/default', { settings: { guard: null } });
  guard.close();
}
