/** An open event stream ends soon after the DELETE of its key, over real HTTP, although a turn of the session still writes events. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeDataDir, removeDataDir, startService, type RunningService } from './service.ts';

let dataDir = '';
let service: RunningService;

beforeAll(async () => {
  dataDir = makeDataDir();
  service = await startService(dataDir);
});
afterAll(async () => {
  await service.stop();
  removeDataDir(dataDir);
});

it('ends the stream with an error event', async () => {
  const created = await service.call('POST', '/v1/keys', { name: 'leaked', scopes: ['chat'] });
  const headers = { authorization: `Bearer ${created.json.key}` };
  const session = (await service.call('POST', '/v1/sessions', { model: 'rehearsal/default' }, headers)).json.id;
  const say = (text: string) => service.call('POST', `/v1/sessions/${session}/turns`, { input: text });
  await say('before');
  const answer = await fetch(`${service.url}/v1/sessions/${session}/events?after=0`, { headers });
  let text = '';
  const reading = (async () => {
    for await (const chunk of (answer.body ?? new Blob([]).stream()).pipeThrough(new TextDecoderStream())) text += chunk;
  })();
  expect((await service.call('DELETE', `/v1/keys/${created.json.id}`)).status).toBe(204);
  const revokedAt = Date.now();
  const talking = setInterval(() => void say('still here'), 2_000);
  await reading.finally(() => clearInterval(talking));
  console.log(`the stream ended ${Date.now() - revokedAt} ms after the key was revoked`);
  expect(text).toContain('"text":"before"');
  expect(text).toMatch(/event: error\ndata: .*"code":"unauthenticated".*\n\n$/);
});
