/**
 * Earlier master keys of the installation, sealed under the current one and published by the Catalog of the first workspace. They decrypt
 * nothing and sign nothing: API keys that were created under them stay valid, and the oldest one names sessions that are created with a key
 * (`session-client.ts`). Read only for these, so that requests do not wait for it; an isolate reads them seldom, since a new master key comes
 * with a new isolate.
 */
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/problem.ts';
import type { Clock } from '../../ports/runtime.ts';
import { createMasterKey, type MasterKey } from './master-key.ts';
import { openValue, sealValue } from './secret-box.ts';

const ttlMs = 10 * 60_000;

export type RetiredKeys = {
  /** Oldest first, with the previous key of the settings. */
  texts(): Promise<readonly string[]>;
  keys(): Promise<readonly MasterKey[]>;
};

/** `read`: returns the sealed list; null if there is none. */
export function createRetiredKeys(parts: {
  master: MasterKey;
  previousMasterKey: string | null;
  clock: Clock;
  read(): Promise<string | null>;
}): RetiredKeys {
  let known: { texts: readonly string[]; keys: readonly MasterKey[]; until: number } | null = null;
  const load = async () => {
    const sealed = await parts.read();
    const stored = sealed === null ? [] : await openRetiredKeys(parts.master, sealed);
    const texts = withRetired(stored, parts.previousMasterKey);
    return { texts, keys: texts.map((text) => createMasterKey(text)), until: parts.clock.now() + ttlMs };
  };
  let failedUntil = 0;
  const current = async () => {
    if (known !== null && known.until > parts.clock.now()) return known;
    // Keys that are not valid must not cause a read each, also while the storage fails.
    if (failedUntil > parts.clock.now()) throw new Problem('unavailable', 'The key cannot be checked at the moment. Try again.');
    try {
      known = await load();
      return known;
    } catch (error) {
      failedUntil = parts.clock.now() + limits.missTtlMs;
      throw error;
    }
  };
  return { texts: async () => (await current()).texts, keys: async () => (await current()).keys };
}

/** Returns the list with a key that is not in it yet. */
export function withRetired(texts: readonly string[], previous: string | null): readonly string[] {
  return previous === null || texts.includes(previous) ? texts : [...texts, previous];
}

export async function openRetiredKeys(master: MasterKey, sealed: string): Promise<string[]> {
  // Written by `sealRetiredKeys`.
  return JSON.parse(await openValue(master, place, sealed)) as string[];
}

export async function sealRetiredKeys(master: MasterKey, texts: readonly string[]): Promise<string> {
  return await sealValue(master, place, JSON.stringify(texts));
}

/** One list for the installation. No workspace has an empty name. */
const place = { workspace: '', kind: 'retired-keys', name: '' } as const;
