/** The API keys of an edge handler: a fixed list, which may have any form. The root key comes from the environment. */
import * as z from 'zod';
import { sha256Hex } from '../core/hash.ts';
import { limits } from '../core/limits/limits.ts';
import { KeyRequest, type Principal, rootKeyId } from '../core/people/principal.ts';
import { invalidRequest, Problem, quoted, parseInput } from '../core/problem.ts';
import type { KeyRecord } from '../core/people/key-view.ts';
import type { KeyRights } from '../ports/catalog.ts';
import type { KeyVerdict } from '../objects/catalog/client/catalog-methods.ts';
import { rootPrincipal } from '../storage/published/principals.ts';
import { edgeWorkspace } from './toolset-editions.ts';

const maxKeys = 1_000;
const minKeyLength = 32;

/** `key`: the text that a client sends, at least 32 random characters. */
const EdgeKey = KeyRequest.omit({ limits: true }).extend({ key: z.string().min(minKeyLength).max(limits.maxKeyBytes) });
export type EdgeKey = z.input<typeof EdgeKey>;

export type EdgeKeys = {
  issued(hash: string): KeyVerdict | null;
  rights(id: string): KeyRights | null;
  /** Throws `not_found`. */
  record(id: string): KeyRecord;
  records(): KeyRecord[];
};

const neverRotated = { rotatedAt: null, previousExpiresAt: null, previousUsedAt: null } as const;

type Known = { principal: Principal; expiresAt: number | null; record: KeyRecord | null };

/** Throws `invalid_request`. The id of a key is derived from its hash, so that it stays the same wherever the handler runs. */
export async function createEdgeKeys(given: unknown, now: () => number): Promise<EdgeKeys> {
  const keys = parseInput(z.object({ keys: z.array(EdgeKey).max(maxKeys) }), { keys: given ?? [] }).keys;
  const byHash = new Map<string, Known>();
  const byId = new Map<string, Known>([[rootKeyId, { principal: rootPrincipal, expiresAt: null, record: null }]]);
  for (const [index, { key, name, expiresAt, ...rights }] of keys.entries()) {
    const hash = await sha256Hex(key);
    if (byHash.has(hash)) throw invalidRequest([{ path: `keys[${index}].key`, message: 'is listed twice' }]);
    const principal = { ...rights, workspace: edgeWorkspace, keyId: `edge${hash.slice(0, 12)}` };
    const times = {
      createdAt: new Date(now()).toISOString(),
      expiresAt: expiresAt ?? null,
      revokedAt: null,
      lastUsedAt: null,
      ...neverRotated,
    };
    const record = { ...rights, id: principal.keyId, name, ...times };
    const known = { principal, record, expiresAt: times.expiresAt === null ? null : Date.parse(times.expiresAt) };
    byHash.set(hash, known);
    byId.set(principal.keyId, known);
  }
  const active = (known: Known | undefined): Principal | null =>
    known === undefined || (known.expiresAt !== null && known.expiresAt <= now()) ? null : known.principal;
  return {
    issued(hash) {
      const known = byHash.get(hash);
      if (known === undefined) return null;
      const principal = active(known);
      return principal === null ? { refused: 'expired' } : { principal, expiresAt: known.expiresAt };
    },
    rights: (id) => active(byId.get(id)),
    record(id) {
      const record = byId.get(id)?.record ?? null;
      if (record === null) throw new Problem('not_found', `The key ${quoted(id)} does not exist.`);
      return record;
    },
    records: () => [...byId.values()].flatMap(({ record }) => record ?? []).sort((a, b) => (a.id < b.id ? -1 : 1)),
  };
}
