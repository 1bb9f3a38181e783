import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { ApiClient } from '../../src/local/api-client.ts';
import { prepareDemo } from '../../src/local/demo.ts';

/** A service that has these documents, by path, and makes any session. */
function service(documents: Record<string, unknown>): ApiClient {
  const some = { items: [{}] };
  const api = {
    get: async () => some,
    find: async (path: string) => documents[path] ?? null,
    put: async () => undefined,
    post: async () => ({ id: 'made' }),
  };
  // Generic by what is asked for, as the real one: its answers are not checked.
  return { url: '', rootKey: '', ...api } as unknown as ApiClient;
}

const folders = mkdtempSync(join(tmpdir(), 'moniker-demo-'));
afterAll(() => rmSync(folders, { recursive: true }));
const folder = (): string => mkdtempSync(join(folders, 'data-'));

it('there is a session to paste a turn to while the demo agent and its toolset are there', async () => {
  const whole = { '/v1/agents/demo': { toolset: 'demo' }, '/v1/toolsets/demo': {} };
  expect(await prepareDemo(service(whole), folder())).toBe('made');
  expect(await prepareDemo(service({ '/v1/agents/demo': {} }), folder())).toBe('made');
});

it('there is none when the agent is gone, or its toolset: the turn would only fail', async () => {
  expect(await prepareDemo(service({ '/v1/toolsets/demo': {} }), folder())).toBeNull();
  expect(await prepareDemo(service({ '/v1/agents/demo': { toolset: 'demo' } }), folder())).toBeNull();
});
