/**
 * The HTTP surface over the real catalog of a new workspace, as of a local service with a launcher, whose bridge starts nothing; requires the
 * Workers runtime.
 */
import { type HostReport, hostReportPath } from '../../src/core/host-report.ts';
import { runInDurableObject } from 'cloudflare:test';
import { clockPath, launcherHeader, runHeader } from '../../src/core/servers/stdio.ts';
import { createApp } from '../../src/http/app.ts';
import type { DocumentKind } from '../../src/ports/catalog.ts';
import { createWiring } from '../../src/wiring/create-wiring.ts';
import { changeEnv, emptyWorkspace, testEnv } from '../storage/workspace.ts';
import { bodyOf } from './harness.ts';

const token = 'token-of-the-launcher';
/** The proof that a request comes from this machine. */
export const proof = { [launcherHeader]: token };

export async function createLauncherService() {
  /** The runs that the bridge was sent, as JSON. */
  const runs: string[] = [];
  const report: HostReport = { disk: { freeBytes: null, totalBytes: null, fault: null }, files: null, stopping: 'no' };
  const bridge = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === hostReportPath) return Response.json(report);
    // Its clock is right.
    if (pathname === clockPath) return Response.json(null);
    runs.push(decodeURIComponent(request.headers.get(runHeader) ?? ''));
    return Response.json({ error: 'is not started in this test.' }, { status: 502 });
  };
  const launcher = { MONIKER_LAUNCHER_TOKEN: token, MONIKER_STDIO_URL: 'http://127.0.0.1:9/' };
  const local = { ...testEnv, ...launcher, PRIVATE_NETWORK: { fetch: bridge } as unknown as Fetcher };
  const wiring = createWiring(local, { background: (work) => void work });
  const app = createApp(() => wiring);
  const { object, workspace } = await emptyWorkspace();
  await changeEnv(object, launcher);
  const sendAs = async (
    key: Record<string, string>,
    [method, path, body, headers = {}]: [method: string, path: string, body?: unknown, headers?: Record<string, string>],
  ): Promise<Response> => {
    const all = new Headers({ ...key, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers });
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    return await app.request(path, { method, headers: all, ...(text !== undefined && { body: text }) }, local);
  };
  const root = { authorization: `Bearer ${testEnv.MONIKER_ROOT_KEY}`, 'x-moniker-workspace': workspace };
  const created = await sendAs(root, ['POST', '/v1/keys', { name: 'administrator', scopes: ['admin'] }]);
  const admin = { authorization: `Bearer ${(await bodyOf(created)).key}` };
  return {
    runs,
    root,
    workspace,
    /** Sends a request with an API key of the scope `admin`, unless other headers are given. */
    send: (...request: Parameters<typeof sendAs>[1]): Promise<Response> => sendAs(admin, request),
    /** The document as stored, whatever GET shows; null: it does not exist. */
    stored: async (kind: DocumentKind, name: string): Promise<{ body: string; sealed: string | null } | null> =>
      await runInDurableObject(object, (_instance, { storage }) => {
        const query = 'SELECT body, sealed FROM documents WHERE kind = ? AND name = ? AND deleted = 0';
        return storage.sql.exec<{ body: string; sealed: string | null }>(query, kind, name).toArray()[0] ?? null;
      }),
  };
}
